"""Numbers that logs print in place of words: results, statuses, Xids, signals, CUDA errors.

`data/codes.jsonl` holds one a line. CUDA's names and texts are those of the CUDA 13.0 runtime (cudaGetErrorName,
cudaGetErrorString); the meanings are ours.
"""

from __future__ import annotations

import json
from enum import StrEnum
from functools import cache
from importlib import resources

from nccl_logscan.records import dataclass


class CodeKind(StrEnum):
    """What a number counts. Several count from 0, so that a bare number means something in each of them."""

    NCCL_RESULT = "nccl-result"
    IBV_WC_STATUS = "ibv-wc-status"
    IBV_EVENT = "ibv-event"
    MLX5_SYNDROME = "mlx5-syndrome"
    MLX5_VENDOR_ERROR = "mlx5-vendor-error"
    XID = "xid"
    SIGNAL = "signal"
    EXIT_CODE = "exit-code"
    CUDA_ERROR = "cuda-error"


@dataclass(frozen=True, slots=True)
class Code:
    """A number and its name. `text` is how its library words it; `since` is NCCL's version, "" for from the beginning.

    `meaning` is None where the text says all that is known, `advice` where there is none.
    """

    kind: CodeKind
    number: int
    name: str
    source: str
    text: str | None = None
    meaning: str | None = None
    advice: str | None = None
    since: str = ""


@cache
def codes() -> tuple[Code, ...]:
    """Return every known code, by kind and number."""
    lines = (resources.files("nccl_logscan.catalogue") / "data" / "codes.jsonl").read_text("utf-8").splitlines()
    found = (json.loads(line) for line in lines)
    return tuple(Code(**{**entry, "kind": CodeKind(entry["kind"])}) for entry in found)
