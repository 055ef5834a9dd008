"""Measures the verdicts on the labelled cases in fixtures/cases and writes reports/accuracy.md.

python tools/accuracy.py           measure and write
python tools/accuracy.py --check   measure and say whether reports/accuracy.md is fresh
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from keyword_baseline import KEYWORDS, keyword_verdict

from nccl_logscan.pipeline import scan
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.sources import open_sources
from nccl_logscan.taxonomy import Category

_ROOT = Path(__file__).resolve().parents[1]
_CASES = _ROOT / "fixtures" / "cases"
_REPORT = _ROOT / "reports" / "accuracy.md"


@dataclass(frozen=True, slots=True)
class Scored:
    """One case, our verdict on it, and the keyword baseline's."""

    id: str
    group: str
    want: str
    also: tuple[str, ...]
    got: str
    confidence: float
    keyword: str
    rank: bool | None
    evidence: bool | None


def main() -> int:
    """Measure all cases; write or compare the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the report is fresh")
    check = parser.parse_args().check
    text = _page([score(path.parent) for path in sorted(_CASES.rglob("case.yaml"))])
    if check:
        fresh = _REPORT.is_file() and _REPORT.read_text() == text
        print("reports/accuracy.md is fresh" if fresh else "reports/accuracy.md is stale: run python tools/accuracy.py")
        return 0 if fresh else 1
    _REPORT.write_text(text)
    print(text)
    return 0


def score(folder: Path) -> Scored:
    """Scan one case's files and compare with its label."""
    case = yaml.safe_load((folder / "case.yaml").read_text())
    files = sorted(str(path) for path in folder.rglob("*") if path.is_file() and path.name != "case.yaml")
    verdict = build_view(scan(files, builtin_rulebook()))["verdict"]
    rank = case.get("culprit_rank")
    return Scored(
        id=case["id"],
        group=folder.name if folder.parent == _CASES else folder.parent.name,
        want=case["category"],
        also=tuple(case.get("also_acceptable") or ()),
        got=verdict["category"],
        confidence=verdict["confidence"],
        keyword=keyword_verdict(_texts(files)),
        rank=None if rank is None else verdict["culprit"]["rank"] == rank,
        evidence=_cites(verdict, case),
    )


def _texts(files: Sequence[str]) -> Iterable[str]:
    """Each input's first 200,000 lines, as the baseline sees them."""
    for source in open_sources(files):
        lines = (raw.text for _, raw in zip(range(200_000), source.lines(), strict=False))
        yield "\n".join(lines)


def _cites(verdict: dict[str, Any], case: dict[str, Any]) -> bool | None:
    given = case.get("evidence_lines")
    if not given or case["category"] == "none":
        return None
    wanted: set[int] = set()
    for entry in given if isinstance(given, list) else [given]:
        first, _, last = str(entry).partition("-")
        if first.isdigit():
            wanted |= set(range(int(first), int(last or first) + 1))
    return any(cited["line"] in wanted for cited in verdict["evidence"])


def _page(cases: Sequence[Scored]) -> str:
    groups = {"all": list(cases)}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    parts = [
        "<!-- written by: python tools/accuracy.py -->",
        "# Accuracy",
        "",
        f"Measured on the {len(cases)} labelled cases in `fixtures/cases`. *Strict*: the category is the labelled one.",
        "*Lenient*: it is that or one that the label calls acceptable. *Rank*: the culprit's global rank, where the",
        "label has one. *Evidence*: a cited line is one that the label calls decisive. *Keywords*: the first of",
        f"{len(KEYWORDS)} ordered patterns that occurs (`tools/keyword_baseline.py`), measured in the same run.",
        "",
        _table(groups),
        "",
        (_CASES / "first-sight.md").read_text().strip(),
        "",
        "## By category",
        "",
        _by_category(cases),
        "",
        "## Calibration",
        "",
        "Of the verdicts given with a confidence in a band, the share that is right (strict).",
        "",
        _calibration(cases),
        "",
        "## What no rule knows",
        "",
        "The models that were tried for it, beside three baselines, stand in [models.md](models.md), the one that is",
        "shipped in its [card](../nccl_logscan/classifier/MODEL.md), and what is said of failures whose rules are",
        "taken away in [without-rules.md](without-rules.md).",
        "",
        "## Where we differ from the label",
        "",
        _misses(cases),
        "",
    ]
    return "\n".join(parts)


def _table(groups: dict[str, list[Scored]]) -> str:
    rows = ["| figure | " + " | ".join(groups) + " |", "|---" * (len(groups) + 1) + "|"]
    figures: tuple[tuple[str, Callable[[Scored], bool | None]], ...] = (
        ("strict", lambda case: case.got == case.want),
        ("strict, keywords", lambda case: case.keyword == case.want),
        ("lenient", lambda case: case.got in {case.want, *case.also}),
        ("lenient, keywords", lambda case: case.keyword in {case.want, *case.also}),
        ("family", lambda case: Category(case.got).family == Category(case.want).family),
        ("healthy called healthy", lambda case: case.got == "none" if case.want == "none" else None),
        ("healthy called healthy, keywords", lambda case: case.keyword == "none" if case.want == "none" else None),
        ("failures called healthy", lambda case: case.got == "none" if case.want != "none" else None),
        ("failures called healthy, keywords", lambda case: case.keyword == "none" if case.want != "none" else None),
        ("abstained", lambda case: case.got == "unknown"),
        ("rank", lambda case: case.rank),
        ("evidence", lambda case: case.evidence),
    )
    for name, holds in figures:
        rows.append(f"| {name} | " + " | ".join(_share(map(holds, group)) for group in groups.values()) + " |")
    return "\n".join(rows)


def _share(answers: Iterable[bool | None]) -> str:
    known = [answer for answer in answers if answer is not None]
    return f"{sum(known)}/{len(known)} = {100 * sum(known) / len(known):.1f} %" if known else "no case"


def _by_category(cases: Sequence[Scored]) -> str:
    rows = ["| category | cases | found | wrongly given | keywords found |", "|---|---|---|---|---|"]
    given = Counter(case.got for case in cases if case.got != case.want)
    for category in sorted({case.want for case in cases}):
        own = [case for case in cases if case.want == category]
        found = sum(case.got == category for case in own)
        keyword = sum(case.keyword == category for case in own)
        rows.append(f"| `{category}` | {len(own)} | {found} | {given[category]} | {keyword} |")
    return "\n".join(rows)


def _calibration(cases: Sequence[Scored]) -> str:
    bands: dict[float, list[bool]] = defaultdict(list)
    for case in cases:
        if case.got != "unknown":
            bands[int(case.confidence * 10) / 10].append(case.got == case.want)
    rows = ["| confidence | verdicts | right |", "|---|---|---|"]
    rows += [f"| {low:.1f} to {low + 0.1:.1f} | {len(own)} | {_share(own)} |" for low, own in sorted(bands.items())]
    return "\n".join(rows)


def _misses(cases: Sequence[Scored]) -> str:
    rows = ["| case | label | verdict | acceptable |", "|---|---|---|---|"]
    rows += [
        f"| {case.group}/{case.id} | `{case.want}` | `{case.got}` | {'yes' if case.got in case.also else 'no'} |"
        for case in cases
        if case.got != case.want
    ]
    return "\n".join(rows) if len(rows) > 2 else "Nowhere."


if __name__ == "__main__":
    sys.exit(main())
