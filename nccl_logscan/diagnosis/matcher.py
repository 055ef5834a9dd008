"""Matcher: one pass over the events; finds the rules that speak of each and folds repeats into findings.

Rules are looked up by the kind of event; within a kind, an expression is tried only where the literal that it needs
is in the message. What a message matched is remembered, since logs repeat themselves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.folding import OpenFinding
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.index import RuleIndex, index_of
from nccl_logscan.diagnosis.number_wise import NumberWise
from nccl_logscan.events.model import Event
from nccl_logscan.literals import needs_of
from nccl_logscan.position import Origin, Position, Span
from nccl_logscan.records import dataclass
from nccl_logscan.rulebook.rule import Asking, Beside, Nearby, Pattern, Rule, Rulebook, Test

MESSAGE_LIMIT = 8_192
FINDINGS_PER_RULE = 64
_MEMO = 8_192
_HISTORY = 4_096  # events of a kind
_LEFT = 4_096
_WAITING_PER_RULE = 8
_OUT_OF_STEP = 256  # lines by which an event of several lines may come after those that began later


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule that speaks of a message: its captures and the matched columns (None: the whole message)."""

    rule: Rule
    captures: Mapping[str, str]
    span: Span | None


@dataclass(slots=True)
class _Waiting:
    """A match that a later event decides."""

    hit: Hit
    event: Event
    site: Site
    excerpt: Excerpt
    needed: list[Nearby]
    forbidden: tuple[Nearby, ...]
    deadline: int
    times: int = 1
    claimed: bool = False


class _History:
    """The latest events of a kind, by who said them where: of thousands of ranks few lines are of the one asked."""

    def __init__(self, same: str) -> None:
        self._same = same
        self._by_sayer: dict[object, deque[Event]] = {}
        self._sayers: deque[object] = deque()

    def append(self, event: Event) -> None:
        """Take in an event, and let go of the oldest of too many."""
        sayer = event.at.source, _sayer(self._same, event)
        known = self._by_sayer.get(sayer)
        if known is None:
            known = self._by_sayer[sayer] = deque()
        known.append(event)
        self._sayers.append(sayer)
        if len(self._sayers) > _HISTORY:
            oldest = self._sayers.popleft()
            events = self._by_sayer[oldest]
            events.popleft()
            if not events:
                del self._by_sayer[oldest]

    def latest_first(self, event: Event) -> Iterator[Event]:
        """Yield what was said in an event's source by whoever said the event."""
        return reversed(self._by_sayer.get((event.at.source, _sayer(self._same, event)), ()))


