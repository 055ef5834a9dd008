"""The page that GitHub shows of a step of a job: what the step appends to the file that the runner names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from nccl_logscan.report.view import ReportView
from nccl_logscan.sources.places import is_one_of

VARIABLE = "GITHUB_STEP_SUMMARY"
_LARGEST = 1 << 20
"""Bytes of a step's summary: GitHub shows none that is larger (docs.github.com, workflow commands, step summaries)."""


def append_summary(view: ReportView, read: Sequence[str], written: Sequence[str]) -> str | None:
    """Append the report to the step's summary where a runner asks for one; return why that failed, if it did.

    The file is shared by all commands of the step: what stands in it stays. It is none of the files that the scan has
    `read`; where it is one of the places that reports were `written` to, it has its report already.
    """
    name = os.environ.get(VARIABLE)
    if not name or is_one_of(written, Path(name)):
        return None
    from nccl_logscan.report.markdown import render_markdown  # noqa: PLC0415 - few scans are a step of such a job

    text = f"\n{render_markdown(view)}".encode()
    try:
        path = Path(name)
        if is_one_of(read, path):
            return f"the step's summary {name} is a file that this scan has read; it is left as it is"
        if path.exists() and not path.is_file():
            return f"cannot append to the step's summary {name}: it is no file"
        if path.exists() and path.stat().st_size + len(text) > _LARGEST:
            return f"the step's summary {name} would be larger than GitHub shows"
        with path.open("ab") as summary:
            summary.write(text)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return f"cannot append to the step's summary {name}: {reason.lower()}"
    return None
