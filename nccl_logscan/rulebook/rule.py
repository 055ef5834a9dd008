"""Rule: the compiled, frozen form of one rule file. The file's form is `document.py`'s alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from nccl_logscan.kept import keep, recall
from nccl_logscan.literals import lowers_well
from nccl_logscan.records import dataclass, field
from nccl_logscan.taxonomy import Action, Category, Role, Severity

if TYPE_CHECKING:
    import regex

GROUP = "group:"
"""How an entry of `explains` begins that names a group rather than an id or a glob."""

SEARCH_SECONDS = 0.25
SEARCHED_CHARACTERS = 8_192
STALLS_ALLOWED = 8


@dataclass(slots=True)
class _Working:
    """What a pattern learns while it is used: its compiled form, and how often it ran out of time."""

    compiled: regex.Pattern[str] | None = None
    stalls: int = 0


def _compiled(expression: str) -> regex.Pattern[str]:
    """Return an expression as an earlier run compiled it, or compile it."""
    import regex  # noqa: PLC0415 - a scan without a failure can do without

    key = ("regex", expression)
    known = recall(key)
    if known is not None:
        with suppress(regex.error, RuntimeError, TypeError, ValueError):
            made: regex.Pattern[str] = regex._regex.compile(*known)  # type: ignore[attr-defined] # what its pickle calls
            return made
    made = regex.compile(expression)
    form = getattr(made, "_pickled_data", None)
    if form is not None:
        keep(key, form)
    return made


@dataclass(frozen=True, slots=True)
class Pattern:
    """An expression and the literals of which every match contains one (none: nothing could be proved).

    Patterns are searched, not anchored, with the `regex` package and a time limit. A linear engine (RE2, Hyperscan)
    would need no limit, but has no look-around, which telling near misses apart needs, and no wheels for every
    platform that Python runs on. What bounds an expression instead: `rules check` refuses nested repeats that it can
    prove dangerous, only the first 8,192 characters are searched, a search ends after 0.25 s without a match, and
    after eight such ends the pattern is retired for the rest of the scan: a hostile log costs a pattern 2 s at most.

    Compiling waits for the first search: most patterns of a rulebook meet no line that holds their literal.
    """

    text: str
    literals: tuple[str, ...] = ()
    folded: bool = False
    _working: _Working = field(default_factory=_Working, init=False, repr=False, compare=False)

    @property
    def stalls(self) -> int:
        """How many searches ran out of time since the pattern was made or `rearm` was called."""
        return self._working.stalls

    def rearm(self) -> None:
        """Forget earlier stalls: a new scan begins."""
        self._working.stalls = 0

    def may_match(self, text: str) -> bool:
        """Return whether `text` holds a literal without which there is no match; cheap, and never wrongly False."""
        if not self.literals:
            return True
        if self.folded:
            if not lowers_well(text):
                return True
            text = text.lower()
        return any(literal in text for literal in self.literals)

    def search(self, text: str) -> regex.Match[str] | None:
        """Return the first match in `text`, cut to its bound; None also where the time ran out."""
        working = self._working
        compiled = working.compiled
        if compiled is None:
            compiled = working.compiled = _compiled(self.text)
        if working.stalls >= STALLS_ALLOWED:
            return None
        try:
            return compiled.search(text[:SEARCHED_CHARACTERS], timeout=SEARCH_SECONDS)
        except TimeoutError:
            working.stalls += 1
            return None


@dataclass(frozen=True, slots=True)
class Wording:
    """How one failure is worded, and by which versions ("" : any)."""

    pattern: Pattern
    nccl: str = ""
    torch: str = ""


@dataclass(frozen=True, slots=True)
class Test:
    """A condition on a typed field: equal to one of `values`, or within [at_least, at_most]."""

    values: tuple[str | int | float | bool | None, ...] = ()
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, slots=True)
class Nearby:
    """A second event close by. `same`: process, rank, host, source or any. `order`: before, after or either."""

    events: tuple[str, ...]
    pattern: Pattern | None
    within_lines: int
    same: str = "any"
    order: str = "either"


@dataclass(frozen=True, slots=True)
class Matcher:
    """What a rule asks: either a detector's name, or events with wordings and conditions.

    `fallback`: only where no other rule fires on the event. Keys of `where` may be dotted (`site.file`).
    """

    events: tuple[str, ...] = ()
    wordings: tuple[Wording, ...] = ()
    where: Mapping[str, Test] = field(default_factory=dict)
    unless: tuple[Pattern, ...] = ()
    near: tuple[Nearby, ...] = ()
    not_followed_by: tuple[Nearby, ...] = ()
    detector: str | None = None
    fallback: bool = False

    def patterns(self) -> Iterator[Pattern]:
        """Every expression that this matcher may search."""
        yield from (wording.pattern for wording in self.wordings)
        yield from self.unless
        yield from (nearby.pattern for nearby in (*self.near, *self.not_followed_by) if nearby.pattern is not None)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to look at or to do. `owner`: user, cluster-admin, vendor. `effect`: inspect, workaround, fix.

    `given`: the step is for jobs that are seen to use one of these frameworks or networks. `along`: settings that have
    to change with this one, and their values: bfloat16 on and float16 off.
    """

    do: str
    run: str | None = None
    owner: str = "user"
    effect: str = "inspect"
    on: str | None = None
    kind: str | None = None
    setting: str | None = None
    to: str | None = None
    why: str | None = None
    risk: str | None = None
    do_not: bool = False
    since: str | None = None
    until: str | None = None
    source: str | None = None
    given: tuple[str, ...] = ()
    along: tuple[tuple[str, str], ...] = ()

    @property
    def settings(self) -> tuple[str, ...]:
        """The names in `setting`, which a comma parts."""
        return tuple(self.setting.split(", ")) if self.setting else ()


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a fact of the rule is from."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Example:
    """A log, or a job's files by name, and what the rule must make of it: `captures` for a hit; `also` names other
    rules that fire on it.
    """

    name: str
    log: str | Mapping[str, str]
    source: str
    captures: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One failure (or harmless line) and all that is known of it.

    `strength`, 0 to 100, says how conclusively the words alone point to the category (see rules/README.md). `blames`
    says whose rank the culprit is: observer (who wrote the line), captured (a group named `rank`), peer, none.
    `explains` holds ids and globs of ids that follow from this failure; a rule as written may also name groups there
    (`group:waiting`), for which a rulebook has the ids of the rules that belong to them. `defined_at` is file:line.
    """

    id: str
    title: str
    category: Category
    role: Role
    severity: Severity
    strength: int
    match: Matcher
    same_failure: tuple[str, ...]
    explains: tuple[str, ...]
    blames: str
    action: Action
    summary: str
    what: str
    why: str
    confirm: tuple[Step, ...]
    remediation: tuple[Step, ...]
    references: tuple[Reference, ...]
    hits: tuple[Example, ...]
    misses: tuple[Example, ...]
    formerly: tuple[str, ...]
    defined_at: str
    groups: tuple[str, ...] = ()


def members_of(rules: Iterable[Rule]) -> Mapping[str, tuple[str, ...]]:
    """Return the ids of each group's rules, in the order of `rules`."""
    members: dict[str, list[str]] = {}
    for rule in rules:
        for group in rule.groups:
            members.setdefault(group, []).append(rule.id)
    return {group: tuple(ids) for group, ids in members.items()}


