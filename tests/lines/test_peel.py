import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from peeled import peel_texts

from nccl_logscan.lines import Peeler, without_colours
from nccl_logscan.position import Position
from nccl_logscan.sources import RawLine

STAMP = "2026-01-02T03:04:05.123456789Z "


def test_a_container_line_in_parts_is_one_line_where_it_began():
    lines = peel_texts(
        f"{STAMP}stderr P RuntimeError: CUDA ", f"{STAMP}stdout F between", f"{STAMP}stderr F out of memory"
    )

    assert [(line.text, line.at.line) for line in lines] == [("between", 2), ("RuntimeError: CUDA out of memory", 1)]


def test_a_container_line_whose_end_never_came_is_still_given():
    assert [line.text for line in peel_texts(f"{STAMP}stderr P half a li")] == ["half a li"]


def test_docker_json_in_parts_is_one_line():
    lines = peel_texts(
        '{"log":"half ","stream":"stderr","time":"2026-01-02T03:04:05Z"}',
        '{"log":"and half\\n","stream":"stderr","time":"2026-01-02T03:04:05Z"}',
    )

    assert [line.text for line in lines] == ["half and half"]


def test_a_json_message_of_several_lines_is_several_lines():
    lines = peel_texts('{"time":"2026-01-02T03:04:05Z","msg":"Traceback (most recent call last):\\n  File \\"a.py\\""}')

    assert [line.text for line in lines] == ["Traceback (most recent call last):", '  File "a.py"']


def test_json_that_is_no_record_stays_as_it_is():
    for text in ('{"loss": 0.3, "step": 4}', '{"log": 3}', '{"' + "[" * 100_000 + "}", '{"a": }'):
        assert [line.text for line in peel_texts(text)] == [text]


def test_the_innermost_time_counts_and_its_clock_is_the_hosts():
    [line] = peel_texts("2026-01-02T03:04:05.5Z [pod/w-0/c] [2026-01-02 04:04:05,678] [INFO] [engine.py:12:step] text")
    assert (line.when.value.hour, line.when.clock) == (4, "w-0")


def test_a_collectors_clock_is_not_the_programs():
    [collected] = peel_texts(f"{STAMP}step 12")
    [own] = peel_texts("2026-01-02 03:04:05,678 - root - INFO - step 12")

    assert collected.when.clock != own.when.clock


def test_a_stamp_without_a_year_takes_the_sources_latest_year():
    lines = peel_texts("2026-04-08 19:10:00 text", "W0408 19:10:22.410000 2240 torch/distributed/run.py:719] text")

    assert lines[1].when.value.year == 2026


def test_a_date_that_no_calendar_has_is_no_time():
    [line] = peel_texts("2026-13-45 29:61:00 text")
    assert (line.text, line.when) == ("text", None)


def test_lines_stay_in_order_while_a_doubtful_prefix_waits():
    texts = ["start", "node2: a", "plain", "node3: b", "node2: c", "end"]

    assert [line.at.line for line in peel_texts(*texts)] == [1, 2, 3, 4, 5, 6]


def test_a_doubtful_prefix_holds_back_64_lines_at_most():
    peeler = Peeler()
    ready = [peeler.peel(RawLine(Position("x", n, 0), "node2: a" if n == 1 else "plain")) for n in range(1, 70)]

    assert ready.index(next(lines for lines in ready if lines)) == 63
    assert sum(len(lines) for lines in ready) == 69


def test_a_single_word_before_a_colon_is_no_host():
    for text in ("libibverbs: Warning: couldn't open config", "loss-1: 0.3", "GPU0: 80 GB", "epoch-3: done"):
        assert peel_texts(text)[0].prefixes == ()


def test_tee_and_hook_are_told_apart_by_the_other_lines_of_the_source():
    lines = peel_texts("[rank0]:step 1", "[rank1]:step 1", "[rank1]: indented by the program")

    assert [line.origin.local_rank for line in lines] == [0, 1, 1]
    assert lines[2].text == " indented by the program"


def test_colours_are_gone_everywhere():
    assert peel_texts("a\x1b[1;31mred\x1b[0m\x1b]0;title\x07 b")[0].text == "ared b"


