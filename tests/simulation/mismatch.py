"""What TORCH_DISTRIBUTED_DEBUG=DETAIL says about a call on which the ranks of a group disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.job import Call
from tests.simulation.torch_words import OP_TYPES

if TYPE_CHECKING:
    from tests.simulation.failure import Failure

_OPTIONS = (
    "device=cuda, layout=Strided (default), requires_grad=false (default), pinned_memory=false (default), "
    "memory_format=(nullopt)"
)


def detect(failure: Failure) -> None:
    """Let all ranks of the group raise the exception, each comparing itself with the first that differs from it."""
    assert failure.blocked.contested is not None
    group, seq = failure.blocked.contested
    culprit, scene = failure.culprit, failure.scene
    calls = {
        rank: call
        for rank in group.ranks
        for call in failure.blocked.calls[rank]
        if call.group is group and call.seq == seq and not call.op.peer
    }
    plain = next(rank for rank in calls if rank != culprit)
    for rank, call in calls.items():
        other = plain if rank == culprit else culprit
        at = failure.begin + failure.rng.uniform(0.0, 0.3)
        error = (
            f"RuntimeError: Detected mismatch between collectives on ranks. Rank {group.ranks.index(rank)} is running "
            f"collective: {_print(call)}, but Rank {group.ranks.index(other)} is running collective: "
            f"{_print(calls[other])}.Collectives differ in the following aspects: {_difference(call, calls[other])}"
        )
        library = "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
        frames = [
            ("/workspace/train/train.py", 77, "<module>", "main()"),
            (library, 2501, call.op.name, "work = group.allreduce([tensor], opts)"),
        ]
        known = scene.tells_rank(scene.torch.hooks or group.kind == "world")
        failure.say(rank, at, scene.torch.traceback(rank, frames, error), ("detail", rank) if known else ("anonymous",))
        failure.natural[rank] = (at + failure.rng.uniform(0.3, 0.8), 1)
    failure.settle()


def _print(call: Call) -> str:
    op = call.op
    return (
        f"CollectiveFingerPrint(SequenceNumber={call.seq}, OpType={OP_TYPES[op.name]}, TensorShape=[{op.numel}], "
        f"TensorDtypes={op.dtype}, TensorDeviceTypes=TensorOptions(dtype={op.dtype.lower()} (default), {_OPTIONS}))"
    )


def _difference(one: Call, other: Call) -> str:
    parts = []
    if one.op.name != other.op.name:
        parts.append(f"  Op type: {OP_TYPES[one.op.name]}vs {OP_TYPES[other.op.name]}")
    if one.op.numel != other.op.numel:
        parts.append(f"  Tensor Tensor shapes: {one.op.numel}vs {other.op.numel}")
    if one.op.dtype != other.op.dtype:
        parts.append(f"  Tensor Tensor dtypes: {one.op.dtype}vs {other.op.dtype}")
    return "".join(parts)
