"""The labelled cases of fixtures/cases, and one scan of each."""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from nccl_logscan import scan
from nccl_logscan.report.view import build_view

CASES = Path(__file__).parents[1] / "fixtures" / "cases"

# The storm is 679 MB once unpacked, all of it like its beginning; the whole is read by tools/accuracy.py.
_STORM_BYTES = 4 << 20


@dataclass(frozen=True)
class Case:
    folder: Path

    @property
    def name(self):
        return str(self.folder.relative_to(CASES))

    @cached_property
    def label(self) -> dict[str, Any]:
        return yaml.safe_load((self.folder / "case.yaml").read_text("utf-8"))

    @property
    def inputs(self):
        return sorted(path for path in self.folder.rglob("*") if path.is_file() and path.name != "case.yaml")

    @property
    def acceptable(self):
        return {self.label["category"], *(self.label.get("also_acceptable") or ())}

    @property
    def evidence_lines(self):
        given = self.label.get("evidence_lines") or ()
        lines = set()
        for entry in given if isinstance(given, list) else [given]:
            first, _, last = str(entry).partition("-")
            if first.isdigit():
                lines.update(range(int(first), int(last or first) + 1))
        return lines

    @property
    def is_healthy(self):
        return self.label["category"] == "none"

    def texts(self):
        """Each log's text by its name, as UTF-8 whatever its packing."""
        logs = [path for path in self.inputs if ".log" in path.suffixes]
        return {str(path.relative_to(self.folder)): _text_of(path) for path in logs}


def _text_of(path):
    if path.suffix == ".xz":
        with lzma.open(path) as packed:
            return packed.read(_STORM_BYTES).decode("utf-8", "replace")
    return path.read_bytes().decode("utf-8", "replace")


ALL = tuple(Case(label.parent) for label in sorted(CASES.rglob("case.yaml")))
BY_NAME = {case.name: case for case in ALL}


@cache
def report_of(case, folder):
    """The report on a case's files as a user would name them; a packed log is unpacked in part, into `folder`."""
    files = []
    for path in case.inputs:
        if path.suffix == ".xz":
            part = Path(folder) / path.stem
            part.write_text(_text_of(path), "utf-8")
            files.append(str(part))
        else:
            files.append(str(path))
    return build_view(scan(files))