class Matcher:
    """Feed it every event in reading order; then ask for the findings."""

    def __init__(self, rulebook: Rulebook, attempt_of: Callable[[str], int] = lambda _: 0) -> None:
        self._rules = rulebook.rules
        self._asking: dict[str, list[Asking]] = {}
        self._beside: dict[str, list[tuple[str, Beside]]] = {}
        self._history: dict[str, dict[str, _History]] = {}
        for one in rulebook.asking():
            for kind in one.events:
                self._asking.setdefault(kind, []).append(one)
            for near in one.near:
                self._history.setdefault(near.kind, {}).setdefault(near.same, _History(near.same))
                self._beside.setdefault(near.kind, []).append((one.rule, near))
        self._watched = {kind for kind, known in self._beside.items() if any(not near.worded for _, near in known)}
        self._indexes: dict[str, RuleIndex | None] = {}
        self._conditions: dict[str, list[Nearby]] = {}
        self._memo: dict[tuple[str, str], tuple[tuple[Hit, ...], bool]] = {}
        self._number_wise: dict[str, NumberWise] = {}
        self._open: dict[tuple[str, int, tuple[str, ...]], OpenFinding] = {}
        self._attempt_of = attempt_of
        self._per_rule: dict[str, int] = {}
        self._waiting: dict[str, list[_Waiting]] = {}  # by source: those of a watched job are read by turns
        self._left: dict[Position, tuple[Event, int]] = {}
        self._gaps: dict[str, int] = {}
        self._decided: dict[tuple[str, str, Origin], bool] = {}  # whether a rule took what a thread said, at the last
        self.overflowed: set[str] = set()

    def feed(self, event: Event, site: Site) -> tuple[OpenFinding, ...] | None:
        """Match an event. Return the findings it went to, () for none; None if that depends on other events too."""
        if event.at.source in self._waiting:
            self._decide(event)
        hits, is_watched = self._judged(event)
        if is_watched:
            for history in self._history[event.kind].values():
                history.append(event)
        if hits:
            hits = _fitting(event, hits)
        if not hits:
            return ()
        opened: list[OpenFinding] = []
        undecided = taken = False
        for hit in hits:
            if hit.rule.match.near or hit.rule.match.not_followed_by:
                takes = self._consider(hit, event, site)
                undecided = undecided or takes is not False
                taken = taken or takes is True
            else:
                opened.append(self._fold(hit, event, site))
        if undecided and (opened or taken):
            self._claim(event)
        return None if undecided else tuple(opened)

    def witness(self, event: Event) -> None:
        """See an event that was matched before with the same text: only conditions on other events can change by it."""
        if event.at.source in self._waiting:
            self._decide(event)
        for history in self._history.get(event.kind, {}).values():
            history.append(event)

    def miss(self, source: str, line: int) -> None:
        """Note that lines of a source behind this one are not read, among which may be what is waited for."""
        self._gaps[source] = line

    def needs_for(self, kind: str) -> frozenset[tuple[frozenset[str], ...]]:
        """Return what a message of a kind needs for some rule to take or ask for it, as `needs_of_dialects` does."""
        return frozenset(needs_of(pattern.text, 0, pattern.literals) for pattern in self._wordings_for(kind))

    def _wordings_for(self, kind: str) -> list[Pattern]:
        """What makes events of a kind some rule's, or stand beside those of one."""
        rules = (self._rules[one.rule].match for one in self._asking.get(kind, ()))
        near = (near.pattern for near in self._conditions_on(kind) if near.pattern and not _is_for_any(near, kind))
        return [*(wording.pattern for match in rules for wording in match.wordings), *near]

    def count_unread(self, event: Event, times: int) -> None:
        """Count further lines like an event that was fed, of which others decide what they are: as they did of it."""
        for hit in _fitting(event, self._judged(event)[0]):
            key = _failure_key(hit)
            waits = (one for one in self._waiting.get(event.at.source, ()) if one.hit.rule is hit.rule)
            waiting = [one for one in waits if _failure_key(one.hit) == key]
            finding = self._open.get((hit.rule.id, self._attempt_of(event.at.source), key))
            if waiting:
                waiting[-1].times += times * event.repeated
            elif finding is not None:
                finding.count += times * event.repeated

    def speaks_of(self, event: Event) -> bool:
        """Return whether a rule may take an event, or asks for its words beside another, or would with other numbers.

        The same for all events of a kind whose messages differ in their numbers alone.
        """
        message = event.message[:MESSAGE_LIMIT]
        near = (near for near in self._conditions_on(event.kind) if not _is_for_any(near, event.kind))
        index = self._indexes[event.kind] if event.kind in self._indexes else self._index_of(event.kind)
        rules = () if index is None else index.look(message)[0]
        if any(_is_worded(self._rules[name], message) for name in rules):
            return True
        if any(_is_asked_for(condition, message) for condition in near):
            return True
        number_wise = self._number_wise.get(event.kind)
        if number_wise is None:
            number_wise = self._number_wise[event.kind] = NumberWise(self._wordings_for(event.kind))
        return number_wise.may_match(event.message[:MESSAGE_LIMIT])

    def says(self, event: Event) -> object:
        """Return what rules take an event for, to compare it with that of another event."""
        return [(hit.rule.id, dict(hit.captures)) for hit in self._judged(event)[0]]

    def asks_for_any(self, kind: str) -> bool:
        """Return whether some rule asks for events of a kind behind another event, whatever their words."""
        return any(_is_for_any(near, kind) for near in self._conditions_on(kind))

    def awaits(self, event: Event) -> bool:
        """Return whether a rule that may take an event asks for events of some kind behind it, whatever their words."""
        rules = (hit.rule.match for hit in self._judged(event)[0])
        near = (near for match in rules for near in (*match.near, *match.not_followed_by))
        return any(_is_for_any(one, kind) for one in near for kind in one.events)

    def asks_beside(self, event: Event) -> bool:
        """Return whether a rule that may take an event asks for others beside it, so that each one is judged anew."""
        rules = (hit.rule.match for hit in self._judged(event)[0])
        return any(match.near or match.not_followed_by for match in rules)

    def watches(self, event: Event) -> bool:
        """Return whether some rule's condition asks for such an event beside another, so that each one counts."""
        return self._judged(event)[1]

    def end(self, source: str) -> None:
        """Decide what still waits for events of a source: none will follow."""
        for waiting in self._waiting.get(source, ()):
            self._end_waiting(waiting)
        self._waiting.pop(source, None)

    def unmet(self) -> Iterator[tuple[Event, int]]:
        """Yield, once all sources have ended, events with their order whose rules asked for what never came."""
        yield from self._left.values()

    def close(self, identity: Identity, clocks: Clocks) -> tuple[Finding, ...]:
        """Return all findings, in the order of their first line."""
        return tuple(finding.close(identity, clocks) for finding in self._open.values() if finding.samples)

    # --- matching one event ------------------------------------------------------------------------------

    def _judged(self, event: Event) -> tuple[tuple[Hit, ...], bool]:
        """Return what rules say of an event's message, and whether some rule's condition asks for such an event."""
        kind = event.kind
        index = self._indexes[kind] if kind in self._indexes else self._index_of(kind)
        if index is None:
            return (), False
        message = event.message[:MESSAGE_LIMIT]
        key = (kind, message)
        judged = self._memo.get(key)
        if judged is None:
            rules, beside = index.look(message)
            hits = tuple(_match_all((self._rules[name] for name in rules), message)) if rules else ()
            is_watched = bool(beside) and (
                kind in self._watched or any(self._asks_for(name, kind, message) for name in beside)
            )
            judged = hits, is_watched
            if len(self._memo) >= _MEMO:
                self._memo.clear()
            self._memo[key] = judged
        return judged

    def _index_of(self, kind: str) -> RuleIndex | None:
        asking, beside = self._asking.get(kind, []), self._beside.get(kind, [])
        index = self._indexes[kind] = index_of(asking, beside) if asking or beside else None
        return index

    def _asks_for(self, name: str, kind: str, message: str) -> bool:
        """Return whether a rule asks for an event of this kind and message beside its own."""
        match = self._rules[name].match
        near = (near for near in (*match.near, *match.not_followed_by) if kind in near.events)
        return any(_is_asked_for(one, message) for one in near)

    def _conditions_on(self, kind: str) -> list[Nearby]:
        """What rules ask of events of a kind that stand beside their own."""
        conditions = self._conditions.get(kind)
        if conditions is None:
            rules = (self._rules[name].match for name in dict.fromkeys(rule for rule, _ in self._beside.get(kind, ())))
            asked = (near for match in rules for near in (*match.near, *match.not_followed_by))
            conditions = self._conditions[kind] = [near for near in asked if kind in near.events]
        return conditions

    # --- conditions on other events ----------------------------------------------------------------------

    def _consider(self, hit: Hit, event: Event, site: Site) -> bool | None:
        """Return whether the rule takes the event by what came before; None if what follows decides that."""
        needed = [near for near in hit.rule.match.near if not self._seen_before(near, event)]
        if any(near.order == "before" for near in needed):
            return False
        forbidden = hit.rule.match.not_followed_by
        if not needed and not forbidden:
            self._fold(hit, event, site)
            return True
        reach = max(near.within_lines for near in (*needed, *forbidden))
        here = self._waiting.setdefault(event.at.source, [])
        own = [waiting for waiting in here if waiting.hit.rule is hit.rule]
        if len(own) >= _WAITING_PER_RULE:
            own[-1].times += event.repeated
        else:
            deadline = event.at.line + reach
            excerpt = _excerpt(hit, event, site)
            here.append(_Waiting(hit, event, site, excerpt, needed, forbidden, deadline, event.repeated))
        return None

    def _seen_before(self, near: Nearby, event: Event) -> bool:
        if near.order == "after":
            return False
        return any(_is_near(near, event, other) for kind in near.events for other in self._lately(kind, near, event))

    def _lately(self, kind: str, near: Nearby, event: Event) -> Iterator[Event]:
        """Yield a kind's events of the same process, rank or host from the latest back to where none can be near."""
        farthest = event.at.line - near.within_lines - _OUT_OF_STEP
        for other in self._history[kind][near.same].latest_first(event):
            if other.at.line < farthest:
                return
            yield other

    def _decide(self, event: Event) -> None:
        still: list[_Waiting] = []
        for waiting in self._waiting[event.at.source]:
            if event.at.line > waiting.deadline:
                self._end_waiting(waiting)
                continue
            if any(_is_near(near, waiting.event, event) for near in waiting.forbidden):
                self._note_decision(waiting, is_taken=False)
                continue
            waiting.needed = [near for near in waiting.needed if not _is_near(near, waiting.event, event)]
            if not waiting.needed and not waiting.forbidden:
                self._note_decision(waiting, is_taken=True)
                self._settle(waiting)
                continue
            still.append(waiting)
        if still:
            self._waiting[event.at.source] = still
        else:
            del self._waiting[event.at.source]

    def _end_waiting(self, waiting: _Waiting) -> None:
        is_taken = not waiting.needed
        if self._gaps.get(waiting.event.at.source, -1) < waiting.event.at.line:
            self._note_decision(waiting, is_taken=is_taken)
        else:
            is_taken = self._decided.get(_decision_key(waiting), is_taken)
        if is_taken:
            self._settle(waiting)
        elif not waiting.needed:
            return
        elif not waiting.claimed and len(self._left) < _LEFT:
            self._left[waiting.event.at] = (waiting.event, waiting.site.order)

    def _note_decision(self, waiting: _Waiting, *, is_taken: bool) -> None:
        """Remember what became of a match, for later ones of the same thread of which not all that follows is read."""
        if waiting.event.origin.tid is not None and len(self._decided) < _MEMO:
            self._decided[_decision_key(waiting)] = is_taken

    def _claim(self, event: Event) -> None:
        """Note that some rule takes an event for which others wait, or have waited in vain."""
        self._left.pop(event.at, None)
        for waiting in self._waiting.get(event.at.source, ()):
            waiting.claimed = waiting.claimed or waiting.event is event

    def _settle(self, waiting: _Waiting) -> None:
        self._claim(waiting.event)
        finding = self._fold(waiting.hit, waiting.event, waiting.site, waiting.excerpt)
        finding.count += waiting.times - waiting.event.repeated

    # --- folding -----------------------------------------------------------------------------------------

    def _fold(self, hit: Hit, event: Event, site: Site, excerpt: Excerpt | None = None) -> OpenFinding:
        key = _failure_key(hit)
        attempt = self._attempt_of(event.at.source)
        finding = self._open.get((hit.rule.id, attempt, key))
        if finding is None:
            finding = self._opened(hit, event.kind, attempt, key, site.order)
        if finding.add(event, site.order):
            finding.samples.append(excerpt or _excerpt(hit, event, site))
            finding.sample_orders.append(site.order)
        else:
            finding.end(event.at, site.text, event.origin, event.when)
        return finding

    def _opened(self, hit: Hit, kind: str, attempt: int, key: tuple[str, ...], order: int) -> OpenFinding:
        rule = hit.rule
        if self._per_rule.get(rule.id, 0) >= FINDINGS_PER_RULE:
            self.overflowed.add(rule.id)
            key = ("(others)",)
            if (rule.id, attempt, key) in self._open:
                return self._open[rule.id, attempt, key]
        self._per_rule[rule.id] = self._per_rule.get(rule.id, 0) + 1
        finding = OpenFinding(rule, kind, key, hit.captures, order, order)
        self._open[rule.id, attempt, key] = finding
        return finding


