import pytest
from peeled import peel_texts

HEAD = "vm:602:602 [1] NCCL INFO Init timings"


def texts(*lines):
    return [line.text for line in peel_texts(*lines)]


def test_a_header_in_the_middle_begins_a_new_line_at_its_known_host():
    torn = "vm:611:611 [0] NCCL INFO Bootstrap timings (create 0.01, delayvm:602:602 [1] NCCL INFO Init timings"

    assert texts(HEAD, torn)[1:] == ["vm:611:611 [0] NCCL INFO Bootstrap timings (create 0.01, delay", HEAD]


def test_three_lines_in_one_are_three():
    torn = "1/-1->2 [1" + HEAD + " 7/" + HEAD

    assert texts(HEAD, torn)[1:] == ["1/-1->2 [1", HEAD + " 7/", HEAD]


def test_a_torn_start_of_line_does_not_rename_the_host():
    assert texts(HEAD, "0.01" + HEAD)[1:] == ["0.01", HEAD]


def test_the_time_stamp_of_a_torn_in_warn_goes_with_it():
    warn = "[2026-01-02 03:04:05] vm:602:602 [1] init.cc:27 (commDestroySync) NCCL WARN text"

    assert texts("epoch 3 loss 0.1" + warn) == ["epoch 3 loss 0.1", warn]


def test_a_line_that_speaks_of_nccl_is_not_torn():
    line = "vm:602:602 [1] NCCL INFO NCCL version 2.25.1+cuda12.2, see NCCL INFO"

    assert texts(line) == [line]


def test_an_mpi_tag_that_was_put_in_again_gives_each_piece_to_its_own_rank():
    first, second = peel_texts("[1,3]<stderr>:Trace[1,4]<stderr>:boom")

    assert (first.text, first.origin.task) == ("Trace", 3)
    assert (second.text, second.origin.task) == ("boom", 4)
    assert first.at == second.at


def test_a_c10_line_behind_another_ranks_text_is_its_own():
    first, second = peel_texts("[rank5]: foo[rank3]:[E1102 03:04:05.123456789 ProcessGroupNCCL.cpp:629] text")

    assert (first.text, first.origin.rank) == ("foo", 5)
    assert (second.text, second.origin.rank) == ("[E1102 03:04:05.123456789 ProcessGroupNCCL.cpp:629] text", 3)


@pytest.mark.parametrize(
    "second",
    [
        "Traceback (most recent call last):",
        "[E ProcessGroupNCCL.cpp:587] [Rank 2] Watchdog caught",
        "slurmstepd: error: *** STEP 42.0 ON n07 CANCELLED",
    ],
)
def test_what_only_begins_a_line_begins_one(second):
    assert texts("step 12 loss 3.1" + second) == ["step 12 loss 3.1", second]


def test_two_glued_records_of_a_logger_have_each_their_rank():
    first, second = peel_texts("text2026-11-30 06:56:09,821 | rank1 | INFO | trainer:30 - world_size=8")

    assert first.text == "text"
    assert (second.text, second.origin.rank) == ("world_size=8", 1)


def test_the_margin_of_an_exception_group_is_part_of_its_traceback():
    line = "  + Exception Group Traceback (most recent call last):"

    assert texts(line) == [line]


def test_of_a_progress_bar_the_last_state_remains():
    bar = "\r  3%|▎  | 1/30 [00:01<00:34, 1.2s/it]\r  7%|▋  | 2/30 [00:02<00:34, 1.2s/it]\r 10%|█  | 3/30 [00:03<00:34]"

    assert texts(bar) == [" 10%|█  | 3/30 [00:03<00:34]"]


def test_what_stands_between_two_states_of_a_bar_is_kept():
    bar = "  3%|▎  | 1/30 [00:01<00:34, 1.2s/it]"

    assert texts(f"{bar}\r{HEAD}\rRuntimeError: boom\r{bar}") == [bar, HEAD, "RuntimeError: boom", bar]


def test_a_bar_with_a_header_glued_to_it_is_two_lines():
    bar = "  3%|▎  | 1/30 [00:01<00:34, 1.2s/it]"

    assert texts(HEAD, bar + HEAD)[1:] == [bar, HEAD]


def test_a_launchers_tag_counts_for_every_state_behind_it():
    lines = peel_texts("[default3]:\r 3%|x| 1/30 [00:01<00:34, 1.2s/it]\rValueError: boom")

    assert [(line.text.strip()[:10], line.origin.local_rank) for line in lines] == [
        ("3%|x| 1/30", 3),
        ("ValueError", 3),
    ]
