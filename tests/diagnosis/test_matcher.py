import time

import pytest

from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.pipeline import scan_text
from nccl_logscan.rulebook.load import builtin_rulebook

HEAD = "n1:10:11 [0] "


def ids(result: ScanResult) -> list[str]:
    return [finding.rule.id for finding in result.findings]


def warn(text: str, head: str = HEAD) -> str:
    return f"{head}a.cc:1 NCCL WARN {text}\n"


def info(text: str, head: str = HEAD) -> str:
    return f"{head}NCCL INFO {text}\n"


def test_repeats_fold_into_one_finding_with_a_count(scan, rules):
    book = rules(boom="{event: nccl.warn, wordings: [{message: 'boom (?P<what>\\w+)'}]}")
    result = scan(warn("boom one") * 7, book)
    [finding] = result.findings
    assert (finding.count, len(finding.samples)) == (7, 1)
    assert finding.last.at.line == 7


def test_same_failure_keeps_two_failures_of_a_rule_apart(scan, rules):
    book = rules(boom=("{event: nccl.warn, wordings: [{message: 'boom (?P<what>\\w+)'}]}", "same_failure: [what]"))
    result = scan(warn("boom one") + warn("boom two") + warn("boom one"), book)
    assert [(finding.key, finding.count) for finding in result.findings] == [(("one",), 2), (("two",), 1)]


def test_a_storm_of_different_failures_is_bounded_and_said(scan, rules):
    book = rules(boom=("{event: nccl.warn, wordings: [{message: 'boom (?P<what>\\w+)'}]}", "same_failure: [what]"))
    result = scan("".join(warn(f"boom x{number}") for number in range(500)), book)
    assert len(result.findings) == 65
    assert sum(finding.count for finding in result.findings) == 500
    assert any("more different failures" in note for note in result.notes)


def test_unless_takes_a_match_back(scan, rules):
    book = rules(boom="{event: nccl.warn, wordings: [{message: boom}], unless: ['boom, ignoring']}")
    assert ids(scan(warn("boom"), book)) == ["user_code/boom"]
    assert ids(scan(warn("boom, ignoring"), book)) == []


def test_a_fallback_speaks_only_where_no_other_rule_does(scan, rules):
    book = rules(
        special="{event: nccl.warn, wordings: [{message: boom}]}",
        anything="{event: nccl.warn, fallback: true}",
    )
    result = scan(warn("boom") + warn("crash"), book)
    assert [(finding.rule.id, finding.first.at.line) for finding in result.findings] == [
        ("user_code/special", 1),
        ("user_code/anything", 2),
    ]


@pytest.mark.parametrize(
    ("where", "fires"),
    [
        ("{code: 3}", True),
        ("{code: {in: [1, 3]}}", True),
        ("{code: 4}", False),
        ("{code: {at_least: 3}}", True),
        ("{code: {at_most: 2}}", False),
        ("{site.file: a.cc}", True),
    ],
)
def test_where_asks_typed_fields(scan, rules, where, fires):
    book = rules(trail=f"{{event: nccl.trail, where: {where}}}")
    assert bool(scan(info("a.cc:12 -> 3"), book).findings) is fires


def near(order: str, same: str = "any") -> str:
    condition = f"{{event: nccl.info, message: hint, within_lines: 3, same: {same}, order: {order}}}"
    return f"{{event: nccl.warn, wordings: [{{message: boom}}], near: {condition}}}"


@pytest.mark.parametrize(
    ("order", "log", "fires"),
    [
        ("before", info("hint") + warn("boom"), True),
        ("before", warn("boom") + info("hint"), False),
        ("after", warn("boom") + info("hint"), True),
        ("after", info("hint") + warn("boom"), False),
        ("either", warn("boom") + info("hint"), True),
        ("either", info("hint") + warn("boom"), True),
        ("either", warn("boom") + info("x") * 4 + info("hint"), False),
        ("before", info("hint") + info("x") * 4 + warn("boom"), False),
        ("after", warn("boom"), False),
    ],
)
def test_near_asks_for_a_second_event_close_by(scan, rules, order, log, fires):
    result = scan(log, rules(boom=near(order)))

    assert bool(result.findings) is fires
    assert [group.sample for group in result.unclaimed] == ([] if fires else ["boom"])


