"""Of the calls that dumps hold the latest are kept with their times, some of every rank and never above a bound."""

from __future__ import annotations

from nccl_logscan.diagnosis.hang.recent import RecentCalls
from nccl_logscan.recorder.model import Call, Dump, State, Status
from nccl_logscan.records import replace


def calls(count, **changes):
    return tuple(
        Call(
            record=number,
            group="0",
            operation="all_reduce",
            sequence=number,
            state=State.SCHEDULED,
            created_ns=number + 1,
            **changes,
        )
        for number in range(count)
    )


def dump(count, **changes):
    return Dump("fr_0", "2.10", calls=calls(count), **changes)


def kept_of(lengths, limit):
    recent = RecentCalls(limit)
    for rank, length in enumerate(lengths):
        recent.take(rank, dump(length))
    kept, left_out = recent.conclude()
    return {rank: [call.sequence for call in timed] for rank, timed in kept.items()}, left_out


def test_the_latest_calls_stay_and_a_rank_with_few_gives_its_room_to_the_others():
    kept, left_out = kept_of([2, 20, 20], limit=12)

    assert kept == {0: [0, 1], 1: [15, 16, 17, 18, 19], 2: [15, 16, 17, 18, 19]}
    assert left_out == 30


def test_however_many_ranks_there_are_the_bound_holds():
    kept, left_out = kept_of([3] * 40, limit=10)

    assert sum(map(len, kept.values())) <= 10
    assert left_out == 120 - sum(map(len, kept.values()))


def test_another_dump_of_a_rank_takes_the_place_of_the_first():
    recent = RecentCalls()
    recent.take(0, dump(5))
    recent.take(0, dump(2))

    kept, left_out = recent.conclude()
    assert ([call.sequence for call in kept[0]], left_out) == ([0, 1], 0)


def test_a_group_s_counter_tells_of_a_call_that_it_has_ended():
    recent = RecentCalls()
    recent.take(0, dump(3, statuses={"0": Status(last_completed=1)}))

    states = [call.state for call in recent.conclude()[0][0]]
    assert states == [State.COMPLETED, State.COMPLETED, State.SCHEDULED]


def test_a_call_without_a_time_is_passed_over():
    recent = RecentCalls()
    untimed = Call(record=9, group="0", operation="barrier", state=State.SCHEDULED, sequence=9)
    recent.take(0, Dump("fr_0", "2.10", calls=(*calls(1), untimed)))

    assert [call.operation for call in recent.conclude()[0][0]] == ["all_reduce"]


def test_a_time_that_no_calendar_has_is_none():
    recent = RecentCalls()
    recent.take(0, Dump("fr_0", "2.10", calls=calls(2, completed_ns=1 << 80)))
    recent.take(1, Dump("fr_1", "2.10", calls=tuple(replace(call, created_ns=1 << 80) for call in calls(2))))

    kept, _ = recent.conclude()
    assert [call.completed_ns for call in kept[0]] == [None, None]
    assert kept[1] == ()
