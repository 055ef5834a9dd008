"""Errors of the CUDA runtime and its libraries that a program prints by itself, outside of a Python exception."""

from __future__ import annotations

from nccl_logscan.events.model import CudaError, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine

_FORMS = Gate(
    # nccl-tests, src/common.h: Test CUDA failure common.cu:1045 'text', Test NCCL failure common.cu:958 'code / detail'
    deferred(r"Test (?:CUDA|NCCL) failure |\bC(?:UDA|uda) failure (?:\d|'|\"|\S+:\d)|CUDA initialization failure"),
    deferred(r"\bCUDA error(?: at |[:=([]| \d)"),
    deferred(r"\bCUDA Error(?: at |[:=([]| \d)"),
    # vLLM, csrc/custom_all_reduce.cuh: Failed: Cuda error FILE:LINE 'text'
    deferred(r"\bC(?:UDA|uda) error \S{1,300}:\d{1,7} '"),
    deferred(r"CUDA runtime error"),
    deferred(r"CUDA driver version is insufficient"),
    deferred(r"\bCUBLAS_STATUS_(?!SUCCESS)[A-Z_]+"),
    deferred(r"\bcuBLAS (?:error|failure|API failed)"),
    deferred(r"\bCUDNN_STATUS_(?!SUCCESS)[A-Z_]+"),
    deferred(r"\bcuDNN (?:error|failure)"),
    deferred(r"\bcudaError[A-Z]\w+"),
    deferred(r"\bCUDA_ERROR_[A-Z_]+"),
    # The device's assert(): FILE.cu:LINE: FUNCTION: block: [1,0,0], thread: [32,0,0] Assertion `...` failed.
    deferred(r"\bthread: \[\d{1,7},\d{1,7},\d{1,7}\] Assertion `"),
)
_CODE = deferred(r"(?:\bcode ?[=:] ?|failure (?:with error: ?)?|[Ee]rror:? ?[(=]?)(\d{1,5})\b")


def read(line: LogLine) -> CudaError | None:
    """Return the event of a line that tells of a CUDA, cuBLAS or cuDNN error."""
    text = line.text
    if _FORMS.search(text) is None:
        return None
    code = _CODE.search(text)
    return CudaError(
        **told_by(line, text.strip()),
        code=int(code[1]) if code else None,
    )
