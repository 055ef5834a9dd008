"""Dumps as a job of a few ranks would leave them, written in a line or two a rank."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from nccl_logscan.diagnosis.hang.blame import Blame, Roll, find_blame
from nccl_logscan.diagnosis.hang.recordings import Recordings
from nccl_logscan.recorder.model import Call, Dump, Frame, Group, State, Status

WORLD = {"0": (0, 1, 2, 3)}
STEP = (("0", "all_reduce", 64), ("0", "all_reduce", 128))


def calls(*said: tuple[str, str, int], done: int, dtype: str = "Float") -> list[Call]:
    """Calls of (group, operation, elements) in order, numbered within their groups; the first `done` completed."""
    counts: dict[str, int] = {}
    made = []
    for record, (group, operation, elements) in enumerate(said):
        counts[group] = counts.get(group, 0) + 1
        made.append(
            Call(
                record,
                group,
                operation,
                State.COMPLETED if record < done else State.SCHEDULED,
                sequence=counts[group],
                input_sizes=((elements,),),
                input_dtypes=(dtype,),
                created_ns=1_000_000_000 * (record + 1),
                frames=(Frame("step", "train.py", 10 + record),),
            )
        )
    return made


def dump(rank: int, made: Iterable[Call], groups: Mapping[str, tuple[int, ...]] = WORLD) -> Dump:
    """One rank's dump, with the statuses that its calls make."""
    made = tuple(made)
    statuses = {}
    for name in groups:
        mine = [call for call in made if call.group == name and call.sequence is not None]
        if mine:
            ended = [call.sequence for call in mine if call.state is State.COMPLETED]
            statuses[name] = Status(mine[-1].sequence, None, max(ended, default=None))
    named = {name: Group(name, "default_pg" if name == "0" else name, ranks) for name, ranks in groups.items()}
    return Dump(f"fr_{rank}", "2.10", rank, "2.28.9", named, statuses, made)


def recordings(dumps: Iterable[Dump]) -> Recordings:
    """The dumps, folded."""
    folded = Recordings()
    for order, one in enumerate(dumps):
        folded.take(one, order)
    return folded


def blamed(dumps: Iterable[Dump], world: int = 4, *, heard: bool = False) -> Blame | None:
    """Whom the dumps alone point at."""
    return find_blame(recordings(dumps).progress(), Roll(world, stated=True, heard=lambda _: heard))


def with_peers(call: Call, sender: int, receiver: int) -> Call:
    """The call as a point-to-point one."""
    return replace(call, sequence=None, peers=(sender, receiver))
