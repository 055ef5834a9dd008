"""What a labelled message is, and how many sayings of one template become one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType

_SUREST_FIRST = (("rule",), ("case", "healthy"), ("collected",), ("catalogue",))
_RANK = {origin: rank for rank, origins in enumerate(_SUREST_FIRST) for origin in origins}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A masked message, what it is taken for, and where it is from.

    `origin`: rule, case, healthy, collected or catalogue. `scenarios`: what it must not be parted from when the set is
    split: its rule, case or source file. `file`: the source file that wrote it, as far as its line names one.
    """

    template: str
    category: str
    scenarios: tuple[str, ...]
    kind: str
    origin: str
    source: str
    file: str = ""

    def plain(self) -> dict[str, object]:
        """Return the message as its line of the file says it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A template that sources name differently. `kept` is the category of the surest; None: those differ as well."""

    template: str
    categories: tuple[str, ...]
    kept: str | None


def settled(
    found: Iterable[Labelled], reviewed: Mapping[str, str | None] = MappingProxyType({})
) -> tuple[Sequence[Labelled], Sequence[Conflict]]:
    """Return one message for each template, sorted, and what the sources did not agree on.

    What a reader said of a template in `reviewed` holds: its category, or None for one that teaches nothing. Else the
    surest source holds: rule, then case, then collected, then catalogue. Where two of these differ among themselves,
    the template is left out.
    """
    by_template: dict[str, list[Labelled]] = defaultdict(list)
    for one in found:
        by_template[one.template].append(one)
    kept: list[Labelled] = []
    conflicts: list[Conflict] = []
    for text, told in sorted(by_template.items()):
        best = min(_RANK[one.origin] for one in told)
        surest = {one.category for one in told if _RANK[one.origin] == best}
        categories = tuple(sorted({one.category for one in told}))
        category = reviewed[text] if text in reviewed else min(surest) if len(surest) == 1 else None
        if len(categories) > 1:
            conflicts.append(Conflict(text, categories, category))
        if category is not None:
            agreeing = [one for one in told if one.category == category]
            kept.append(_joined(agreeing or [replace(one, category=category) for one in told]))
    return kept, conflicts


def _joined(told: Sequence[Labelled]) -> Labelled:
    first = min(told, key=lambda one: (_RANK[one.origin], one.scenarios, one.kind, one.source))
    scenarios = tuple(sorted({scenario for one in told for scenario in one.scenarios}))
    return replace(first, scenarios=scenarios, file=min((one.file for one in told if one.file), default=""))
