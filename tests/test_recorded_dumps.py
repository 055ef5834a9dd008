"""What the program makes of recorded dumps alone, beside what PyTorch's own analyser made of them."""

from __future__ import annotations

import re

import pytest
from cases import ALL, CASES

from nccl_logscan import scan

ANALYSER = CASES / "recorder" / "torch-analyser.md"
_DUMP = re.compile(r"fr_\d+$")


def dumps_of(case):
    return [path for path in case.inputs if _DUMP.search(path.name)]


def named_by_the_analyser():
    """Cases of which PyTorch's analyser named the labelled culprit from the whole set: name → rank."""
    named = {}
    for line in ANALYSER.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 6 and cells[2].isdigit() and cells[6].startswith("yes"):
            named[cells[0]] = int(cells[2])
    return named


NAMED = named_by_the_analyser()
WITH_DUMPS = {case.folder.name: case for case in ALL if dumps_of(case)}


def test_the_analyser_named_many():
    assert len(NAMED) > 25
    assert NAMED.keys() <= WITH_DUMPS.keys()


@pytest.mark.parametrize("name", NAMED)
def test_whom_pytorchs_analyser_names_the_dumps_alone_name_here(name):
    assert scan(dumps_of(WITH_DUMPS[name])).diagnosis.culprit.rank == NAMED[name]


@pytest.mark.parametrize("name", WITH_DUMPS)
def test_dumps_alone_accuse_nobody_else(name):
    case = WITH_DUMPS[name]
    assert scan(dumps_of(case)).diagnosis.culprit.rank in {case.label.get("culprit_rank"), None}


LATE = [name for name in NAMED if WITH_DUMPS[name].label["category"] == "collective_timeout"]


@pytest.mark.parametrize("name", LATE)
def test_without_a_victims_dump_the_rest_still_name_the_late_rank(name):
    case = WITH_DUMPS[name]
    dumps = dumps_of(case)
    victims = [path for path in dumps if not path.name.endswith(f"_{NAMED[name]}")]
    if len(victims) < 2:
        pytest.skip("a job of two ranks has but one victim")
    without = [path for path in dumps if path != victims[-1]]
    assert scan(without).diagnosis.culprit.rank == NAMED[name]


@pytest.mark.parametrize("name", LATE)
def test_without_the_late_ranks_dump_nobody_else_is_accused(name):
    case = WITH_DUMPS[name]
    without = [path for path in dumps_of(case) if not path.name.endswith(f"_{NAMED[name]}")]
    assert scan(without).diagnosis.culprit.rank in {NAMED[name], None}
