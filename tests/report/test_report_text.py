from __future__ import annotations

import dataclasses
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from nccl_logscan.report.plain import PlainText
from nccl_logscan.report.text import plain_text, render_text
from nccl_logscan.report.view import build_view
from nccl_logscan.report.visible import sentence


def shown(result, *, terminal=False, width=80, env=None, **options) -> str:
    console = Console(
        file=io.StringIO(), force_terminal=terminal, width=width, _environ=env or {"TERM": "xterm-256color"}
    )
    render_text(build_view(result), console, **options)
    return console.file.getvalue()


def test_the_verdict_comes_first_with_category_and_confidence(sample_result):
    first, second, *_ = shown(sample_result).splitlines()
    assert first.split() == ["FAILED", "infiniband", "established,", "93%", "infiniband/retry-exceeded"]
    assert second.strip().startswith("Rank 11 on node-17 could not reach 10.0.0.24<40211> through mlx5_3")


def test_it_says_where_why_with_what_evidence_and_what_to_do(sample_result):
    text = shown(sample_result, written_to=["reports/train-7431.html"])
    for part in (
        "rank 11 · host node-17 · GPU 3 · adapter mlx5_3",
        "The completion error came 600 seconds before",
        "logs/train-7431.log:41877  node-17:2311:2401 [3]",
        "1. Look at link state and error counters on both ends. (cluster-admin)",
        "$ sbatch --exclude=node-17 train.sbatch",
        "Raise the PyTorch time-out. The link stays broken",
        "Which of the two ends lost the packets",
        "Report    reports/train-7431.html",
    ):
        assert part in text