class Beside(NamedTuple):
    """An event that a rule wants to see beside its own, or not to see behind it: its kind, whose it must be, and of
    which literals, in lower case, its message holds one (none: any message may be meant; not `worded`: any is).
    """

    kind: str
    same: str
    literals: tuple[str, ...]
    folded: bool
    worded: bool


class Asking(NamedTuple):
    """What must be known of a rule before a line is seen: which events it asks for, and in which words.

    `literals`, in lower case, are those of which a message of its holds one (none: any message may be meant); with
    `folded`, a message that is not ASCII may be meant without them. `near` are the events beside its own that it
    asks for.
    """

    rule: str
    events: tuple[str, ...]
    literals: tuple[str, ...]
    folded: bool
    detector: str | None
    near: tuple[Beside, ...]


def asking_of(rule: Rule) -> Asking:
    """Return what must be known of a rule."""
    match = rule.match
    literals, folded = _sought([wording.pattern for wording in match.wordings])
    near = (
        Beside(kind, one.same, *_sought([one.pattern] if one.pattern else []), one.pattern is not None)
        for one in (*match.near, *match.not_followed_by)
        for kind in one.events
    )
    return Asking(rule.id, match.events, literals, folded, match.detector, tuple(dict.fromkeys(near)))


def _sought(patterns: Sequence[Pattern]) -> tuple[tuple[str, ...], bool]:
    """Return the literals of which a message that one of these matches holds one, and whether case may hide them."""
    if not all(pattern.literals for pattern in patterns):
        return (), False
    literals = {text.lower() for pattern in patterns for text in pattern.literals}
    return tuple(sorted(literals)), any(pattern.folded for pattern in patterns)


@dataclass(frozen=True, slots=True)
class Rulebook:
    """Every rule, by id in sorted order, and a digest over the files they came from (sha256, hex).

    The built-in rules are made one by one when they are asked for, so a scan asks for those alone that it needs.
    """

    rules: Mapping[str, Rule]
    digest: str
    _asking: list[Asking] = field(default_factory=list, init=False, repr=False, compare=False)

    def asking(self) -> Sequence[Asking]:
        """Return what must be known of every rule, in their order."""
        if not self._asking:
            known = getattr(self.rules, "asking", None)
            self._asking.extend(map(asking_of, self.rules.values()) if known is None else known)
        return self._asking

    def detected_by(self, detector: str) -> Rule | None:
        """Return the rule for what a detector finds."""
        name = next((one.rule for one in self.asking() if one.detector == detector), None)
        return None if name is None else self.rules[name]

    def stalled(self) -> tuple[tuple[str, str], ...]:
        """Return (rule id, expression) of every pattern that ran out of time, so that a report can say so."""
        return tuple(
            (rule.id, pattern.text) for rule in self._used() for pattern in rule.match.patterns() if pattern.stalls
        )

    def rearm(self) -> None:
        """Forget what ran out of time in an earlier scan."""
        for rule in self._used():
            for pattern in rule.match.patterns():
                pattern.rearm()

    def _used(self) -> Sequence[Rule]:
        used: Callable[[], Iterable[Rule]] = getattr(self.rules, "used", self.rules.values)
        return sorted(used(), key=lambda rule: rule.id)