def _failure_key(hit: Hit) -> tuple[str, ...]:
    return tuple(hit.captures.get(name, "") for name in hit.rule.same_failure)


def _decision_key(waiting: _Waiting) -> tuple[str, str, Origin]:
    return waiting.event.at.source, waiting.hit.rule.id, waiting.event.origin


def _match_all(rules: Iterable[Rule], message: str) -> Iterator[Hit]:
    for rule in rules:
        hit = _match(rule, message)
        if hit is not None:
            yield hit


def _match(rule: Rule, message: str) -> Hit | None:
    if not rule.match.wordings:
        return None if _taken_back(rule, message) else Hit(rule, {}, None)
    for wording in rule.match.wordings:
        pattern = wording.pattern
        if not pattern.may_match(message):
            continue
        match = pattern.search(message)
        if match is not None:
            if _taken_back(rule, message):
                return None
            captures = {name: value for name, value in match.groupdict().items() if value is not None}
            return Hit(rule, captures, Span(*match.span()))
    return None


_COURSE = frozenset({"nccl.init", "train.step"})
"""Kinds that show a job's course: rules ask for their words only to tell a set-up that came to its end."""


def _is_for_any(near: Nearby, kind: str) -> bool:
    return near.pattern is None or kind in _COURSE


def _is_worded(rule: Rule, message: str) -> bool:
    """Whether a message is worded as a rule says, though something else in it may take that back."""
    patterns = [wording.pattern for wording in rule.match.wordings]
    return not patterns or any(one.may_match(message) and one.search(message) is not None for one in patterns)


