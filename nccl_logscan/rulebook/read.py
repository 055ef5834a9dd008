"""Rule files to rules, with the place of each value; or every problem of every file."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from nccl_logscan.errors import Problem
from nccl_logscan.events.model import EVENT_TYPES
from nccl_logscan.literals import required_literals
from nccl_logscan.records import dataclass, replace
from nccl_logscan.rulebook.document import (
    ConditionDocument,
    FollowDocument,
    HitDocument,
    MatchDocument,
    MissDocument,
    NearDocument,
    RuleDocument,
    StepDocument,
    closest,
    read_document,
)
from nccl_logscan.rulebook.find import Folder, RuleSource, digest_of, find_rules
from nccl_logscan.rulebook.located import Located, locate
from nccl_logscan.rulebook.located import Path as KeyPath
from nccl_logscan.rulebook.rule import (
    GROUP,
    Example,
    Matcher,
    Nearby,
    Pattern,
    Reference,
    Rule,
    Rulebook,
    Step,
    Test,
    Wording,
    members_of,
)
from nccl_logscan.taxonomy import Category

CATEGORIES = tuple(category.value for category in Category)


@dataclass(frozen=True, slots=True)
class RuleFile:
    """A rule file that was read without a problem, with the place of each of its values."""

    source: RuleSource
    located: Located
    rule: Rule


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading folders: the good files, every problem of the others, and the digest over all.

    `ids` are those of all files by their paths, so that a mistake in one file is not one of its readers too.
    """

    files: tuple[RuleFile, ...]
    problems: tuple[Problem, ...]
    ids: frozenset[str]
    digest: str

    @property
    def groups(self) -> frozenset[str]:
        """The names of the groups that some rule belongs to."""
        return frozenset(group for file in self.files for group in file.rule.groups)

    @property
    def written(self) -> Mapping[str, Rule]:
        """The rules by id, in sorted order, as their files have them: `explains` may name groups."""
        rules = sorted((file.rule for file in self.files), key=lambda rule: rule.id)
        return {rule.id: rule for rule in rules}

    @property
    def rulebook(self) -> Rulebook:
        """The rules to scan with: where `explains` names a group, the ids of its rules stand instead."""
        written = self.written
        members = members_of(written.values())
        resolved = {rule.id: replace(rule, explains=_effects(rule, members)) for rule in written.values()}
        return Rulebook(resolved, self.digest)


def _effects(rule: Rule, members: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return a rule's `explains` without groups; no rule follows from itself, and each id stands once."""
    effects: dict[str, None] = {}
    for entry in rule.explains:
        named = members.get(entry.removeprefix(GROUP), ()) if entry.startswith(GROUP) else (entry,)
        effects.update(dict.fromkeys(effect for effect in named if effect != rule.id))
    return tuple(effects)


def read_folders(folders: Sequence[Folder]) -> Reading:
    """Read every rule file of every folder, in order."""
    files: list[RuleFile] = []
    problems: list[Problem] = []
    sources: list[RuleSource] = []
    for folder in folders:
        for found in find_rules(folder):
            if isinstance(found, Problem):
                problems.append(found)
                continue
            sources.append(found)
            read = read_rule(found)
            if isinstance(read, RuleFile):
                files.append(read)
            else:
                problems.extend(read)
    problems.extend(_repeated_ids(files))
    ids = frozenset(source.expected_id for source in sources)
    return Reading(tuple(files), tuple(problems), ids, digest_of(sources))


def read_rule(source: RuleSource) -> RuleFile | tuple[Problem, ...]:
    """Return one rule file's rule, or all of its problems in the order of their lines."""
    text = _decode(source)
    if isinstance(text, Problem):
        return (text,)
    located = locate(source.name, text)
    if isinstance(located, Problem):
        return (located,)
    problems = list(located.repetitions())
    document = read_document(located.data)
    if isinstance(document, RuleDocument):
        problems += [*_misplaced(document, source, located), *_match_problems(document.match, located)]
        if not problems:
            return RuleFile(source, located, _rule(document, located))
    else:
        problems += [located.problem(c.path, c.message, at_key=c.at_key, offset=c.offset) for c in document]
    return tuple(sorted(problems, key=lambda problem: (problem.line, problem.column)))


def _decode(source: RuleSource) -> str | Problem:
    try:
        return source.content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = source.content.count(b"\n", 0, error.start) + 1
        column = error.start - source.content.rfind(b"\n", 0, error.start)
        return Problem(source.name, line, column, "is not UTF-8 text")


# --- what a document alone cannot tell --------------------------------------------------------------------


def _misplaced(document: RuleDocument, source: RuleSource, located: Located) -> Iterator[Problem]:
    if document.id != source.expected_id:
        yield located.problem(("id",), f"should be '{source.expected_id}', as the file's path says")
    category = source.expected_id.partition("/")[0]
    if category not in CATEGORIES:
        yield located.problem(("id",), f"'{category}' is no category{closest(category, CATEGORIES)}")


def _repeated_ids(files: Iterable[RuleFile]) -> Iterator[Problem]:
    seen: dict[str, RuleFile] = {}
    for file in files:
        first = seen.setdefault(file.rule.id, file)
        if first is not file:
            yield file.located.problem(("id",), f"'{file.rule.id}' is taken by {first.rule.defined_at}; choose another")


def _match_problems(match: MatchDocument, located: Located) -> Iterator[Problem]:
    if match.detector is not None:
        others = [name for name in match.model_fields_set if name != "detector"]
        for name in others:
            yield located.problem(("match", name), "cannot stand beside `detector`", at_key=True)
        return
    if match.event is None:
        yield located.problem(("match",), "needs `event` (a kind of event) or `detector`")
        return
    for name, condition in match.where.items():
        yield from _condition_problems(match.event, name, condition, located)


def _condition_problems(
    kinds: Iterable[str], name: str, condition: ConditionDocument, located: Located
) -> Iterator[Problem]:
    path: KeyPath = ("match", "where", name)
    if condition.one_of is None and condition.at_least is None and condition.at_most is None:
        yield located.problem(path, "asks nothing; give a value, or `in`, `at_least`, `at_most`")
    for kind in kinds:
        allowed = fields_of(kind)
        if name not in allowed:
            message = f"{kind} has no field '{name}'{closest(name, allowed)}"
            yield located.problem(path, f"{message}; it has {', '.join(allowed) or 'none'}", at_key=True)
            continue
        wrong = [value for value in condition.one_of or () if not _fits(value, allowed[name])]
        for value in wrong:
            yield located.problem(path, f"can never be {value!r}: {kind}'s {name} is {_type_name(allowed[name])}")


@cache
def fields_of(kind: str) -> dict[str, tuple[type, ...]]:
    """Return the fields of an event type that `where` may test, with their types; `site.file` for those inside."""
    return dict(_fields(EVENT_TYPES[kind], ""))


_COMMON = frozenset({"at", "origin", "when", "message", "repeated"})


def _fields(record: type, prefix: str) -> Iterator[tuple[str, tuple[type, ...]]]:
    hints = typing.get_type_hints(record)
    assert is_dataclass(record)
    for field in fields(record):
        if not prefix and field.name in _COMMON:
            continue
        kinds = _alternatives(hints[field.name])
        inner = next((kind for kind in kinds if is_dataclass(kind)), None)
        if inner is not None:
            absent = tuple(kind for kind in kinds if kind is types.NoneType)
            yield from ((name, (*held, *absent)) for name, held in _fields(inner, f"{prefix}{field.name}."))
        elif tuple not in kinds:
            yield f"{prefix}{field.name}", kinds


def _alternatives(hint: Any) -> tuple[type, ...]:
    if isinstance(hint, types.UnionType):
        return tuple(kind for part in typing.get_args(hint) for kind in _alternatives(part))
    return (typing.get_origin(hint) or hint,)


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, int) and not isinstance(value, bool) and float in kinds:
        return True
    return type(value) in kinds or (value is None and types.NoneType in kinds)


