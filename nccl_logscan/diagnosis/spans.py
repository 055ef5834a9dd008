"""What took time: the calls that recorders' dumps hold, Ray's tasks, and the stall in which a hang ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from nccl_logscan.diagnosis.hang.recent import TimedCall
from nccl_logscan.diagnosis.hang.recordings import Recordings
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.measured.ray_timeline import RayTimeline, Slice
from nccl_logscan.recorder.model import State
from nccl_logscan.records import dataclass

_SLICES = 4_000
_SAID = 5


@dataclass(frozen=True, slots=True)
class RankCalls:
    """The latest calls of a rank, in the order in which it issued them. `host`: None where it is not known."""

    rank: int
    host: str | None
    calls: tuple[TimedCall, ...]


@dataclass(frozen=True, slots=True)
class Stall:
    """The call that ranks issued and that did not end: of several that for which ranks have waited longest.

    `since_ns`: when the first of `ranks` issued it, in nanoseconds since 1970 by its host's clock. `slices` are what
    Ray's workers did then, of each worker and task the innermost; empty where no timeline of Ray tells.
    """

    since_ns: int
    group: str
    operation: str
    sequence: int | None
    ranks: tuple[int, ...]
    slices: tuple[Slice, ...] = ()


@dataclass(frozen=True, slots=True)
class Spans:
    """The calls of ranks and the slices of Ray's workers. `descriptions`: what groups are for, by their names.

    `left_out` counts the calls and the slices that a bound left out.
    """

    ranks: tuple[RankCalls, ...]
    slices: tuple[Slice, ...]
    descriptions: dict[str, str]
    stall: Stall | None
    left_out: int


class RaySlices:
    """Takes the timelines of Ray one by one; keeps the latest slices of all."""

    def __init__(self) -> None:
        self.slices: tuple[Slice, ...] = ()
        self.left_out = 0

    def take(self, timeline: RayTimeline) -> None:
        """Take in what a file holds."""
        merged = sorted((*self.slices, *timeline.slices), key=lambda one: (one.start_us, -one.end_us, one))
        self.slices = tuple(merged[max(0, len(merged) - _SLICES) :])
        self.left_out += timeline.left_out + len(merged) - len(self.slices)


def find_spans(recordings: Recordings, ray: RaySlices, identity: Identity, *, failed: bool) -> Spans | None:
    """Return what took time; None where neither a dump nor a timeline tells.

    `failed`: the job did. In dumps of a healthy one, which were asked for while it ran, a call that has not ended will.
    """
    by_rank, left_out = recordings.recent_calls()
    ranks = tuple(RankCalls(rank, identity.host_of(rank), calls) for rank, calls in by_rank.items() if calls)
    if not ranks and not ray.slices:
        return None
    groups = sorted({call.group for one in ranks for call in one.calls})
    return Spans(
        ranks=ranks,
        slices=ray.slices,
        descriptions={group: recordings.description(group) for group in groups},
        stall=_stall(ranks, ray.slices) if failed else None,
        left_out=left_out + ray.left_out,
    )


def _stall(ranks: Sequence[RankCalls], slices: Sequence[Slice]) -> Stall | None:
    """Return the stall; a point-to-point call has other numbers on its two ends, so each is one of its own."""
    waiting: dict[tuple[str, str, int | None], list[tuple[int, int]]] = defaultdict(list)
    for one in ranks:
        call = next((call for call in one.calls if call.state is not State.COMPLETED), None)
        if call is not None:
            waiting[call.group, call.operation, call.sequence].append((call.issued_ns, one.rank))
    if not waiting:
        return None
    (group, operation, sequence), issued = min(waiting.items(), key=lambda found: (min(found[1]), found[0][:2]))
    since = min(issued)[0]
    return Stall(
        since, group, operation, sequence, tuple(sorted(rank for _, rank in issued)), tuple(_at(slices, since // 1000))
    )


def _at(slices: Sequence[Slice], moment_us: int) -> Iterator[Slice]:
    """Yield what each worker did at a moment: for each task of it the slice that began last of those open then."""
    open_then: dict[tuple[str, str, str | None], Slice] = {}
    for one in slices:
        if one.start_us <= moment_us < one.end_us and (one.task is not None or one.waits):
            open_then[one.node, one.worker, one.task] = one
    yield from (open_then[key] for key in sorted(open_then, key=str))


def said_at_stall(spans: Spans | None) -> str | None:
    """Return in a sentence what Ray's workers did when the stall began; None where no timeline covers that moment."""
    if spans is None or spans.stall is None or not spans.slices:
        return None
    stall = spans.stall
    number = "" if stall.sequence is None else f" number {stall.sequence}"
    call = f"{stall.operation}{number} of group {stall.group}"
    since_us = stall.since_ns // 1000
    if not min(one.start_us for one in spans.slices) <= since_us < max(one.end_us for one in spans.slices):
        return f"Ray's timeline does not cover the moment when ranks came to {call}, which did not end"
    told = [_said_of(one) for one in stall.slices]
    more = f" and {len(told) - _SAID} more" if len(told) > _SAID else ""
    doing = f"{', '.join(told[:_SAID])}{more}" if told else "no task that has ended since"
    return f"when ranks came to {call}, which did not end, Ray's workers were in: {doing}"


def _said_of(one: Slice) -> str:
    task = one.task or one.name
    return f"{task} on {one.node}" + (f" (waiting in {one.category})" if one.waits else "")
