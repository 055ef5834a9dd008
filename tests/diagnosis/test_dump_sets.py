"""Dumps of several jobs, runs and attempts in one folder."""

from dataclasses import replace

from recorded import STEP, calls, dump

from nccl_logscan.diagnosis.hang.blame import Roll, find_blame
from nccl_logscan.diagnosis.hang.dump_sets import DumpSets

HOUR = 3600 * 10**9


def job(size: int, late: int, *, begun_ns: int = 0) -> list:
    """A job's dumps, of which one rank did not come to the last call."""
    dumps = []
    for rank in range(size):
        made = calls(*STEP * (2 if rank == late else 3), done=4)
        made = [replace(call, created_ns=(call.created_ns or 0) + begun_ns) for call in made]
        dumps.append(dump(rank, made, {"0": tuple(range(size))}))
    return dumps


def late_in(sets: DumpSets, attempt: int = 0) -> int | None:
    blame = find_blame(sets.of(attempt).progress(), Roll(8, stated=True, heard=lambda _: False))
    return None if blame is None else blame.accused


def test_dumps_of_two_jobs_are_not_held_to_each_other():
    sets = DumpSets()
    for order, one in enumerate([*job(4, late=2), *job(8, late=5)]):
        sets.take(one, 0, order)
    assert late_in(sets) == 5
    assert "another job" in "".join(sets.left_out(0))


def test_the_dumps_of_an_earlier_attempt_say_nothing_of_the_last_one():
    sets = DumpSets()
    for attempt, late in ((0, 2), (1, 3)):
        for order, one in enumerate(job(4, late)):
            sets.take(one, attempt, order)
    assert (late_in(sets, 0), late_in(sets, 1)) == (2, 3)
    assert not [*sets.left_out(1)]


def test_a_dump_of_yesterday_does_not_stand_in_for_a_rank_of_today():
    sets = DumpSets()
    for order, one in enumerate([job(4, late=1)[0], *job(4, late=3, begun_ns=24 * HOUR)[1:]]):
        sets.take(one, 0, order)
    assert late_in(sets) == 3
    assert sets.of(0).ranks == (1, 2, 3)
    assert "fr_0: the last call is more than an hour before" in "".join(sets.left_out(0))


def test_of_two_dumps_of_a_rank_the_report_says_which_one_did_not_count():
    first, last = dump(0, calls(*STEP, done=2)), dump(0, calls(*STEP * 2, done=4))
    for both in ((first, last), (last, first)):
        sets = DumpSets()
        for order, (name, one) in enumerate(zip(("a", "b"), both, strict=True)):
            sets.take(replace(one, source=name), 0, order)
        sets.of(0)
        (said,) = sets.left_out(0)
        assert said.startswith("a:" if both[0] is first else "b:")


def test_a_dump_that_does_not_say_who_is_in_the_world_is_of_the_job_that_the_others_are_of():
    first, *rest = job(4, late=2)
    for dumps in ([replace(first, groups={}), *rest], [*rest, replace(first, groups={})]):
        sets = DumpSets()
        for order, one in enumerate(dumps):
            sets.take(one, 0, order)
        assert sets.of(0).ranks == (0, 1, 2, 3)


def test_dumps_of_a_thousand_worlds_are_bounded():
    sets = DumpSets()
    for size in range(1, 1000):
        sets.take(dump(0, calls(*STEP, done=2), {"0": tuple(range(size))}), 0, size)
    assert len([*sets.left_out(0)]) < 64


def test_dumps_from_before_the_steps_that_the_log_shows_are_of_an_earlier_run():
    sets = DumpSets()
    for order, one in enumerate(job(4, late=3, begun_ns=24 * HOUR)):
        sets.take(one, 0, order)
    assert sets.of(0, stepped_at=24 * 3600.0).ranks == (0, 1, 2, 3)
    assert not sets.of(0, stepped_at=48 * 3600.0)
    assert "before the log's last step" in "".join(sets.left_out(0))