def test_what_waits_in_vain_for_one_rule_is_claimed_by_another(scan, rules):
    book = rules(boom=near("after"), plain=("{event: nccl.warn, wordings: [{message: boom}]}", "strength: 30"))

    assert scan(warn("boom"), book).unclaimed == ()


def test_near_can_ask_for_the_same_process(scan, rules):
    other = "n2:20:21 [0] "
    book = rules(boom=near("before", same="process"))
    assert scan(info("hint", other) + warn("boom"), book).findings == ()
    assert len(scan(info("hint") + warn("boom"), book).findings) == 1


def test_a_line_that_was_seen_before_still_counts_as_near(scan, rules):
    """Lines of one text are only counted from the second on; that must not hide them from conditions."""
    book = rules(boom=near("after"))
    log = warn("boom") + info("hint") + info("x") * 5
    [finding] = scan(log * 3, book).findings
    assert finding.count == 3


@pytest.mark.parametrize(
    ("log", "fires"),
    [
        (warn("boom") + info("fine again"), False),
        (warn("boom") + info("x") * 9 + info("fine again"), True),
        (warn("boom"), True),
    ],
)
def test_not_followed_by_waits_and_decides(scan, rules, log, fires):
    condition = "{event: nccl.info, message: fine, within_lines: 5}"
    book = rules(boom=f"{{event: nccl.warn, wordings: [{{message: boom}}], not_followed_by: {condition}}}")
    assert bool(scan(log, book).findings) is fires


def test_a_finding_that_waited_keeps_the_lines_around_its_own_line(scan, rules):
    condition = "{event: nccl.info, message: fine, within_lines: 5}"
    book = rules(boom=f"{{event: nccl.warn, wordings: [{{message: boom}}], not_followed_by: {condition}}}")
    log = info("one") + info("two") + warn("boom") + "".join(info(f"later {number}") for number in range(9))
    [finding] = scan(log, book).findings
    assert [line[-3:] for line in finding.first.before] == ["one", "two"]
    assert finding.first.after[0].endswith("later 0")


def test_evidence_marks_the_matched_columns(scan, rules):
    book = rules(boom="{event: nccl.warn, wordings: [{message: 'bo+m'}]}")
    [finding] = scan(warn("a booom here"), book).findings
    first = finding.first
    assert first.highlight is not None
    assert first.text[first.highlight.start : first.highlight.end] == "booom"


def test_the_last_line_of_a_storm_is_its_own(scan, rules):
    book = rules(boom="{event: nccl.warn, wordings: [{message: boom}]}")
    stamped = "[2026-11-30 10:0{minute}:00] " + HEAD
    early, late = (warn("boom", stamped.format(minute=minute)) for minute in (0, 5))
    [finding] = scan(early * 3 + late * 3, book).findings
    assert (finding.count, finding.last.at.line) == (6, 6)
    assert finding.last.when is not None
    assert finding.last.when.value.minute == 5


def test_evidence_of_a_line_that_was_held_back_has_its_own_neighbours(scan):
    """A bare number and a colon is a doubtful prefix: lines wait until their source has shown whether it is one."""
    held = "0: one\nn1:10:11 [0] a.cc:1 NCCL WARN Cuda failure 2 'out of memory'\n" + "".join(
        f"line {number}\n" for number in range(100)
    )
    finding = next(found for found in scan(held).findings if found.rule.id.startswith("gpu_oom/"))
    assert finding.first.text.endswith("'out of memory'")
    assert (finding.first.before, finding.first.after[0]) == (("0: one",), "line 0")


def test_a_condition_on_the_same_process_costs_no_look_at_all_others():
    lines = [
        f"node{n % 2000}:{n}:{n} [0] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer "
        f"10.{n % 250}.{n // 250}.7<{n}> with status=12 opcode=0 len=0 vendor err 129 (Recv)"
        for n in range(4000)
    ]
    started = time.process_time()
    scan_text("\n".join(lines), builtin_rulebook())
    assert time.process_time() - started < 8