def _type_name(kinds: tuple[type, ...]) -> str:
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false", types.NoneType: "nothing"}
    return " or ".join(names.get(kind, kind.__name__) for kind in kinds)


# --- document to rule -------------------------------------------------------------------------------------


def _rule(document: RuleDocument, located: Located) -> Rule:
    return Rule(
        id=document.id,
        title=document.title,
        category=Category(document.id.partition("/")[0]),
        role=document.role,
        severity=document.severity,
        strength=document.strength,
        match=_matcher(document.match),
        same_failure=tuple(document.same_failure),
        explains=tuple(document.explains),
        blames=document.blames,
        action=document.action,
        summary=document.summary.strip(),
        what=document.what.strip(),
        why=document.why.strip(),
        confirm=tuple(_step(step) for step in document.confirm),
        remediation=tuple(_step(step) for step in document.remediation),
        references=tuple(Reference(reference.title, reference.url) for reference in document.references),
        hits=tuple(_example(hit) for hit in document.examples.hit),
        misses=tuple(_example(miss) for miss in document.examples.miss),
        formerly=tuple(document.formerly),
        groups=tuple(document.groups),
        defined_at=f"{located.file}:{located.line_of(('id',))}",
    )


def _matcher(match: MatchDocument) -> Matcher:
    return Matcher(
        events=tuple(match.event or ()),
        wordings=tuple(Wording(_pattern(w.message), w.nccl or "", w.torch or "") for w in match.wordings),
        where={name: _test(condition) for name, condition in match.where.items()},
        unless=tuple(_pattern(expression) for expression in match.unless),
        near=tuple(_nearby(near, near.order) for near in match.near),
        not_followed_by=tuple(_nearby(follower, "after") for follower in match.not_followed_by),
        detector=match.detector,
        fallback=match.fallback,
    )


def _pattern(expression: str) -> Pattern:
    return Pattern(expression, *required_literals(expression))


def _test(condition: ConditionDocument) -> Test:
    return Test(tuple(condition.one_of or ()), condition.at_least, condition.at_most)


def _nearby(near: NearDocument | FollowDocument, order: str) -> Nearby:
    pattern = None if near.message is None else _pattern(near.message)
    return Nearby(tuple(near.event), pattern, near.within_lines, near.same, order)


def _step(step: StepDocument) -> Step:
    return Step(**{**step.model_dump(), "given": tuple(step.given), "along": tuple(step.along.items())})


def _example(example: HitDocument | MissDocument) -> Example:
    captures, also = ({}, ()) if isinstance(example, MissDocument) else (example.captures, tuple(example.also))
    return Example(
        name=example.name,
        log=example.log,
        source=example.source or "",
        captures=captures,
        also=also,
    )
