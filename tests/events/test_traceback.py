import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenised import as_written, cases, events_of, lines, tokenised

from nccl_logscan.events.dialects.python_traceback import Tracebacks, read

NAMES = st.sampled_from(["KeyError", "torch.cuda.OutOfMemoryError", "StopTraining", "a.b.CError", "SystemExit"])


@st.composite
def tracebacks(draw, rank):
    depth = draw(st.integers(1, 6))
    frames = [
        text
        for level in range(depth)
        for text in (f'  File "/w/r{rank}_{level}.py", line {level + 1}, in f{level}', f"    f{level + 1}()")
    ]
    texts = ["Traceback (most recent call last):", *frames, f"{draw(NAMES)}: of rank {rank}"]
    return [f"@rank={rank} {text}" for text in texts]


@st.composite
def interleaved(draw, of):
    """Several logs as one, each in its own order."""
    logs = [list(draw(log)) for log in of]
    together = []
    while any(logs):
        log = draw(st.sampled_from([log for log in logs if log]))
        together.append(log.pop(0))
    return together


def told(texts):
    exceptions = [event for event in tokenised(texts) if event.kind == "python.exception"]
    return sorted(
        (event.origin.rank, event.message, event.file, event.line, event.function, event.user_file)
        for event in exceptions
    )


@pytest.mark.parametrize("case", cases("traceback"))
def test_a_log_gives_exactly_the_events_of_its_fixture(case):
    log = lines(case["log"])
    assert as_written(tokenised(case["log"]), log) == case["events"]


@given(interleaved([tracebacks(0), tracebacks(1), tracebacks(2)]))
def test_however_ranks_interleave_each_exception_keeps_its_own_frames(together):
    apart = [text for rank in range(3) for text in together if text.startswith(f"@rank={rank} ")]
    assert told(together) == told(apart)
    assert len(told(together)) == 3


@given(
    tracebacks(0), st.lists(st.sampled_from(["@rank=1 step 7", "@rank=1   indented", "@rank=2 loss: 3.1"])), st.data()
)
def test_what_other_ranks_print_in_between_changes_no_exception(texts, noise, data):
    noisy = list(texts)
    for text in noise:
        noisy.insert(data.draw(st.integers(0, len(noisy))), text)
    assert told(noisy) == told(texts)


def test_the_place_of_an_exception_is_its_own_line():
    [event] = tokenised(["Traceback (most recent call last):", '  File "a.py", line 7, in f', "    x", "KeyError: 1"])
    assert (event.at.line, event.line) == (4, 7)


def test_a_torn_traceback_does_not_lend_its_frames_to_the_next():
    first = ["@rank=1 Traceback (most recent call last):", '@rank=1   File "/w/old.py", line 1, in f']
    second = [
        "@rank=1 Traceback (most recent call last):",
        '@rank=1   File "/w/new.py", line 2, in g',
        "@rank=1 KeyError",
    ]
    [event] = tokenised(first + second)
    assert event.file == "/w/new.py"
    assert tokenised([*second[:1], second[2]])[0].file is None


def test_a_traceback_that_the_end_cut_off_is_said():
    frames = ['  File "/w/a.py", line 1, in f', '  File "/w/b.py", line 2, in g']
    events = tokenised(["Traceback (most recent call last):", *frames])
    [event] = events
    assert (event.kind, event.exception, event.user_file) == ("python.exception", "TracebackCutOff", "/w/b.py")


@pytest.mark.parametrize(
    "above",
    ["Exception ignored in: <function It.__del__ at 0x7f>", "--- Logging error ---", "Error in atexit._run_exitfuncs:"],
)
def test_an_exception_that_python_ignores_is_a_warning(above):
    frames = ["Traceback (most recent call last):", '  File "/w/a.py", line 1, in f', "KeyError: 'x'"]
    assert [event.kind for event in tokenised([above, *frames])][-1] == "python.warning"
    assert [event.kind for event in tokenised(frames)] == ["python.exception"]


def test_the_heading_of_torchrun_s_table_is_no_exception():
    torn = ["Traceback (most recent call last):", '  File "/w/run.py", line 1, in f', "Failures:"]
    assert "Failures" not in {getattr(event, "exception", None) for event in tokenised(torn)}


def test_output_long_after_a_torn_traceback_is_not_swallowed():
    torn = ["Traceback (most recent call last):", '  File "/w/a.py", line 1, in f']
    output = [f"  indented {number}" for number in range(1000)]
    assert len(tokenised(torn + output)) > 900


def test_a_thousand_torn_tracebacks_keep_sixty_four_pending():
    reader = Tracebacks()
    for number in range(1000):
        for line in lines(
            [f"@rank={number} Traceback (most recent call last):", f'@rank={number}   File "a.py", line 1']
        ):
            reader.read(line)
    assert len(reader.finish()) == 64


def test_the_innermost_frame_of_a_deep_recursion_is_the_last():
    frames = [f'  File "/w/a.py", line {number}, in f' for number in range(1, 5000)]
    *_, event = tokenised(["Traceback (most recent call last):", *frames, "RecursionError: maximum recursion depth"])
    assert (event.exception, event.line) == ("RecursionError", 4999)


def test_a_desync_report_within_a_torn_traceback_is_still_a_report():
    torn = ["Traceback (most recent call last):", '  File "/w/a.py", line 1, in f', "    x"]
    events = tokenised([*torn, "\t - [0] Timeout at collective: ALLREDUCE, #303"])
    assert [event.kind for event in events] == ["torch.desync", "python.exception"]


@pytest.mark.parametrize("place", ["site-packages", "dist-packages", "lib/python3.10"])
def test_installed_code_is_not_the_users(place):
    texts = ['  File "/w/mine.py", line 3, in f', f'  File "/opt/{place}/theirs.py", line 4, in g', "ValueError: x"]
    [event] = tokenised(["Traceback (most recent call last):", *texts])
    assert (event.file, event.user_file, event.user_line) == (f"/opt/{place}/theirs.py", "/w/mine.py", 3)


@pytest.mark.parametrize(
    "prose",
    [
        "Error: something",
        "ERROR - ValueError: text",
        "Exception: alone",
        "Timeout: 30",
        "ncclSystemError: System call failed.",
        "Note: see RuntimeError",
        "MyError:glued",
        "An Error: text",
        "INFO: RuntimeError",
        "error: x",
        "KeyErrors: 3",
        "LustreError: 11-0: scratch-OST0003-osc-ffff: operation ost_read to node 10.0.0.5@o2ib failed: rc = -107",
    ],
)
def test_prose_is_no_exception(prose):
    assert [read(line) for line in lines([prose])] == [None]


def test_a_line_of_output_below_a_torn_traceback_is_no_exception():
    torn = ["Traceback (most recent call last):", '  File "/w/a.py", line 1, in f', "    x"]
    events = tokenised([*torn, "INFO: starting", "Epoch: 3", "WARNING: slow"])
    assert {getattr(event, "exception", "TracebackCutOff") for event in events} == {"TracebackCutOff"}


def test_events_come_in_the_order_of_their_lines():
    log = lines(["@rank=0 KeyError: 1", "@rank=1 Traceback (most recent call last):", "@rank=1 ValueError: 2"])
    assert [event.at.line for event in events_of(log)] == [1, 3]