@pytest.mark.parametrize("width", [40, 80, 120, 200])
@pytest.mark.parametrize("name", ["sample_result", "hostile_result", "unknown_result", "healthy_result"])
def test_a_terminal_gets_at_most_24_lines_of_its_width(name, width, request):
    text = shown(request.getfixturevalue(name), terminal=True, width=width, env={"NO_COLOR": "1", "TERM": "xterm"})
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    heights = [max(1, -(-len(line) // width)) for line in lines]
    assert sum(heights) <= 24


def test_what_matters_most_stays_when_lines_are_few(sample_result):
    text = shown(sample_result, line_limit=6, written_to=["r.html"])
    assert len(text.splitlines()) == 6
    for part in ("FAILED", "Rank 11 on node-17", "Evidence", "1. Look at link state", "r.html"):
        assert part in text


def test_a_pipe_gets_no_colours(sample_result):
    assert "\x1b" not in shown(sample_result, terminal=False)


def test_no_color_is_honoured_on_a_terminal(sample_result):
    assert "\x1b[3" not in shown(sample_result, terminal=True, env={"NO_COLOR": "1", "TERM": "xterm-256color"})
    assert "\x1b[" in shown(sample_result, terminal=True)


def test_nothing_of_a_log_acts_on_the_terminal(hostile_result):
    text = shown(hostile_result, written_to=["a\x1bb"])
    assert not set(text) & {chr(code) for code in (*range(10), *range(11, 32), *range(127, 160), 0x202E, 0x2028)}
    assert "^[[31m" in text
    assert "<U+202E>" in text
    assert "[bold red]not markup[/]" in text


def test_no_line_is_a_command_to_a_ci_runner(hostile_result):
    for width in range(30, 90, 7):
        for line in shown(hostile_result, terminal=True, width=width, env={"NO_COLOR": "1"}).splitlines():
            assert not line.strip().startswith("::")
            assert "##[" not in line


def test_a_healthy_job_is_called_healthy(healthy_result):
    first, second, *_ = shown(healthy_result).splitlines()
    assert first.split() == ["HEALTHY", "no", "failure", "found"]
    assert second.strip() == "Nothing failed: 1,000 steps and a regular end."


def test_an_unclear_job_says_what_is_unknown(unknown_result):
    text = shown(unknown_result)
    assert text.startswith("UNCLEAR")
    assert "The log ends in mid-step without an error." in text


def test_the_matched_part_of_a_long_line_is_shown(sample_result):
    cited = sample_result.diagnosis.evidence[0]
    at = len("x " * 600)
    evidence = dataclasses.replace(
        cited.evidence,
        text="x " * 600 + "NCCL WARN here" + " y" * 90,
        highlight=dataclasses.replace(cited.evidence.highlight, start=at, end=at + 14),
    )
    diagnosis = dataclasses.replace(sample_result.diagnosis, evidence=(dataclasses.replace(cited, evidence=evidence),))
    assert "NCCL WARN here" in shown(dataclasses.replace(sample_result, diagnosis=diagnosis), terminal=True, width=80)


def test_a_long_command_is_whole_or_absent(sample_result):
    step = dataclasses.replace(sample_result.plan[0], command="srun --nodes=2 " + "x" * 130)
    text = shown(dataclasses.replace(sample_result, plan=(step,)), terminal=True)
    assert f"$ {step.command}" in re.sub(r"\x1b\[[0-9;]*m", "", text)
    monster = dataclasses.replace(step, command="srun " + "x" * 1_500)
    assert "$ srun" not in shown(dataclasses.replace(sample_result, plan=(monster,)), terminal=True)


def test_a_step_shows_the_line_and_the_values(sample_result):
    assert "train.sbatch:12  NCCL_IB_TIMEOUT 20 → 22" in shown(sample_result, width=200)


def test_the_unit_of_a_number_is_said(sample_result):
    step = dataclasses.replace(sample_result.plan[2], setting="--distributed-timeout-minutes", to="60", unit="minutes")
    text = shown(dataclasses.replace(sample_result, plan=(step,)), width=200)
    assert "--distributed-timeout-minutes 20 → 60 minutes" in text


def test_wrong_settings_are_said_and_notes_only_where_all_is_wanted(sample_result):
    line = "train.sbatch:13  NCCL_TIMEOUT=1800: No version of NCCL or PyTorch reads it. Take it out."
    assert line in shown(sample_result, width=200, line_limit=60)
    assert "HF_TOKEN" not in shown(sample_result, width=200, line_limit=60)
    assert "HF_TOKEN=[redacted]" in shown(sample_result, width=200, verbose=True)


def test_the_diff_is_printed_where_all_is_wanted(sample_result):
    assert "+export NCCL_IB_TIMEOUT=22 # <site>" in shown(sample_result, width=200, verbose=True)


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("remove it", "Remove it."),
        ("Take it out.", "Take it out."),
        ("mlx5_0 is down", "mlx5_0 is down."),
        ("--mem is missing", "--mem is missing."),
        ("", ""),
    ],
)
def test_a_clause_becomes_a_sentence(clause, expected):
    assert sentence(clause) == expected


@pytest.mark.parametrize("name", ["sample_result", "healthy_result", "unknown_result", "hostile_result"])
@pytest.mark.parametrize("verbose", [False, True])
def test_what_is_piped_is_what_rich_prints_where_there_is_no_terminal(request, name, verbose):
    view = build_view(request.getfixturevalue(name))
    file = io.StringIO()
    console = Console(file=file, highlight=False, color_system=None, force_terminal=False)
    render_text(view, console, written_to=["reports/a.html"], verbose=verbose)

    assert plain_text(view, written_to=["reports/a.html"], verbose=verbose) == file.getvalue()


@given(st.text(alphabet=st.sampled_from("a é·…→\u2013\t火\u0301\xad\x1b🙂"), max_size=30), st.integers(2, 30))
def test_a_text_is_as_wide_as_rich_says_and_cut_where_rich_cuts(text, columns):
    own, other = PlainText(text), Text(text)
    other.plain = text
    assert own.cell_len == other.cell_len
    own.truncate(columns, overflow="ellipsis")
    other.truncate(columns, overflow="ellipsis")
    assert own.plain == other.plain
