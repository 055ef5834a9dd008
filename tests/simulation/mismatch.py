"""What TORCH_DISTRIBUTED_DEBUG=DETAIL says about a call on which the ranks of a group disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.job import Call
from tests.simulation.torch_words import _TYPES

if TYPE_CHECKING:
    from tests.simulation.failure import Failure


def detected(failure: Failure) -> None:
    """All ranks of the group raise the exception, each comparing with the first that differs from it."""
    assert failure.blocked.contested is not None
    group, seq = failure.blocked.contested
    culprit = failure.culprit
    own = {rank: _at(failure, rank, seq) for rank in group.ranks}
    odd = own[culprit]
    plain = next((rank for rank in group.ranks if rank != culprit and own[rank] is not None), None)
    if odd is None or plain is None:
        return
    for rank in group.ranks:
        call, other = own[rank], plain if rank == culprit else culprit
        theirs = own[other]
        if call is None or theirs is None:
            continue
        at = failure.begin + failure.rng.uniform(0.0, 0.3)
        error = (
            f"RuntimeError: Detected mismatch between collectives on ranks. Rank {group.ranks.index(rank)} is running "
            f"collective: {_print(call)}, but Rank {group.ranks.index(other)} is running collective: {_print(theirs)}."
            f"Collectives differ in the following aspects: {_difference(call, theirs)}"
        )
        frames = [
            ("/workspace/train/train.py", 77, "<module>", "main()"),
            (
                "/opt/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py",
                2501,
                call.op.name,
                "work = group.allreduce([tensor], opts)",
            ),
        ]
        failure.say(rank, at, failure.torch.traceback(rank, frames, error), ("detail", rank))
        failure.natural[rank] = (at + failure.rng.uniform(0.3, 0.8), 1)
    failure.settle()


def _at(failure: Failure, rank: int, seq: int) -> Call | None:
    assert failure.blocked.contested is not None
    group = failure.blocked.contested[0]
    return next((call for call in failure.blocked.calls[rank] if call.group is group and call.seq == seq), None)


def _print(call: Call) -> str:
    return (
        f"CollectiveFingerPrint(SequenceNumber={call.seq}, OpType={_TYPES[call.op.name]}, TensorShape=[{call.op.numel}], "
        f"TensorDtypes={call.op.dtype}, TensorDeviceTypes=TensorOptions(dtype={call.op.dtype.lower()} (default), "
        "device=cuda, layout=Strided (default), requires_grad=false (default), pinned_memory=false (default), "
        "memory_format=(nullopt)))"
    )


def _difference(one: Call, other: Call) -> str:
    parts = []
    if one.op.name != other.op.name:
        parts.append(f"  Op type: {_TYPES[one.op.name]}vs {_TYPES[other.op.name]}")
    if one.op.numel != other.op.numel:
        parts.append(f"  Tensor Tensor shapes: {one.op.numel}vs {other.op.numel}")
    if one.op.dtype != other.op.dtype:
        parts.append(f"  Tensor Tensor dtypes: {one.op.dtype}vs {other.op.dtype}")
    return "".join(parts)
