import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import STEP, WORLD, blamed, calls, dump, recordings, with_peers

from nccl_logscan.diagnosis.hang.blame import Fault
from nccl_logscan.diagnosis.hang.mismatch import find_mismatches

PAIRS = {"0": (0, 1, 2, 3), "5": (0, 1), "6": (2, 3)}


def pair_of(rank: int) -> str:
    return "5" if rank < 2 else "6"


def test_a_rank_that_waits_in_nothing_and_did_not_come_is_to_blame():
    dumps = [dump(rank, calls(*STEP * 3, done=4)) for rank in (0, 1, 3)]
    blame = blamed([*dumps, dump(2, calls(*STEP * 2, done=4))])
    assert (blame.fault, blame.accused, blame.wait.sequence, blame.needed) == (Fault.BEHIND, 2, 5, 3)


def test_a_stall_in_a_pair_that_holds_up_the_world_leads_back_into_the_pair():
    # Rank 3 never comes to its pair's call; rank 2 waits there, and the other pair waits for both in the world's.
    step = [("pair", "all_reduce", 8), ("0", "all_reduce", 64)]

    def of(rank: int, length: int, done: int) -> list:
        named = [(pair_of(rank) if group == "pair" else group, operation, n) for group, operation, n in step * 3]
        return calls(*named[:length], done=done)

    dumps = [dump(0, of(0, 6, 5), PAIRS), dump(1, of(1, 6, 5), PAIRS), dump(2, of(2, 5, 4), PAIRS)]
    blame = blamed([*dumps, dump(3, of(3, 4, 4), PAIRS)])
    assert (blame.fault, blame.accused, blame.through) == (Fault.BEHIND, 3, (2,))


def test_the_dump_of_a_victim_may_be_missing():
    dumps = [dump(rank, calls(*STEP * 3, done=4)) for rank in (0, 3)]
    blame = blamed([*dumps, dump(2, calls(*STEP * 2, done=4))])
    assert (blame.fault, blame.accused) == (Fault.BEHIND, 2)


def test_the_rank_without_a_dump_is_named_and_not_accused_unless_its_silence_was_heard():
    dumps = [dump(rank, calls(*STEP * 3, done=4)) for rank in (0, 1, 3)]
    assert (blamed(dumps).ranks, blamed(dumps).accused) == ((2,), None)
    assert blamed(dumps, heard=True).accused == 2


def test_of_two_late_ranks_neither_is_accused():
    dumps = [dump(rank, calls(*STEP * 3, done=4)) for rank in (0, 1)]
    blame = blamed([*dumps, *(dump(rank, calls(*STEP * 2, done=4)) for rank in (2, 3))])
    assert (blame.ranks, blame.accused) == ((2, 3), None)


def test_of_two_idle_ranks_the_one_that_came_less_far_is_to_blame():
    late = dump(2, calls(*STEP * 2, done=4))
    ahead = dump(3, calls(*STEP * 2, STEP[0], done=5))
    blame = blamed([*(dump(rank, calls(*STEP * 3, done=5)) for rank in (0, 1)), ahead, late])
    assert blame.accused == 2


def test_a_call_that_all_ranks_issued_is_no_ranks_fault():
    blame = blamed([dump(rank, calls(*STEP * 3, done=5)) for rank in range(4)])
    assert (blame.fault, blame.ranks, blame.wait.sequence) == (Fault.ENTERED, (), 6)


def test_ranks_that_all_finished_wait_for_nobody():
    assert blamed([dump(rank, calls(*STEP, done=2)) for rank in range(4)]) is None


def test_two_groups_called_in_another_order_are_a_ring_and_the_odd_rank_is_to_blame():
    groups = {"0": (0, 1, 2, 3), "7": (0, 1, 2, 3)}
    usual = calls(("0", "all_reduce", 8), ("7", "all_reduce", 8), done=0)
    swapped = calls(("7", "all_reduce", 8), ("0", "all_reduce", 8), done=0)
    blame = blamed([dump(rank, swapped if rank == 1 else usual, groups) for rank in range(4)])
    assert (blame.fault, blame.accused) == (Fault.ORDER, 1)


def test_a_ring_of_two_accuses_neither():
    groups = {"0": (0, 1), "7": (0, 1)}
    usual, swapped = calls(("0", "all_reduce", 8), done=0), calls(("7", "all_reduce", 8), done=0)
    blame = blamed([dump(0, usual, groups), dump(1, swapped, groups)], world=2)
    assert (blame.fault, blame.ranks, blame.accused) == (Fault.ORDER, (0, 1), None)


