import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.diagnosis.clocks import Bounds, Clocks, apart
from nccl_logscan.diagnosis.excerpts import Excerpts, Site
from nccl_logscan.events.model import LogText, NcclInit, TorchDumpSignal, TorchWatchdogTimeout, TrainStep
from nccl_logscan.lines.stamps import NO_YEAR
from nccl_logscan.position import Instant, Origin, Position

START = datetime(2026, 3, 3, 10, 0, 0, 500)
AT = Position("log", 1, 0)


def after(seconds: float, start: datetime = START) -> datetime:
    return start + timedelta(seconds=seconds)


def at(seconds: float, clock: str) -> Instant:
    return Instant(after(seconds), clock)


def learn(clocks: Clocks, *events: object) -> Clocks:
    for event in events:
        clocks.feed(event, Site("", Excerpts(), 1))
    clocks.align(str)
    return clocks


def init(phase: str, when: Instant, comm_id: str = "0xabc") -> NcclInit:
    return NcclInit(at=AT, when=when, phase=phase, comm_id=comm_id)


def joined(start: float, end: float, clock: str, comm_id: str = "0xabc") -> tuple[NcclInit, NcclInit]:
    return init("start", at(start, clock), comm_id), init("complete", at(end, clock), comm_id)


def test_clocks_that_saw_one_communicator_begin_are_aligned_by_it():
    clocks = learn(Clocks(), *joined(0, 1, "n1"), *joined(12, 13, "n2"))
    bounds = clocks.ahead("n2", "n1")
    assert (bounds.low, bounds.high) == pytest.approx((11, 13), abs=0.01)
    assert clocks.order(at(20, "n1"), at(31, "n2")) is None
    assert clocks.order(at(20, "n1"), at(34, "n2")) == -1
    assert clocks.order(at(20, "n1"), at(30, "n2")) == 1


def test_the_sentence_states_the_uncertainty():
    clocks = learn(Clocks(), *joined(0, 1, "n1"), *joined(12, 13, "n2"))
    assert clocks.statement(at(0, "n1"), at(0, "n2")) == "The clocks of n1 and n2 differ by 12.0 s ± 1.1 s."
    assert clocks.statement(at(0, "n1"), at(5, "n1")) is None
    assert clocks.statement(at(0, "n1"), at(5, "n3")) is None


def test_clocks_of_two_communicators_are_not_aligned():
    clocks = learn(Clocks(), *joined(0, 1, "n1", "0x1"), *joined(12, 13, "n2", "0x2"))
    assert clocks.order(at(20, "n1"), at(300, "n2")) is None


def test_two_clocks_are_aligned_by_way_of_a_third():
    pairs = (*joined(0, 1, "n1", "0x1"), *joined(5, 6, "n2", "0x1"), *joined(7, 8, "n2", "0x2"))
    clocks = learn(Clocks(), *pairs, *joined(107, 108, "n3", "0x2"))
    assert clocks.order(at(20, "n1"), at(130, "n3")) == -1
    assert clocks.order(at(20, "n1"), at(122, "n3")) == 1


def test_a_collector_s_stamp_is_no_witness():
    clocks = learn(Clocks(), *joined(0, 1, "rfc3339 of n1"), *joined(12, 13, "rfc3339 of n2"))
    assert clocks.order(at(20, "rfc3339 of n1"), at(300, "rfc3339 of n2")) is None


def test_a_second_that_is_printed_whole_is_as_long_as_a_second():
    clocks = Clocks()
    whole = datetime(2026, 3, 3, 10, 0, 0)
    assert clocks.order(Instant(whole, "n1:c10"), Instant(after(0.5, whole), "n1")) is None
    assert clocks.order(Instant(whole, "n1:c10"), Instant(after(1.0005, whole), "n1")) == -1
    assert clocks.order(Instant(after(1, whole), "n1:c10"), Instant(after(0.5, whole), "n1")) == 1