def _taken_back(rule: Rule, message: str) -> bool:
    return any(pattern.may_match(message) and pattern.search(message) is not None for pattern in rule.match.unless)


def _fitting(event: Event, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Leave out rules whose tests of the event's fields fail, and stopgaps where another rule is left."""
    fitting = tuple(hit for hit in hits if _fits(event, hit.rule.match.where))
    return tuple(hit for hit in fitting if not hit.rule.match.fallback) or fitting


def _fits(event: Event, where: Mapping[str, Test]) -> bool:
    return all(_holds(_value(event, name), test) for name, test in where.items())


def _value(event: Event, name: str) -> Any:
    value: Any = event
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


def _holds(value: Any, test: Test) -> bool:
    if test.values:
        return value in test.values
    if value is None or isinstance(value, str):
        return False
    low = test.at_least is None or value >= test.at_least
    return low and (test.at_most is None or value <= test.at_most)


def _is_near(near: Nearby, event: Event, other: Event) -> bool:
    if other.kind not in near.events or other.at.source != event.at.source:
        return False
    distance = other.at.line - event.at.line
    in_reach = {
        "before": -near.within_lines <= distance <= 0,
        "after": 0 <= distance <= near.within_lines,
    }.get(near.order, abs(distance) <= near.within_lines)
    if not in_reach or not _is_same(near.same, event, other) or other is event:
        return False
    return _is_asked_for(near, other.message[:MESSAGE_LIMIT])


def _is_asked_for(near: Nearby, message: str) -> bool:
    pattern = near.pattern
    return pattern is None or (pattern.may_match(message) and pattern.search(message) is not None)


def _is_same(what: str, event: Event, other: Event) -> bool:
    return _sayer(what, event) == _sayer(what, other)


def _sayer(what: str, event: Event) -> object:
    """What two events have in common that are of one process, rank or host; of all events the same for anything."""
    origin = event.origin
    if what == "process":
        return origin.host, origin.pid, origin.rank
    if what == "rank":
        return origin.rank
    return origin.host if what == "host" else None


def _excerpt(hit: Hit, event: Event, site: Site) -> Excerpt:
    """Keep the line that is being read, with the lines around it."""
    text, span = _shown(event, site.text, hit.span)
    return site.excerpts.take(event.at, text, event.origin, event.when, span)


def _shown(event: Event, line: str, span: Span | None) -> tuple[str, Span | None]:
    """Return the text to show for an event, and the matched columns in it."""
    at = line.find(event.message) if event.message else -1
    if at < 0:
        return (line or event.message), None
    if span is None:
        return line, Span(at, at + len(event.message))
    return line, Span(at + span.start, at + span.end)
