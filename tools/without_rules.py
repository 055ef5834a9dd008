"""Takes the rules of one category away after the other, scans the cases of that category and writes what is left.

python tools/without_rules.py           measure and write reports/without-rules.md

So a failure looks that no rule knows: does the classifier say what it is, and does nobody call the job healthy? The
model has been trained on messages of the rules that are taken away; how good it is on messages that it has not seen
stands in nccl_logscan/classifier/MODEL.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import yaml

from nccl_logscan.pipeline import Options, scan
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.taxonomy import Basis, Category

_ROOT = Path(__file__).resolve().parents[1]
_CASES = _ROOT / "fixtures" / "cases"
_REPORT = _ROOT / "reports" / "without-rules.md"
_FAILURES = tuple(one for one in Category if one not in {Category.NONE, Category.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Left:
    """What is said of a case without the rules of its category."""

    name: str
    acceptable: frozenset[str]
    category: Category
    basis: Basis
    others: frozenset[Category]

    @property
    def is_right(self) -> bool:
        """The classifier said what it is."""
        return self.category.value in self.acceptable and self.basis is Basis.CLASSIFIER

    @property
    def is_named(self) -> bool:
        """It stands among the alternatives or the unknown errors: no rule that is left names it."""
        return not self.is_right and any(one.value in self.acceptable for one in self.others)


def main() -> int:
    """Measure and write."""
    rows = []
    for category in _FAILURES:
        left = list(_without(category))
        rows.append((category, left))
        print(f"{category.value}: {sum(one.is_right for one in left)} of {len(left)}", file=sys.stderr)
    _REPORT.write_text(_page(rows), "utf-8")
    return 0


def _without(category: Category) -> Iterator[Left]:
    rules = {name: rule for name, rule in builtin_rulebook().rules.items() if rule.category is not category}
    rulebook = Rulebook(rules, "without " + category.value)
    for label in sorted(_CASES.rglob("case.yaml")):
        plain: dict[str, Any] = yaml.safe_load(label.read_text("utf-8"))
        logs = sorted(path for path in label.parent.rglob("*") if path.is_file() and path != label)
        if plain["category"] == category.value and not any(path.suffix == ".xz" for path in logs):
            result = scan(logs, rulebook, Options(looks_beside=False))
            told = result.diagnosis
            acceptable = frozenset({category.value, *(plain.get("also_acceptable") or ())})
            others = {other.category for other in told.alternatives}
            others |= {group.suggestion.category for group in result.unclaimed if group.suggestion is not None}
            yield Left(str(label.parent.relative_to(_CASES)), acceptable, told.category, told.basis, frozenset(others))


def _page(rows: list[tuple[Category, list[Left]]]) -> str:
    intro = (
        "All rules of a category are taken away, and the cases of that category are scanned. `right`: the classifier "
        "suggests the category as the verdict. `beside`: a rule decides, or nobody does, and the classifier suggests "
        "the category beside that, among the alternatives or of an unknown error. `suggested` is both. "
        "`unknown`: the program says that it does not know. `another`: a rule that is left, or the classifier, says "
        "something else alone. `healthy`: the program says that nothing failed, which is never to be."
    )
    lines = [
        "<!-- written by: python tools/without_rules.py -->",
        "# Without a category's rules",
        "",
        *wrap(intro, 120),
        "",
    ]
    lines += ["| category | cases | suggested | right | beside | unknown | another | healthy |", "|---" * 8 + "|"]
    for category, left in rows:
        if left:
            right = sum(one.is_right for one in left)
            unknown = sum(one.category is Category.UNKNOWN and not one.is_named for one in left)
            healthy = sum(one.category is Category.NONE for one in left)
            beside = sum(one.is_named and one.category is not Category.NONE for one in left)
            another = len(left) - right - beside - unknown - healthy
            share = f"{right + beside} ({100 * (right + beside) / len(left):.0f} %)"
            cells = (category.value, len(left), share, right, beside, unknown, another, healthy)
            lines.append(f"| {' | '.join(map(str, cells))} |")
    called = [one.name for _, left in rows for one in left if one.category is Category.NONE]
    return "\n".join([*lines, "", *([f"Called healthy: {', '.join(called)}.", ""] if called else [])])


if __name__ == "__main__":
    raise SystemExit(main())