@pytest.mark.parametrize(("seconds", "order"), [(2, None), (60, -1)])
def test_two_clocks_that_state_a_zone_are_taken_for_right_within_seconds(seconds, order):
    one = Instant(START.replace(tzinfo=UTC), "n1")
    other = Instant(after(seconds).replace(tzinfo=UTC).astimezone(timezone(timedelta(hours=2))), "n2")
    assert Clocks().order(one, other) == order


def test_a_clock_that_is_seen_to_be_wrong_is_not_believed_for_its_zone():
    zoned = [
        init(phase, Instant(after(seconds).replace(tzinfo=UTC), clock))
        for clock, skew in (("n1", 0), ("n2", 40))
        for phase, seconds in (("start", skew), ("complete", skew + 1))
    ]
    clocks = learn(Clocks(), *zoned)
    one, other = Instant(after(0).replace(tzinfo=UTC), "n1"), Instant(after(30).replace(tzinfo=UTC), "n2")
    assert clocks.order(one, other) == 1


def test_a_zoned_and_a_zoneless_time_are_not_compared():
    assert Clocks().order(at(0, "n1"), Instant(after(90_000).replace(tzinfo=UTC), "n1")) is None


def test_a_step_of_all_ranks_aligns_their_clocks():
    steps = [
        TrainStep(at=AT, when=at(number + skew, clock), step=number, loss=1.0)
        for clock, skew in (("n1", 0), ("n2", 20))
        for number in range(10)
    ]
    clocks = learn(Clocks(), *steps)
    bounds = clocks.ahead("n2", "n1")
    assert (bounds.low, bounds.high) == pytest.approx((18, 22), abs=0.01)


def test_steps_that_begin_anew_are_no_common_event():
    steps = [
        TrainStep(at=AT, when=at(second + skew, clock), step=second % 6, loss=1.0)
        for clock, skew in (("n1", 0), ("n2", 20))
        for second in range(12)
    ]
    assert learn(Clocks(), *steps).ahead("n1", "n2") == Bounds()


def test_a_dump_signal_comes_after_the_timeout_of_the_rank_that_sent_it():
    sent = TorchWatchdogTimeout(at=AT, when=at(100, "n1"), origin=Origin(rank=3))
    got = TorchDumpSignal(at=AT, when=at(90, "n2"), origin=Origin(rank=4), initiator=3)
    clocks = learn(Clocks(), sent, got)
    assert clocks.ahead("n2", "n1").high == pytest.approx(-10, abs=0.01)
    assert clocks.order(at(50, "n1"), at(60, "n2")) == -1
    assert clocks.order(at(50, "n1"), at(30, "n2")) is None


def test_a_barrier_through_the_store_aligns_who_passed_it():
    texts = [
        (0, "n1", "Added key: store_based_barrier_key:1 to store for rank: 0"),
        (2, "n1", "Rank 0: Completed store-based barrier for key: store_based_barrier_key:1 with 2 nodes."),
        (11, "n2", "Added key: store_based_barrier_key:1 to store for rank: 1"),
        (12, "n2", "Rank 1: Completed store-based barrier for key:store_based_barrier_key:1 with 2 nodes."),
    ]
    clocks = learn(Clocks(), *(LogText(at=AT, when=at(when, clock), message=text) for when, clock, text in texts))
    bounds = clocks.ahead("n2", "n1")
    assert (bounds.low, bounds.high) == pytest.approx((9, 12), abs=0.01)


def test_a_barrier_that_contradicts_itself_says_nothing():
    clocks = learn(Clocks(), *joined(100, 1, "n1"), *joined(100, 1, "n2"))
    assert clocks.ahead("n1", "n2") == Bounds()


def test_a_year_that_is_not_printed_is_the_one_next_to_the_other_time():
    assert apart(datetime(NO_YEAR, 1, 1), datetime(2025, 12, 31, 23, 59, 59)) == 1
    assert apart(datetime(2026, 3, 1), datetime(NO_YEAR, 2, 28)) == 86_400
    assert apart(datetime(NO_YEAR, 1, 1), datetime(NO_YEAR, 12, 31)) == 86_400


