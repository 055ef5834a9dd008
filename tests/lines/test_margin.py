from __future__ import annotations

import io

import pytest
from cases import ALL, BY_NAME

from nccl_logscan import scan
from nccl_logscan.lines import Peeler
from nccl_logscan.lines.margin import LINES, margin_of
from nccl_logscan.position import NOBODY, Position
from nccl_logscan.sources.raw import RawLine

BODY = [
    "Traceback (most recent call last):",
    '  File "train.py", line 3, in <module>',
    "    main()",
    "",
    "RuntimeError: NCCL error",
    "node-1:12:13 [2] NCCL INFO Bootstrap : Using eth0",
    "3: a label or a word",
]

MARGINS = {
    "indented": "    {line}",
    "indented by a tab": "\t{line}",
    "quoted": "> {line}",
    "quoted twice": ">> {line}",
    "cat -n": "{number:6}\t{line}",
    "less -N": "{number:7} {line}",
    "a column": "{number} | {line}",
    "grep -n": "{number}:{line}",
    "grep of files": "logs/rank0.log:{line}",
    "grep -n of files": "./logs/rank0.log:{number}:{line}",
}


def peeled(texts):
    peeler = Peeler(may_be_pasted=True)
    raws = [RawLine(Position("a.log", number, 0), text) for number, text in enumerate(texts, 1)]
    return [line for raw in raws for line in peeler.peel(raw)] + list(peeler.finish())


def told(lines):
    return [(line.at.line, line.text, line.origin) for line in lines]


@pytest.mark.parametrize("margin", MARGINS.values(), ids=MARGINS)
@pytest.mark.parametrize("times", [1, 2, 40])
def test_a_margin_comes_off_every_line_and_nothing_else_does(margin, times):
    body = BODY * times
    pasted = [margin.format(number=number, line=line) for number, line in enumerate(body, 1)]

    assert told(peeled(pasted)) == told(peeled(body))
    assert told(peeled(body))[:2] == [(1, BODY[0], NOBODY), (2, BODY[1], NOBODY)]


def test_lines_around_those_that_grep_found_have_the_same_margin():
    pasted = [f"{number}{':' if number % 4 else '-'}{line}" for number, line in enumerate(BODY, 1)] + ["--", "90:again"]

    assert [line.text for line in peeled(pasted)] == [*(line.text for line in peeled(BODY)), "--", "again"]


@pytest.mark.parametrize(
    "lines",
    [
        [f"{rank}: hello" for rank in range(LINES)],
        [f"{rank}: " for rank in range(LINES)],
        [f"2026-11-30 05:40:{second:02} step" for second in range(LINES)],
        [f"12:00:{second:02} step" for second in range(LINES)],
        [f"{hour:02}:00:00 step" for hour in range(LINES)],
        ['  File "train.py", line 3, in <module>', "    main()"] * 8,
        ["  time      : 2026-11-30_05:41:56", "  rank      : 1 (local_rank: 1)", "  exitcode  : -6", "  host : a"],
        ["    raise RuntimeError('NCCL error')"] * LINES,
        [f"{step} {step * 0.1:.3f}" for step in (10, 20, 30, 40, 50, 60)],
        [f"train.py:{number}: UserWarning" for number in range(LINES)],
        ["  a", "  b", "c", "  d", "  e"],
        ["> a", "> b", "c", "> d", "> e"],
        ["  a", "  b", "  c"],
        [],
    ],
)
def test_what_only_looks_like_a_margin_stays(lines):
    assert margin_of(lines) is None


def test_lines_that_begin_otherwise_later_stay_whole():
    lines = peeled(["  [rank0]: a"] * LINES + ["b", "   c"])

    assert [line.text for line in lines[-2:]] == ["b", " c"]


def test_a_source_that_is_no_paste_keeps_its_indentation():
    peeler = Peeler()
    lines = [line for number in range(20) for line in peeler.peel(RawLine(Position("a", number, 0), "  a"))]

    assert {line.text for line in lines} == {"  a"}


@pytest.mark.parametrize("margin", MARGINS.values(), ids=MARGINS)
def test_a_pasted_log_has_the_verdict_of_the_log(tmp_path, margin):
    small = [case for case in ALL if len(case.inputs) == 1 and case.texts() and case.inputs[0].stat().st_size < 20_000]
    for case in small[::25]:
        [(name, text)] = case.texts().items()
        lines = [margin.format(number=number, line=line) for number, line in enumerate(text.split("\n"), 1)]
        pasted = tmp_path / name.replace("/", "-")
        pasted.write_text("\n".join(lines), "utf-8")
        there, here = scan([case.inputs[0]]).diagnosis, scan([pasted]).diagnosis

        assert (here.category, here.culprit.rank) == (there.category, there.culprit.rank), case.name


@pytest.mark.parametrize("name", ["lab/abort", "lab/sigkill", "lab/m8-raise-rank6", "recorder/fr-cpp-stack"])
def test_the_end_of_a_log_that_begins_within_a_traceback_or_a_table_keeps_its_indentation(name):
    lines = BY_NAME[name].texts()["driver.log"].split("\n")
    begins = [at for at, _ in enumerate(lines) if all(line[:2] == "  " for line in lines[at : at + LINES])]

    assert begins
    for at in begins:
        whole, indented = "\n".join(lines[at:]), "\n".join(["first", *lines[at:]])
        there, here = (scan(["-"], stdin=io.BytesIO(text.encode())).diagnosis for text in (indented, whole))
        assert (here.category, here.culprit.rank, here.headline) == (there.category, there.culprit.rank, there.headline)


def test_a_paste_to_standard_input_has_the_verdict_of_the_log():
    text = BY_NAME["lab/bad-ordinal"].texts()["driver.log"]
    pasted = "\n".join(f"> {line}" for line in text.split("\n")).encode()

    there = scan([BY_NAME["lab/bad-ordinal"].inputs[0]]).diagnosis
    assert scan(["-"], stdin=io.BytesIO(pasted)).diagnosis.culprit.rank == there.culprit.rank == 1
