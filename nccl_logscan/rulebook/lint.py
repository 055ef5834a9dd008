"""Checks over the whole set of rules: what one file cannot tell about itself, and what a person must not forget.

Examples are run by `nccl_logscan/selfcheck.py`; here nothing is scanned.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from nccl_logscan.errors import Problem
from nccl_logscan.expressions import deferred
from nccl_logscan.literals import parse
from nccl_logscan.rulebook.document import closest
from nccl_logscan.rulebook.expression import danger_of
from nccl_logscan.rulebook.located import Path
from nccl_logscan.rulebook.placeholders import ALWAYS_KNOWN, placeholders
from nccl_logscan.rulebook.read import CATEGORIES, RuleFile
from nccl_logscan.rulebook.rule import GROUP, Matcher, Rule, Step
from nccl_logscan.taxonomy import Category, Role

# Kinds that hold whatever their program prints: without a wording or a condition a rule would claim it all.
_BROAD = frozenset({"nccl.warn", "nccl.info", "nccl.last-error", "log.text", "python.exception", "torch.process-group"})


# `<host>` in a command, which a shell reads as an input from `host`; `<(program)` and `<<EOF` are meant.
_STAND_IN = deferred(r"(?<!<)<[A-Za-z][\w ./-]*>")


def lint(
    files: Sequence[RuleFile], *, ids: Collection[str], groups: Collection[str], detectors: Collection[str]
) -> tuple[Problem, ...]:
    """Return every problem of rules that were read without one, file by file, each in the order of its lines.

    `ids` and `groups` are those that rules may name, `detectors` the names that `match.detector` may ask for.
    """
    cycles = _cycles({file.rule.id: file.rule.explains for file in files})
    found: list[Problem] = []
    for file in files:
        problems = chain(
            _edges(file, ids, groups),
            _cycle(file, cycles),
            _question(file, detectors),
            _expressions(file),
            _names(file),
            _stand_ins(file),
            _proof(file),
        )
        found.extend(sorted(problems, key=lambda problem: (problem.line, problem.column)))
    return tuple(found)


# --- ids ---------------------------------------------------------------------------------------------------


def _edges(file: RuleFile, ids: Collection[str], groups: Collection[str]) -> Iterator[Problem]:
    rule, located = file.rule, file.located
    for number, entry in enumerate(rule.explains):
        path: Path = ("explains", number)
        if not entry.startswith(GROUP):
            yield from _unknown(file, path, entry, ids)
        elif entry.removeprefix(GROUP) not in groups:
            hint = closest(entry.removeprefix(GROUP), groups)
            yield located.problem(path, f"no rule is in '{entry}'{hint}; add the name to the `groups` of a rule")
    for number, example in enumerate(rule.hits):
        for place, glob in enumerate(example.also):
            yield from _unknown(file, ("examples", "hit", number, "also", place), glob, ids)
    for number, former in enumerate(rule.formerly):
        if former in ids:
            yield located.problem(("formerly", number), f"'{former}' is the id of a rule that still exists")


def _unknown(file: RuleFile, path: Path, glob: str, ids: Collection[str]) -> Iterator[Problem]:
    category, _, rest = glob.partition("/")
    if any(letter in glob for letter in "*?"):
        if not fnmatch.filter(ids, glob) and not (rest == "*" and category in CATEGORIES):
            yield file.located.problem(path, f"no rule's id fits '{glob}'")
    elif glob not in ids:
        yield file.located.problem(path, f"there is no rule '{glob}'{closest(glob, ids)}")


def _cycle(file: RuleFile, cycles: Mapping[str, tuple[str, ...]]) -> Iterator[Problem]:
    cycle = cycles.get(file.rule.id)
    if cycle is not None:
        way = " -> ".join((*cycle, cycle[0]))
        yield file.located.problem(("explains",), f"goes in a circle: {way}; decide which of them is the cause")


def _cycles(explains: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return each circle of plain ids, by the first of its ids."""
    cycles: dict[str, tuple[str, ...]] = {}
    done: set[str] = set()
    for start in sorted(explains):
        trail: list[str] = []
        _follow(start, explains, trail, done, cycles)
    return cycles


def _follow(
    rule_id: str,
    explains: Mapping[str, tuple[str, ...]],
    trail: list[str],
    done: set[str],
    cycles: dict[str, tuple[str, ...]],
) -> None:
    if rule_id in trail:
        circle = trail[trail.index(rule_id) :]
        first = circle.index(min(circle))
        turned = (*circle[first:], *circle[:first])
        cycles.setdefault(turned[0], turned)
        return
    if rule_id in done:
        return
    trail.append(rule_id)
    for effect in explains.get(rule_id, ()):
        if effect in explains:
            _follow(effect, explains, trail, done, cycles)
    trail.pop()
    done.add(rule_id)


# --- what the rule asks ------------------------------------------------------------------------------------


