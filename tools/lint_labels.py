"""The labels of lint's fixtures, remarks compared with them, and mended files compared with what they should read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from nccl_logscan.lint.model import Check

_NOTE = "note"


@dataclass(frozen=True, slots=True)
class Found:
    """A remark, as much of it as is compared."""

    file: str
    line: int
    name: str
    check: str
    severity: str


@dataclass(frozen=True, slots=True)
class Label:
    """What a careful reviewer says of one setting.

    `check` is None for a setting that is right, and `either` says that the facts leave open whether it is: such a
    setting counts neither way. `checks` are all that a reviewer could call it. `places` are the lines and names at
    which the remark may stand: the setting's own, and its partner's in a contradiction. `also` are checks of which a
    remark would be true as well, and neither meets the label nor is wrong.
    """

    construct: str
    file: str
    line: int
    name: str
    check: str | None
    checks: frozenset[str]
    severity: str
    either: bool
    places: tuple[tuple[range, str], ...]
    also: frozenset[str] = frozenset()

    def at(self, found: Found) -> bool:
        """Return whether a remark stands at the setting itself."""
        lines, name = self.places[0]
        return found.file == self.file and found.line in lines and _same(name, found.name)

    def met_by(self, found: Found) -> bool:
        """Return whether a remark says what the label says."""
        return found.check in self.checks and (found.severity != _NOTE or self.severity == _NOTE) and self.near(found)

    def near(self, found: Found) -> bool:
        """Return whether a remark stands at the setting or at its partner."""
        return found.file == self.file and any(
            found.line in lines and _same(name, found.name) for lines, name in self.places
        )


@dataclass(slots=True)
class Scored:
    """How a folder did: labels met and missed, and remarks that are wrong with the reason."""

    construct: str
    labels: tuple[Label, ...]
    met: dict[Label, Found] = field(default_factory=dict)
    wrong: list[tuple[Found, str]] = field(default_factory=list)
    files: int = 0
    diffs: int = 0
    refused: list[str] = field(default_factory=list)
    places: int = 0
    unlike: list[str] = field(default_factory=list)

    @property
    def missed(self) -> list[Label]:
        """Labels of wrong settings that no remark met."""
        return [label for label in self.labels if label.check and label not in self.met]


def labels_of(construct: str, expected: Mapping[str, Any]) -> tuple[Label, ...]:
    """Return the labels of an expected.yaml."""
    return tuple(_label(construct, entry) for entry in expected["settings"])


def _label(construct: str, entry: Mapping[str, Any]) -> Label:
    check = entry.get("check")
    own = range(entry["line"], entry["line"] + entry.get("lines", 1))
    partners = ((range(other["line"], other["line"] + 1), other["name"]) for other in entry.get("or_at", ()))
    return Label(
        construct,
        entry["file"],
        entry["line"],
        entry["name"],
        str(Check(check)) if check else None,
        frozenset(map(str, map(Check, (*([check] if check else ()), *entry.get("or_check", ()))))),
        entry.get("severity", ""),
        bool(entry.get("either")),
        ((own, entry["name"]), *partners),
        frozenset(map(str, map(Check, entry.get("may_also", ())))),
    )


def score(labels: Sequence[Label], found: Iterable[Found], construct: str) -> Scored:
    """Compare remarks with labels: a note counts only where the label is a note."""
    scored = Scored(construct, tuple(labels))
    for remark in found:
        met = next((label for label in labels if label.check and label.met_by(remark)), None)
        if met:
            scored.met.setdefault(met, remark)
            continue
        if any(remark.check in label.also and label.near(remark) for label in labels):
            continue
        at = next((label for label in labels if label.at(remark)), None)
        if remark.severity == _NOTE or (at and at.either):
            continue
        if at is None:
            scored.wrong.append((remark, "nothing is set there that a reviewer would speak of"))
        else:
            scored.wrong.append((remark, f"it is `{at.check}`" if at.check else "it is right"))
    return scored


@cache
def _bare(name: str) -> str:
    """The last part of a setting's name: of a dotted key, of `call(keyword=)`, of a flag, without Hydra's marks."""
    name = re.sub(r"^.*\(|=?\)$", "", name)
    return re.sub(r"\[\d+\]$", "", name).rpartition(".")[2].lstrip("-+~").replace("-", "_").rstrip("=")


def _same(one: str, other: str) -> bool:
    return _bare(one) == _bare(other) or one == other


def unlike(
    before: Sequence[str], after: Sequence[str], fixed: Sequence[Mapping[str, Any]], added: Sequence[str]
) -> list[tuple[int, str]]:
    """Return where a mended file differs from what it should read: lines of the file before, and what is wrong.

    `fixed` gives, for a line (or `lines` lines from it), all that may stand there: a text, `{matches: expression}`, or
    null for nothing. Any other line must stay; a line that came in must match one of `added`. Of all ways to read the
    change, the one with the fewest wrong places counts.
    """
    units = _units(before, fixed)
    best: dict[tuple[int, int], tuple[int, tuple[int, int], str]] = {(0, 0): (0, (0, 0), "")}
    for i in range(len(units) + 1):
        for j in range(len(after) + 1):
            if (i, j) not in best:
                continue
            cost = best[i, j][0]
            for to, price, said in _moves(units, after, i, j, added):
                if to not in best or best[to][0] > cost + price:
                    best[to] = (cost + price, (i, j), said)
    at, wrong = (len(units), len(after)), []
    while at != (0, 0):
        _, previous, said = best[at]
        if said:
            wrong.append((units[min(previous[0], len(units) - 1)][0], said))
        at = previous
    return wrong[::-1]


_Unit = tuple[int, tuple[str, ...], Sequence[Any]]


def _units(before: Sequence[str], fixed: Sequence[Mapping[str, Any]]) -> list[_Unit]:
    at = {entry["line"]: entry for entry in fixed}
    units: list[_Unit] = []
    line = 1
    while line <= len(before):
        entry = at.get(line, {})
        taken = entry.get("lines", 1)
        own = tuple(before[line - 1 : line - 1 + taken])
        units.append((line, own, entry.get("reads", ("\n".join(own),))))
        line += taken
    return units


def _moves(
    units: Sequence[_Unit], after: Sequence[str], i: int, j: int, added: Sequence[str]
) -> Iterator[tuple[tuple[int, int], int, str]]:
    """Each way on from unit `i` and line `j`: where to, its price, and what would be wrong with it."""
    if j < len(after):
        may = any(re.fullmatch(expression, after[j]) for expression in added)
        yield (i, j + 1), 0 if may else 1, "" if may else f"came in: {after[j]!r}"
    if i == len(units):
        return
    _, own, reads = units[i]
    for wanted in reads:
        taken = _taken(wanted, after, j)
        if taken is not None:
            yield (i + 1, j + taken), 0, ""
    if tuple(after[j : j + len(own)]) == own:
        yield (i + 1, j + len(own)), 1, f"stayed: {own[0]!r}"
    yield (i + 1, j), 1, f"went: {own[0]!r}"
    if j < len(after):
        yield (i + 1, j + 1), 1, f"became {after[j]!r}"


def _taken(wanted: Any, after: Sequence[str], j: int) -> int | None:
    """How many lines from `j` on are as wanted; None: they are not."""
    if wanted is None:
        return 0
    if isinstance(wanted, Mapping):
        return 1 if j < len(after) and re.fullmatch(wanted["matches"], after[j]) else None
    lines = str(wanted).split("\n")
    return len(lines) if list(after[j : j + len(lines)]) == lines else None
