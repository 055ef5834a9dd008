import pytest
from tokenised import as_written, cases, lines, tokenised


@pytest.mark.parametrize("case", cases("cuda"))
def test_a_log_gives_exactly_the_events_of_its_fixture(case):
    log = lines(case["log"])
    assert as_written(tokenised(case["log"]), log) == case["events"]
