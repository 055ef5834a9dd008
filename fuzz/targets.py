"""All targets, by name."""

from __future__ import annotations

from fuzz import files, lines, reports, scans
from fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target for target in (*lines.TARGETS, *files.TARGETS, *reports.TARGETS, *scans.TARGETS)
}
