"""Prints the outputs of action.yml as lines for $GITHUB_OUTPUT: outputs.py VERDICT.json REPORT..."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def outputs(verdict: dict[str, Any], reports: Sequence[str]) -> dict[str, str]:
    """Return the outputs by name; `reports` are the places of reports, of which those that were written count."""
    written = [report for report in reports if Path(report).is_file()]
    return {
        "category": verdict["category"],
        "confidence": str(verdict["confidence"]),
        "rule": verdict["rule"] or "",
        "headline": " ".join(verdict["headline"].split()),
        "report": written[0] if written else "",
        "reports": "\n".join(written),
    }


def line_of(name: str, value: str) -> str:
    """Return an output as the runner reads it; what stands in the value cannot end it."""
    end = f"end-{secrets.token_hex(16)}"
    return f"{name}<<{end}\n{value}\n{end}\n"


if __name__ == "__main__":
    report = json.loads(Path(sys.argv[1]).read_bytes())
    told = "".join(line_of(name, value) for name, value in outputs(report["verdict"], sys.argv[2:]).items())
    sys.stdout.buffer.write(told.encode("utf-8", "surrogateescape"))