def _question(file: RuleFile, detectors: Collection[str]) -> Iterator[Problem]:
    rule, located = file.rule, file.located
    match = rule.match
    if match.detector is not None and match.detector not in detectors:
        hint = closest(match.detector, detectors)
        known = ", ".join(sorted(detectors)) or "none"
        yield located.problem(("match", "detector"), f"there is no detector '{match.detector}'{hint}; known: {known}")
    unbounded = [kind for kind in match.events if kind in _BROAD]
    if unbounded and not (match.wordings or match.where or match.fallback):
        yield located.problem(
            ("match",), f"claims every {unbounded[0]}; give `wordings`, narrow it by `where`, or make it a `fallback`"
        )
    if rule.category is Category.NONE and rule.role not in {Role.BENIGN, Role.CONTEXT}:
        yield located.problem(("role",), f"a rule of category none is benign or context, not {rule.role}")
    if rule.blames == "captured" and match.detector is None and "rank" not in captures_of(match):
        yield located.problem(("blames",), "is 'captured', but no wording has a group (?P<rank>...)")


def _expressions(file: RuleFile) -> Iterator[Problem]:
    for path, text in _texts(file.rule.match):
        danger = danger_of(text)
        if danger is not None:
            yield file.located.problem(path, danger)


def _texts(match: Matcher) -> Iterator[tuple[Path, str]]:
    for number, wording in enumerate(match.wordings):
        yield ("match", "wordings", number, "message"), wording.pattern.text
    for number, pattern in enumerate(match.unless):
        yield ("match", "unless", number), pattern.text
    for name, nearbys in (("near", match.near), ("not_followed_by", match.not_followed_by)):
        for number, nearby in enumerate(nearbys):
            if nearby.pattern is not None:
                yield ("match", name, number, "message"), nearby.pattern.text


# --- names -------------------------------------------------------------------------------------------------


def captures_of(match: Matcher) -> frozenset[str]:
    """Return the named groups of a matcher's wordings."""
    groups = (parse(wording.pattern.text).state.groupdict for wording in match.wordings)
    return frozenset(chain.from_iterable(groups))


def _known_names(rule: Rule) -> frozenset[str]:
    return ALWAYS_KNOWN | captures_of(rule.match)


def _names(file: RuleFile) -> Iterator[Problem]:
    rule = file.rule
    if rule.match.detector is not None:
        return  # its captures are made in Python; the examples prove them
    known = _known_names(rule)
    yield from _placeholders(file, ("summary",), rule.summary, known)
    for name, steps in (("confirm", rule.confirm), ("remediation", rule.remediation)):
        yield from _commands(file, name, steps, known)
    for number, name in enumerate(rule.same_failure):
        if name not in known:
            yield file.located.problem(("same_failure", number), f"'{name}' is not captured{closest(name, known)}")
    captures = captures_of(rule.match)
    for number, example in enumerate(rule.hits):
        for name in example.captures:
            if name not in captures:
                path = ("examples", "hit", number, "captures", name)
                message = f"no wording has a group of this name{closest(name, captures)}"
                yield file.located.problem(path, message, at_key=True)


def _commands(file: RuleFile, name: str, steps: Iterable[Step], known: Collection[str]) -> Iterator[Problem]:
    for number, step in enumerate(steps):
        for part, text in (("run", step.run), ("on", step.on), ("to", step.to)):
            if text is not None:
                yield from _placeholders(file, (name, number, part), text, known)


def _stand_ins(file: RuleFile) -> Iterator[Problem]:
    for name, steps in (("confirm", file.rule.confirm), ("remediation", file.rule.remediation)):
        for number, step in enumerate(steps):
            found = _STAND_IN.search(step.run or "")
            if found is not None:
                message = f"'{found[0]}' is a redirection to a shell; write a {{placeholder}}, or say it in `do`"
                yield file.located.problem((name, number, "run"), message, offset=found.start())


def _placeholders(file: RuleFile, path: Path, text: str, known: Collection[str]) -> Iterator[Problem]:
    for name in placeholders(text):
        if name not in known:
            message = f"{{{name}}} is not captured by a wording and not known to a scan{closest(name, known)}"
            yield file.located.problem(path, message, offset=text.find(f"{{{name}}}"))


# --- proof -------------------------------------------------------------------------------------------------


def _proof(file: RuleFile) -> Iterator[Problem]:
    rule, located = file.rule, file.located
    if not rule.hits:
        yield located.problem(("examples", "hit"), "should hold at least one log on which the rule fires")
    if not rule.misses:
        yield located.problem(("examples", "miss"), "should hold at least one near miss, on which the rule is silent")
    if not rule.references:
        yield located.problem(("references",), "should name at least one source")
    for kind, examples in (("hit", rule.hits), ("miss", rule.misses)):
        names = [example.name for example in examples]
        for number, name in enumerate(names):
            if name in names[:number]:
                yield located.problem(("examples", kind, number, "name"), f"repeats the name '{name}'")