def test_a_send_whose_receiver_does_not_receive_is_the_receivers_fault():
    send = with_peers(calls(("0", "send", 8), done=0)[0], 0, 2)
    dumps = [dump(rank, calls(*STEP, done=2)) for rank in (1, 2, 3)]
    assert blamed([dump(0, [send]), *dumps]).accused == 2
    receive = with_peers(calls(("0", "recv", 8), done=0)[0], 0, 2)
    answered = [dump(0, [send]), dump(2, [receive]), *dumps[::2]]
    assert blamed(answered).fault is Fault.ENTERED


@given(st.integers(2, 24), st.data())
def test_one_late_rank_is_found_whoever_it_is_and_whatever_dumps_of_victims_are_lost(world, data):
    late = data.draw(st.integers(0, world - 1))
    lost = data.draw(st.sets(st.integers(0, world - 1).filter(lambda rank: rank != late), max_size=max(0, world - 2)))
    groups = {"0": tuple(range(world))}
    dumps = [
        dump(rank, calls(*STEP * (2 if rank == late else 3), done=4), groups)
        for rank in range(world)
        if rank not in lost
    ]
    assert blamed(dumps, world).accused == late


# --- Mismatches -------------------------------------------------------------------------------------------


def mismatch(*made: list, groups: dict = WORLD):
    (found,) = find_mismatches(recordings(dump(rank, one, groups) for rank, one in enumerate(made)))
    return found


def test_of_many_ranks_the_one_that_called_something_else_is_odd():
    usual, other = calls(*STEP * 3, done=4), calls(*STEP * 2, ("0", "broadcast", 64), done=4)
    found = mismatch(usual, usual, other, usual)
    assert (found.sequence, found.accused) == (5, 2)
    assert (found.calls[0], found.calls[2]) == ("all_reduce(64 Float)", "broadcast(64 Float)")


def test_a_call_left_out_is_found_where_the_shapes_first_differ():
    extra = ("0", "all_reduce", 7)
    usual = calls(*STEP * 2, extra, *STEP, done=4)
    found = mismatch(usual, calls(*STEP * 3, done=4), usual, usual)
    assert (found.sequence, found.accused) == (5, 1)


def test_of_two_ranks_the_one_with_fewer_calls_left_one_out():
    found = mismatch(calls(*STEP * 2, ("0", "all_reduce", 7), *STEP, done=4), calls(*STEP * 3, done=4))
    assert found.accused == 1


def test_of_two_ranks_as_far_as_each_other_the_one_that_leaves_its_rhythm_is_odd():
    found = mismatch(calls(*STEP * 3, done=4), calls(*STEP * 2, STEP[1], STEP[1], done=4))
    assert (found.sequence, found.accused) == (5, 1)


def test_a_call_that_neither_rank_was_to_make_accuses_neither():
    one, other = (calls(*STEP * 2, ("0", operation, 64), done=4) for operation in ("reduce", "broadcast"))
    assert mismatch(one, other).accused is None


def test_another_type_is_a_mismatch():
    usual = calls(*STEP, done=0)
    assert mismatch(usual, usual, calls(*STEP, done=0, dtype="BFloat16"), usual).accused == 2


def test_parts_of_an_all_to_all_may_differ_in_size():
    dumps = [dump(rank, calls(("0", "all_to_all", rank + 1), done=0)) for rank in range(4)]
    assert find_mismatches(recordings(dumps)) == []


def test_a_ring_that_has_lost_its_beginning_is_compared_where_both_hold_something():
    usual = calls(*STEP * 5, done=8)
    other = calls(*STEP * 4, ("0", "broadcast", 64), done=8)
    found = mismatch(usual[3:], usual, other[6:], usual[8:])
    assert (found.sequence, found.accused) == (9, 2)


@given(st.integers(3, 16), st.integers(0, 11), st.data())
def test_one_rank_with_another_shape_is_found_wherever_it_is(world, place, data):
    odd = data.draw(st.integers(0, world - 1))
    usual = [*STEP * 6]
    other = [*usual]
    other[place] = ("0", "all_reduce", 999)
    groups = {"0": tuple(range(world))}
    dumps = [dump(rank, calls(*(other if rank == odd else usual), done=0), groups) for rank in range(world)]
    (found,) = find_mismatches(recordings(dumps))
    assert (found.sequence, found.accused) == (place + 1, odd)


