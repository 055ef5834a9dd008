import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenised import cases, lines, tokenised

from nccl_logscan.events.model import EVENT_TYPES
from nccl_logscan.events.tokenise import Tokeniser
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import NOBODY, Position

KNOWN = sorted(
    {
        text
        for name in ("torch", "elastic", "traceback", "cuda")
        for case in cases(name)
        for text in case.values[0]["log"]
    }
)
HOSTILE = {
    "brackets": "[" * 500_000,
    "a name without end": "a." * 250_000 + "Error: x",
    "a word without end": "A" * 500_000,
    "frames on one line": 'File "' * 80_000,
    "a head without end": "[rank1]:[E1130 05:41:14.0 " + "x" * 500_000 + ".cpp:1] y",
    "many groups": "[E ProcessGroupNCCL.cpp:1] " + "[PG 1 Rank 1] " * 30_000,
    "a group without end": "[E ProcessGroupNCCL.cpp:1] [PG " + "x " * 200_000,
    "ranks without end": "\t - [" + "1, " * 150_000 + "2] started ALLREDUCE",
    "blanks": " " * 500_000 + "x",
    "colons": "x: " * 150_000,
    "warnings": "x:1: " * 100_000 + "Warning: ",
    "collectives": "Detected mismatch between collectives on ranks. " + "Rank 1 is running collective: A" * 10_000,
    "agents": "torch.distributed.elastic" * 20_000,
    "digits": "failed (exitcode: " + "9" * 500_000,
    "last errors": "nccl Last error: " * 30_000,
    "assertions": "a.cu:1: " * 50_000 + "Assertion `",
}


@given(
    st.lists(
        st.one_of(
            st.text(max_size=200),
            st.sampled_from(KNOWN),
            st.text(alphabet=' \t[]():#.:"ErorankFilein0189', max_size=80),
        )
    )
)
def test_any_text_gives_events_of_the_closed_set(texts):
    for event in tokenised(texts):
        assert type(event) is EVENT_TYPES[event.kind]


@given(st.sampled_from(KNOWN), st.data())
def test_a_line_torn_anywhere_gives_events(text, data):
    cut = data.draw(st.integers(0, len(text)))
    tokenised(["Traceback (most recent call last):", text[:cut], text[cut:], text[:cut] + text])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_costs_no_more_than_its_length(name):
    started = time.process_time()
    tokenised([HOSTILE[name], "Traceback (most recent call last):", '  File "a", line 1', HOSTILE[name]])
    assert time.process_time() - started < 2


def test_a_line_that_no_dialect_knows_is_text():
    [event] = tokenised(["loading the tokenizer"])
    assert (event.kind, event.message, event.origin) == ("log.text", "loading the tokenizer", NOBODY)


def test_a_blank_line_and_a_c_plus_plus_frame_are_no_events():
    assert tokenised(["", "   ", "frame #3: c10::Error"]) == []


def test_a_shape_seen_before_is_still_told_from_a_known_line():
    texts = ["step done 1", "step done 2", "CUDA error: out of memory", "step done 3", "CUDA error: out of memory"]
    assert [event.kind for event in tokenised(texts)] == [
        "log.text",
        "log.text",
        "cuda.error",
        "log.text",
        "cuda.error",
    ]


def test_the_same_lines_give_the_same_events_whatever_was_read_before():
    used = Tokeniser()
    for text in [text for text in KNOWN if not text.startswith("@")] * 2:
        used.read(LogLine(Position("log", 1, 0), text))
    [fresh] = Tokeniser().read(LogLine(Position("log", 1, 0), "CUDA failure 2: out of memory"))
    assert used.read(LogLine(Position("log", 1, 0), "CUDA failure 2: out of memory")) == (fresh,)


@pytest.mark.parametrize("text", ["2024 INFO Last error: none", "the Last error: x"])
def test_a_last_error_of_another_program_is_not_nccls(text):
    assert [event.kind for event in tokenised([text])] == ["log.text"]


def test_the_number_of_remembered_things_is_bounded():
    tokeniser = Tokeniser(limit=4)
    texts = [
        "Last error:",
        "Root Cause (first observed failure):",
        "#3 started ranks:",
        "Traceback (most recent call last):",
    ]
    for number in range(100):
        for line in lines([f"@rank={number} {text}" for text in texts]):
            tokeniser.read(line)
    tables = (tokeniser._blocks, tokeniser._awaiting_last_error, tokeniser._desync_sequence)
    assert all(len(table) <= 4 for table in tables)
