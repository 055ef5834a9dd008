"""Errors of the CUDA runtime and its libraries that a program prints by itself, outside of a Python exception."""

from __future__ import annotations

import re

from nccl_logscan.events.model import CudaError
from nccl_logscan.lines.model import LogLine

# Each literal is looked for before its expression; the first expression that is found decides.
_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # nccl-tests, src/common.h: Test CUDA failure common.cu:1045 'text', Test NCCL failure common.cu:958 'code / detail'
    (
        "failure ",
        re.compile(
            r"Test (?:CUDA|NCCL) failure |\bC(?:UDA|uda) failure (?:\d|'|\"|\S+:\d)|CUDA initialization failure"
        ),
    ),
    ("CUDA error", re.compile(r"\bCUDA error(?: at |[:=([]| \d)")),
    ("CUDA Error", re.compile(r"\bCUDA Error(?: at |[:=([]| \d)")),
    ("CUDA runtime error", re.compile(r"CUDA runtime error")),
    ("CUDA driver version", re.compile(r"CUDA driver version is insufficient")),
    ("CUBLAS", re.compile(r"\bCUBLAS_STATUS_(?!SUCCESS)[A-Z_]+")),
    ("cuBLAS", re.compile(r"\bcuBLAS (?:error|failure|API failed)")),
    ("CUDNN", re.compile(r"\bCUDNN_STATUS_(?!SUCCESS)[A-Z_]+")),
    ("cuDNN", re.compile(r"\bcuDNN (?:error|failure)")),
    ("cudaError", re.compile(r"\bcudaError[A-Z]\w+")),
    ("CUDA_ERROR_", re.compile(r"\bCUDA_ERROR_[A-Z_]+")),
    # The device's assert(): FILE.cu:LINE: FUNCTION: block: [1,0,0], thread: [32,0,0] Assertion `...` failed.
    ("Assertion `", re.compile(r"\bthread: \[\d{1,7},\d{1,7},\d{1,7}\] Assertion `")),
)
_CODE = re.compile(r"(?:\bcode ?[=:] ?|failure (?:with error: ?)?|[Ee]rror:? ?[(=]?)(\d{1,5})\b")


def read(line: LogLine) -> CudaError | None:
    """Return the event of a line that tells of a CUDA, cuBLAS or cuDNN error."""
    text = line.text
    # Every form above holds one of these.
    if (
        "UD" not in text
        and "uda" not in text
        and "uDNN" not in text
        and "BLAS" not in text
        and "NCCL f" not in text
        and "n `" not in text
    ):
        return None
    for literal, expression in _FORMS:
        if literal in text and expression.search(text):
            code = _CODE.search(text)
            return CudaError(
                at=line.at,
                origin=line.origin,
                when=line.when,
                message=text.strip(),
                repeated=line.repeated,
                code=int(code[1]) if code else None,
            )
    return None
