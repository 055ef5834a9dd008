"""Where the tests of this folder find what they try."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
INTEGRATIONS = ROOT / "integrations"
LAB = ROOT / "fixtures" / "cases" / "lab"
PROGRAM = Path(sys.executable).with_name("nccl-logscan")
"""As pip installs it, with Python beside it."""
