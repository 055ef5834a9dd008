"""Lines of NCCL_DEBUG_SUBSYS=TUNING: which algorithm and protocol NCCL chose for a size. None of it is measured.

    AllReduce: 4194304 Bytes -> Algo Tree proto Simple channel{Lo..Hi}={0..7}
    134217728 Bytes -> Algo 1 proto 2 time 1893.774414

The first is of later versions (src/enqueue.cc) and printed by rank 0 alone; the second, of earlier ones, has numbers
for names, and the time that NCCL's model expects.
"""

from __future__ import annotations

from typing import NamedTuple

from nccl_logscan.expressions import deferred

WORDS = frozenset({" bytes -> algo "})
"""Of each line that is read here one, in lower case."""
# NCCL_ALGO_* and NCCL_PROTO_* of NCCL 2.7 to 2.22 (src/include/devcomm.h, nccl_common.h).
_ALGORITHMS = ("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
_PROTOCOLS = ("LL", "LL128", "Simple")
_CHOICE = deferred(
    r"^(?:(?P<collective>[A-Z]\w{2,30}): )?(?P<size>\d{1,18}) Bytes -> Algo (?P<algorithm>\w{1,20})"
    r" proto (?P<protocol>\w{1,20})(?: time (?P<time>\d{1,12}(?:\.\d{1,9})?))?"
)


class Choice(NamedTuple):
    """`collective`: None where the line does not name it. `predicted_us`: the time that NCCL's model gave it."""

    collective: str | None
    size_bytes: int
    algorithm: str
    protocol: str
    predicted_us: float | None


def choice_in(text: str) -> Choice | None:
    """Return the choice that a message of NCCL tells."""
    if " Bytes -> Algo " not in text or (said := _CHOICE.match(text)) is None:
        return None
    time = said["time"]
    return Choice(
        said["collective"],
        int(said["size"]),
        _named(said["algorithm"], _ALGORITHMS),
        _named(said["protocol"], _PROTOCOLS),
        None if time is None else float(time),
    )


def _named(word: str, names: tuple[str, ...]) -> str:
    return names[int(word)] if word.isascii() and word.isdigit() and int(word) < len(names) else word