EXAMPLES = [
    example["line"]
    for example in yaml.safe_load((Path(__file__).parents[2] / "fixtures/lines/prefixes.yaml").read_text())
]
OUTER = [
    "[default3]:",
    "(WorkerDict pid=815, ip=10.0.0.12) ",
    "[1,5]<stderr>:",
    "[pod/w-0/c] ",
    STAMP,
    "[rank: 3] ",
    "Jan 02 03:04:05 n07 python[4242]: ",
    "\x1b[36m(pid=99)\x1b[0m ",
    "[Tue Mar  3 10:20:30 2026]<stdout>: ",
    "[rank3]: ",
]
PAYLOADS = [
    "n07:4242:4310 [3] NCCL INFO Using network IB",
    "RuntimeError: boom",
    "step of loss",
    '  File "a.py", line 3',
]


@given(st.lists(st.sampled_from(OUTER), max_size=8), st.sampled_from(PAYLOADS))
def test_any_nesting_gives_the_same_payload(prefixes, payload):
    [line] = peel_texts("".join(prefixes) + payload)

    assert line.text == payload
    assert len(line.prefixes) == len(prefixes)


pieces = st.one_of(
    st.sampled_from(EXAMPLES),
    st.sampled_from(OUTER),
    st.text(max_size=20),
    st.sampled_from(["\r", " NCCL ", ":1:2 ", "[", "]:", "\x1b", '{"']),
)
logs = st.lists(st.lists(pieces, max_size=5).map("".join), max_size=12)


@given(logs)
def test_peeling_never_raises_and_loses_no_line(log):
    lines = peel_texts(*log)

    numbers = [line.at.line for line in lines]
    assert set(numbers) == set(range(1, len(log) + 1)) or any(text[:2] == '{"' or " std" in text for text in log)
    if not any(text[:2] == '{"' or " std" in text for text in log):
        assert numbers == sorted(numbers)


@given(logs)
def test_a_text_is_part_of_its_line_without_colours(log):
    for line in peel_texts(*log):
        source = log[line.at.line - 1]
        if not source.startswith('{"') and " std" not in source:
            assert line.text in re.sub(r"\n", "", without_colours(source)) or "\n" in source


@given(st.text(alphabet=st.characters(exclude_characters="\r\n\x1b[{"), max_size=60))
def test_plain_words_lose_nothing_but_prefixes_and_the_blanks_at_their_end(text):
    lines = peel_texts(text)
    assert "".join(line.text for line in lines) == text.rstrip() or lines[0].prefixes


@pytest.mark.parametrize(
    "line",
    [
        "step 3 done  ",
        "vm:1:1 [0] NCCL INFO step 3 done\t",
        "\x1b[33mstep 3 done \x1b[0m",
        '{"log":"step 3 done  \\n","stream":"stdout","time":"2026-11-30T05:40:37Z"}',
        "2026-11-30T05:40:37Z stdout F step 3 done \r",
    ],
)
def test_blanks_that_a_page_or_a_terminal_put_at_an_end_are_no_part_of_the_text(line):
    assert [line.text.endswith("step 3 done") for line in peel_texts(line)] == [True]


@pytest.mark.parametrize("value", ["2.31", "-2.31", "nan", "inf", "[2.31, 2.30]", "{'a': 1}", "tensor(2.31)", "None"])
def test_a_value_that_is_aligned_behind_a_level_makes_no_logger_of_its_name(value):
    first, second = peel_texts(
        f"2026-11-30 05:40:32,954 INFO loss:   {value}", "2026-11-30 05:40:33,954 WARNING loss: nan at step 5"
    )

    assert (first.text, second.text) == (f"loss:   {value}", "loss: nan at step 5")


def test_a_name_before_an_indented_line_is_a_loggers():
    first, second = peel_texts(
        '2026-11-30 05:40:32,954 ERROR launcher:   File "train.py", line 3', "2026-11-30 05:40:32,954 ERROR launcher: x"
    )

    assert (first.text, second.text) == ('  File "train.py", line 3', "x")


@pytest.mark.parametrize(
    "piece", ["a", "a:", "[", "(", "1:2 ", " NCCL ", "[rank", "2026-01-02 ", "pp:", "a-0 b ", "]:", "\x1b[", "| "]
)
def test_a_line_of_a_million_characters_is_peeled_in_time_proportional_to_it(piece, benchmark_seconds):
    small = benchmark_seconds(lambda: peel_texts(piece * (100_000 // len(piece))))
    large = benchmark_seconds(lambda: peel_texts(piece * (1_000_000 // len(piece))))

    assert large < max(40 * small, 1.0)
