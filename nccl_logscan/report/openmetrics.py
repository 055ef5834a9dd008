"""The verdict as metrics, for the textfile collector of Prometheus' node_exporter and for readers of OpenMetrics.

The collector reads Prometheus' older text format: it refuses types of OpenMetrics alone (`info`, `stateset`) and times
beside a sample, and takes `# EOF` for a comment. So all are gauges, and a state is a 1 among zeros.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nccl_logscan.report.view import ReportView
from nccl_logscan.report.visible import short, visible
from nccl_logscan.taxonomy import Category, Level, Role

_LABEL_LIMIT = 120
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_Samples = Sequence[tuple[Mapping[str, str], float]]


def render_openmetrics(view: ReportView, *, now: float | None = None) -> str:
    """Return a family a fact; `now` is when the scan ended, in seconds since 1970, else the time of the call.

    Labels are of closed sets (categories, levels, roles, rules) but for those of the one culprit. A folder of the
    collector holds one such file: two would give the same series twice, which is an error to it.
    """
    families = (_family(*family) for family in _families(view, time.time() if now is None else now))
    return "".join(families) + "# EOF\n"


def _families(view: ReportView, now: float) -> Iterator[tuple[str, str, _Samples]]:
    verdict, coverage, tool = view["verdict"], view["coverage"], view["tool"]
    build = {"version": tool["version"], "rules_digest": tool["rules_digest"][:12]}
    yield "build_info", "The program that scanned.", [(build, 1)]
    yield "failed", "Whether the job failed or may have.", [({}, verdict["category"] != Category.NONE)]
    states = [({"category": state.value}, state == verdict["category"]) for state in Category]
    yield "verdict", "What failed first: 1 at its category.", states
    levels = [({"level": level.value}, level == verdict["level"]) for level in Level]
    yield "verdict_level", "How sure the verdict is, in words: 1 at its level.", levels
    yield "confidence_ratio", "How sure the verdict is, calibrated.", [({}, verdict["confidence"])]
    if culprit := _culprit(verdict["culprit"]):
        yield "culprit_info", "Where the failure began, as far as it is known.", [(culprit, 1)]
    roles = Counter(finding["role"] for finding in view["findings"])
    yield "findings", "Findings by their role.", [({"role": role.value}, roles[role.value]) for role in Role]
    matches = sorted(_matches(view).items())
    if matches:
        counted = [({"rule": rule, "role": role}, count) for (rule, role), count in matches]
        yield "rule_matches", "How often each rule was met.", counted
    yield "read_lines", "Lines read.", [({}, coverage["lines"])]
    yield "read_bytes", "Bytes read, decompressed.", [({}, coverage["bytes"])]
    yield "unrecognised_lines", "Warnings and errors that no rule knew.", [({}, coverage["unrecognised_nccl_lines"])]
    yield "scan_duration_seconds", "Time that the scan took.", [({}, coverage["seconds"])]
    yield "scan_timestamp_seconds", "When the scan ended, since 1970.", [({}, round(now, 3))]


def _culprit(culprit: Mapping[str, Any]) -> dict[str, str]:
    names = ("rank", "host", "adapter")
    return {name: str(culprit[name]) for name in names if culprit[name] is not None}


def _matches(view: ReportView) -> Counter[tuple[str, str]]:
    matches: Counter[tuple[str, str]] = Counter()
    for finding in view["findings"]:
        matches[_shown(finding["rule"]), finding["role"]] += finding["count"]
    return matches


def _family(name: str, said: str, samples: _Samples) -> str:
    full = f"nccl_logscan_{name}"
    rows = "".join(f"{full}{_labels(labels)} {_number(value)}\n" for labels, value in samples)
    return f"# HELP {full} {said}\n# TYPE {full} gauge\n{rows}"


def _shown(value: str) -> str:
    return short(visible(value), _LABEL_LIMIT)


def _labels(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{_shown(value).translate(_ESCAPES)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
