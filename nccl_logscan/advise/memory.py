"""What the number of parameters does decide: memory of the training state, and the size and time of a checkpoint.

Bytes per parameter with Adam in mixed precision: ZeRO (https://arxiv.org/abs/1910.02054) counts 2 for the weights, 2
for the gradients and 12 for the optimizer (fp32 weights and two moments). Megatron's distributed optimizer with fp32
gradients: 6 + 12/d (docs/source/api-guide/dist_optimizer.md). GB are 10^9 bytes. Activations, buffers and
fragmentation come on top; none of it decides NCCL's buffers, channels or timeouts.
"""

from __future__ import annotations

from math import ceil, sqrt

from nccl_logscan.advise.run import Run
from nccl_logscan.records import dataclass

_GB = 10**9
_CHECKPOINT_BYTES = 14
"""Per parameter: 2 for bf16 or fp16 weights, 12 for fp32 weights and two moments."""

GPU_HOURS_PER_FAILURE = 50_000
"""16,384 GPUs were interrupted 419 times unexpectedly in 54 days: one in 50,700 GPU hours."""
FAILURE_SOURCE = "Llama 3 (https://arxiv.org/abs/2407.21783): 419 unexpected interruptions of 16,384 GPUs in 54 days"
INTERVAL_SOURCE = "interval = sqrt(2 x time to failure x time of a save), https://arxiv.org/abs/2410.18124"
ZERO_SOURCE = "https://arxiv.org/abs/1910.02054"
MEGATRON_SOURCE = "https://github.com/NVIDIA/Megatron-LM/blob/main/docs/source/api-guide/dist_optimizer.md"

_ZERO = {
    "ddp": ("DDP, nothing sharded", "16 P", 16, 0),
    "zero1": ("ZeRO-1: optimizer sharded", "4 P + 12 P/N", 4, 12),
    "zero2": ("ZeRO-2: gradients too", "2 P + 14 P/N", 2, 14),
    "zero3": ("ZeRO-3 or FSDP: weights too", "16 P/N", 0, 16),
}


@dataclass(frozen=True, slots=True)
class StateSize:
    """Training state per GPU in GB under one way to shard; `fits` is None where the GPU was not said.

    `formula` is in P (parameters), N (GPUs) and m (ranks of tensor times pipeline parallelism).
    """

    scheme: str
    title: str
    formula: str
    gigabytes: float
    fits: bool | None
    usual: bool
    source: str


@dataclass(frozen=True, slots=True)
class Saving:
    """An estimate: the time of one save in seconds at a write bandwidth in GB/s, and seconds between saves."""

    bandwidth: float
    seconds: float
    interval: float


@dataclass(frozen=True, slots=True)
class Memory:
    """What follows from the size of the model. `weights` and `checkpoint` are GB in all, not per GPU."""

    weights: float
    states: tuple[StateSize, ...]
    checkpoint: float
    hours_to_failure: float
    savings: tuple[Saving, ...]


def memory_of(run: Run, bandwidths: tuple[float, ...]) -> Memory:
    """Return the arithmetic for a run; `bandwidths` are those at which all ranks together write, in GB/s."""
    params = run.params
    checkpoint = _CHECKPOINT_BYTES * params / _GB
    hours = GPU_HOURS_PER_FAILURE / run.ranks
    inference = run.framework.sharding == "inference"
    return Memory(
        weights=2 * params / _GB,
        states=_inference(run) if inference else (*_zero(run), *_megatron(run)),
        checkpoint=checkpoint,
        hours_to_failure=hours,
        savings=() if inference else tuple(_saving(checkpoint, hours, each) for each in bandwidths),
    )


def _zero(run: Run) -> tuple[StateSize, ...]:
    sizes = []
    for scheme, (title, formula, everywhere, sharded) in _ZERO.items():
        size = (everywhere + sharded / run.ranks) * run.params / _GB
        usual = scheme == run.framework.sharding
        sizes.append(StateSize(scheme, title, formula, size, _fits(run, size), usual, ZERO_SOURCE))
    return tuple(sizes)


def _megatron(run: Run) -> tuple[StateSize, ...]:
    """Return Megatron's distributed optimizer at the least model parallelism whose state fits, or 1 if none does."""
    if run.framework.sharding != "megatron":
        return ()
    degrees = [2**power for power in range(12) if run.ranks % 2**power == 0]
    degree = next((each for each in degrees if _fits(run, _megatron_gb(run, each))), degrees[-1])
    if run.gpu is None:
        degree = 1
    size = _megatron_gb(run, degree)
    title = f"Megatron, distributed optimizer, TP x PP = {degree}"
    return (StateSize("megatron", title, "6 P/m + 12 P/N", size, _fits(run, size), True, MEGATRON_SOURCE),)


def _megatron_gb(run: Run, degree: int) -> float:
    return (6 / degree + 12 / run.ranks) * run.params / _GB


def _inference(run: Run) -> tuple[StateSize, ...]:
    size = 2 * run.params / run.ranks / _GB
    title = "weights of 2 bytes over all GPUs, without the KV cache"
    return (StateSize("inference", title, "2 P/N", size, _fits(run, size), True, ZERO_SOURCE),)


def _fits(run: Run, gigabytes: float) -> bool | None:
    return None if run.gpu is None else gigabytes < run.gpu.memory


def _saving(checkpoint: float, hours: float, bandwidth: float) -> Saving:
    seconds = checkpoint / bandwidth
    return Saving(bandwidth, seconds, float(ceil(sqrt(2 * hours * 3600 * seconds))))