@given(one=st.datetimes(timezones=st.none() | st.timezones()), other=st.datetimes(timezones=st.none() | st.timezones()))
def test_no_two_dates_are_too_strange_to_compare(one, other):
    apart(one, other)
    clocks = learn(Clocks(), init("start", Instant(one, "n1")), init("complete", Instant(other, "n2")))
    clocks.order(Instant(one, "n1"), Instant(other, "n2"))
    clocks.on("n1", Instant(other, "n2"))


skews = st.floats(-30, 30)
moments = st.floats(0, 3_600)


@given(data=st.data(), stamps=st.sampled_from(("microseconds", "milliseconds", "seconds")))
def test_an_order_that_is_stated_is_never_wrong(data, stamps):
    """Hosts of any skew join communicators, train in step and send signals; whatever they then say is compared."""
    hosts = [f"n{number}" for number in range(data.draw(st.integers(2, 4)))]
    skew = {host: data.draw(skews) for host in hosts}

    def printed(true: float, host: str) -> Instant:
        value = after(true + skew[host])
        return Instant(datetime.fromisoformat(value.isoformat(timespec=stamps)), host)

    events: list[object] = []
    for number in range(data.draw(st.integers(0, 3))):
        begins = {host: data.draw(st.floats(0, 30)) for host in hosts}
        for host, begin in begins.items():
            end = max(begins.values()) + data.draw(st.floats(0, 5))
            if data.draw(st.booleans()):
                events += [init("start", printed(begin, host), f"0x{number}")]
            if data.draw(st.booleans()):
                events += [init("complete", printed(end, host), f"0x{number}")]
    sent = data.draw(moments)
    events += [
        TorchWatchdogTimeout(at=AT, when=printed(sent, hosts[0]), origin=Origin(rank=0)),
        TorchDumpSignal(
            at=AT, when=printed(sent + data.draw(st.floats(0, 60)), hosts[1]), origin=Origin(rank=1), initiator=0
        ),
    ]
    clocks = learn(Clocks(), *data.draw(st.permutations(events)), *_steps_in_step(data, hosts, printed))

    one, other = data.draw(moments), data.draw(moments)
    first, second = data.draw(st.sampled_from(hosts)), data.draw(st.sampled_from(hosts))
    order = clocks.order(printed(one, first), printed(other, second))
    assert order is None or (order == -1) == (one < other)


def _steps_in_step(data, hosts, printed):
    """Each rank passes the all-reduce of a step when all have come to it, and prints the loss before the next one."""
    events, ready = [], dict.fromkeys(hosts, 100.0)
    for number in range(data.draw(st.integers(0, 6))):
        reduced = max(ready.values())
        for host in hosts:
            ready[host] = reduced + data.draw(st.floats(0, 4))
            events.append(TrainStep(at=AT, when=printed(ready[host], host), step=number, loss=1.0))
    return events


@given(data=st.data())
def test_the_true_difference_of_two_clocks_is_within_the_bounds(data):
    skew = data.draw(skews)
    events = []
    for number in range(data.draw(st.integers(1, 4))):
        begins = [data.draw(st.floats(0, 30)) for _ in range(2)]
        for host, begin, ahead in (("n1", begins[0], 0.0), ("n2", begins[1], skew)):
            end = max(begins) + data.draw(st.floats(0, 5))
            events += joined(begin + ahead, end + ahead, host, f"0x{number}")
    bounds = learn(Clocks(), *events).ahead("n2", "n1")
    assert bounds.low - 1e-6 <= skew <= bounds.high + 1e-6


def test_thousands_of_clocks_that_have_nothing_in_common_take_no_time():
    passed = (event for n in range(1500) for event in joined(0, 1, f"host{n}", f"0x{n}"))
    clocks = learn(Clocks(), *passed)
    started = time.process_time()
    assert clocks.reference() is None
    assert time.process_time() - started < 5