def test_a_torn_dump_does_not_tell_that_its_rank_stayed_away():
    # Rank 2 is late; of rank 0's dump the end and the status are lost, with the call that it waits in.
    waiting = [dump(rank, calls(*STEP * 3, done=4)) for rank in (1, 3)]
    torn = replace(dump(0, calls(*STEP, done=2)), statuses={}, whole=False)
    assert blamed([*waiting, torn, dump(2, calls(*STEP * 2, done=4))]).ranks == (2,)
    assert blamed([*waiting, torn, dump(2, calls(*STEP * 3, done=4))]).fault is Fault.ABSENT


def test_of_two_halves_that_differ_a_torn_dump_is_not_the_one_that_left_a_call_out():
    whole = [dump(rank, calls(("0", "all_reduce", 64), *STEP * 2, done=2)) for rank in (0, 1)]
    other = [dump(rank, calls(("0", "broadcast", 64), *STEP, done=2)) for rank in (2, 3)]
    assert find_mismatches(recordings([*whole, *other]))[0].odd == (2, 3)
    torn = [replace(one, whole=False) for one in other]
    assert find_mismatches(recordings([*whole, *torn]))[0].odd == ()


def test_dumps_that_hold_no_call_do_not_tell_that_nobody_waited():
    assert not recordings([dump(rank, ()) for rank in range(4)]).at_rest
    assert recordings([dump(rank, calls(*STEP, done=2)) for rank in range(4)]).at_rest


@pytest.mark.parametrize("number", [2**31, 2**32, 2**63 - 1])
def test_numbers_of_64_bits_are_taken(number):
    one = replace(calls(*STEP, done=2)[0], record=number, sequence=number, created_ns=number)
    sent = with_peers(replace(one, operation="send", input_sizes=((number, number),)), 0, 1)
    assert recordings([dump(0, [one, sent])]).ranks == (0,)


def test_thousands_of_ranks_that_wait_for_half_of_the_others_take_no_time():
    ranks = tuple(range(4096))
    made = calls(("0", "all_reduce", 64), done=0)
    started = time.process_time()
    blame = blamed((dump(rank, made, {"0": ranks}) for rank in ranks[::2]), world=4096)
    assert len(blame.ranks) == 2048
    assert time.process_time() - started < 5


def test_thousands_of_ranks_that_wait_in_as_many_calls_tell_nothing_and_take_no_time():
    ranks = tuple(range(4096))
    last = calls(("0", "all_reduce", 64), done=0)[0]
    started = time.process_time()
    dumps = (dump(rank, [replace(last, sequence=rank)], {"0": ranks}) for rank in ranks[1:])
    assert blamed(dumps, world=4096) is None
    assert time.process_time() - started < 5


def test_two_parts_of_a_split_that_have_one_name_are_two_groups():
    # Rank 3 is late in its pair; the other pair, which PyTorch 2.5 gives the same name, has gone on.
    step = [("5", "all_reduce", 8)]
    pairs = {0: (0, 1), 1: (0, 1), 2: (2, 3), 3: (2, 3)}
    made = {
        0: calls(*step * 9, done=9),
        1: calls(*step * 9, done=9),
        2: calls(*step * 3, done=2),
        3: calls(*step * 2, done=2),
    }
    blame = blamed(dump(rank, made[rank], {"5": pairs[rank]}) for rank in range(4))
    assert (blame.fault, blame.accused, blame.waiting) == (Fault.BEHIND, 3, (2,))
    assert find_mismatches(recordings(dump(rank, made[rank], {"5": pairs[rank]}) for rank in range(4))) == []


def test_a_rank_is_not_accused_for_a_send_of_which_the_name_is_damaged():
    [call] = calls(("0", "send", 8), done=0)
    received = with_peers(replace(call, operation="recv"), 0, 1)
    assert blamed([dump(1, [received]), dump(0, [])]).accused == 0
    blame = blamed([dump(1, [received]), dump(0, [with_peers(call, 999_999_999, 1)])])
    assert blame is None or blame.accused is None


def alone_in(operation: str):
    """Rank 2 does not end a call that the others have ended; they wait for it in the next."""
    said = (("0", operation, 64), ("0", "all_reduce", 8))
    return blamed([dump(rank, calls(*said, done=0 if rank == 2 else 1)) for rank in range(4)])


def test_the_one_rank_that_does_not_end_a_call_is_to_blame_unless_the_call_has_a_root():
    for operation in ("_reduce_scatter_base", "all_to_all", "all_reduce"):
        assert (alone_in(operation).fault, alone_in(operation).accused) == (Fault.ALONE, 2)
    for operation in ("reduce", "broadcast", "scatter"):
        assert (alone_in(operation).fault, alone_in(operation).accused) == (Fault.ALONE, None)
