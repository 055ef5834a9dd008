"""Which modules' branches guide the fuzzer, by target: the fewer are watched, the more inputs a second."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.target import ROOT

_SAID = ("nccl_logscan.report.visible", "nccl_logscan.report.filters", "nccl_logscan.report.wording")

WATCHED = {
    "lines": ("nccl_logscan.sources.text",),
    "prefixes": ("nccl_logscan.lines",),
    "events": ("nccl_logscan.events", "nccl_logscan.numbers"),
    "rule_files": ("nccl_logscan.rulebook",),
    "dumps": ("nccl_logscan.recorder",),
    "configs": ("nccl_logscan.configs",),
    "html": (*_SAID, "nccl_logscan.report.graph", "nccl_logscan.report.heat_map", "nccl_logscan.report.picture"),
    "sarif": (*_SAID, "nccl_logscan.report.sarif", "nccl_logscan.report.sarif_parts", "nccl_logscan.report.remarks"),
    "forms": (
        *_SAID,
        "nccl_logscan.report.markdown_text",
        "nccl_logscan.report.openmetrics",
        "nccl_logscan.report.text",
        "nccl_logscan.report.trace",
    ),
    "scans": ("nccl_logscan.diagnosis", "nccl_logscan.pipeline", "nccl_logscan.report.view"),
}
"""Modules, or packages with all that is in them."""


def unwatched(target: str) -> Iterator[str]:
    """Yield the modules of the program that a target need not have watched; they are not imported for that."""
    for path in (ROOT / "nccl_logscan").rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if not any(name == watched or name.startswith(f"{watched}.") for watched in WATCHED[target]):
            yield name
