"""YAML text to plain data, and the position of every key and value.

Rule files of a site are not trusted: size and depth are bounded, aliases are refused (a few of them can stand for
gigabytes), and so are duplicate keys (YAML keeps the last one in silence). The loader knows text, whole numbers,
decimals, `true`, `false` and `null`; all else (`on`, `no`, `012`, dates) stays text, since rules speak of settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from nccl_logscan.errors import Problem
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass, field

MAX_CHARACTERS = 262_144
MAX_DEPTH = 16

Path = tuple[str | int, ...]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What libyaml counts lines by.
_LINE_BREAK = deferred("\r\n|[\n\r\x85\u2028\u2029]")
_CONSTANTS = {"true": True, "false": False, "null": None, "": None, "~": None}
_INTEGER = deferred(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = deferred(r"[-+]?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+(?:[eE][-+]?[0-9]{1,3})?|[eE][-+]?[0-9]{1,3})")


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a key or value stands: `line` and `column` from 1, `width` in columns.

    `exact` is True where the text stands in the file as it is read (one line, plain or single-quoted), so that a
    place inside the text is a place in the file.
    """

    line: int
    column: int
    width: int = 1
    quoted: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Located:
    """A file's plain data, with the mark of each key and of each value by its path (`("match", "event")`).

    `repeated` are the keys that were written again, with the place of the later one.
    """

    file: str
    data: Any
    lines: tuple[str, ...]
    keys: Mapping[Path, Mark]
    values: Mapping[Path, Mark]
    repeated: tuple[tuple[Path, Mark], ...] = ()

    def line_of(self, path: Path) -> int:
        """Return the line on which the value at `path` starts, or the nearest thing around it."""
        return self._nearest(path).line

    def problem(self, path: Path, message: str, *, at_key: bool = False, offset: int | None = None) -> Problem:
        """Return a problem at the value (or key) of `path`, or `offset` characters into it; a missing value is
        marked at the nearest parent there is.
        """
        mark = self.keys[path] if at_key and path in self.keys else self._nearest(path)
        name = dotted(path)
        text = f"{name}: {message}" if name else message
        if offset is not None and mark.exact:
            mark = self._inside(mark, offset)
        return self._problem(mark, text)

    def repetitions(self) -> Iterator[Problem]:
        """Yield a problem for every key that was written again."""
        for path, mark in self.repeated:
            first = self.keys[path].line
            yield self._problem(mark, f"{dotted(path)}: repeats a key first written on line {first}")

    def _nearest(self, path: Path) -> Mark:
        for length in range(len(path), -1, -1):
            found = self.values.get(path[:length])
            if found is not None:
                # A missing key of a mapping is best seen at the key that holds the mapping.
                return found if length == len(path) else self.keys.get(path[:length], found)
        return Mark(1, 1)

    def _inside(self, mark: Mark, offset: int) -> Mark:
        if not mark.quoted:
            return Mark(mark.line, mark.column + offset)
        start = mark.column  # 0-based index of the character after the opening quote
        text, at = self.lines[mark.line - 1], start
        for _ in range(offset):
            at += 2 if text[at : at + 2] == "''" else 1
        return Mark(mark.line, at + 1)

    def _problem(self, mark: Mark, text: str) -> Problem:
        shown = self.lines[mark.line - 1] if mark.line <= len(self.lines) else None
        return Problem(self.file, mark.line, mark.column, text, shown, mark.width)


def dotted(path: Path) -> str:
    """Return a path as people write it: `match.wordings[0].message`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def locate(file: str, text: str) -> Located | Problem:
    """Return the data of a YAML text and where each part stands, or the first reason why there is none."""
    lines = tuple(_LINE_BREAK.split(text))
    if len(text) > MAX_CHARACTERS:
        return Problem(file, 1, 1, f"is longer than {MAX_CHARACTERS:,} characters; a rule is one failure")
    builder = _Builder(lines)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.feed(event)
    except _Refused as refusal:
        mark = refusal.mark
        shown = lines[mark.line - 1] if mark.line <= len(lines) else None
        return Problem(file, mark.line, mark.column, refusal.text, shown, mark.width)
    except yaml.YAMLError as error:
        return _syntax_problem(file, lines, error)
    return Located(file, builder.root, lines, builder.keys, builder.values, tuple(builder.repeated))


def _syntax_problem(file: str, lines: tuple[str, ...], error: yaml.YAMLError) -> Problem:
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
    place = getattr(error, "problem_mark", None)
    begun = getattr(error, "context_mark", None)
    text = f"is not YAML: {what}"
    if getattr(error, "context", None) and begun is not None:
        text += f" {error.context}, begun on line {begun.line + 1}; is the indentation right?"  # type: ignore[attr-defined]
    if place is None:
        return Problem(file, 1, 1, text)
    number = min(place.line + 1, len(lines))
    return Problem(file, number, place.column + 1, text, lines[number - 1])


class _Refused(Exception):  # noqa: N818 - a signal inside this module, not an error for callers
    def __init__(self, mark: Mark, text: str) -> None:
        super().__init__(text)
        self.mark = mark
        self.text = text


@dataclass(slots=True)
class _Open:
    """A collection that is being read."""

    path: Path
    content: dict[str, Any] | list[Any]
    key: str | None = None


@dataclass(slots=True)
class _Builder:
    """Builds data from parse events with a stack of its own: PyYAML's composer recurses, and a file of a
    hundred thousand `[` would end the process.
    """

    lines: tuple[str, ...]
    root: Any = None
    keys: dict[Path, Mark] = field(default_factory=dict)
    values: dict[Path, Mark] = field(default_factory=dict)
    stack: list[_Open] = field(default_factory=list)
    repeated: list[tuple[Path, Mark]] = field(default_factory=list)
    documents: int = 0

    def feed(self, event: yaml.Event) -> None:
        if getattr(event, "tag", None) is not None:
            raise _Refused(_mark(event), "carries a tag; tags are not allowed in rules")
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._open(event, {})
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open(event, [])
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self.stack.pop()
        elif isinstance(event, yaml.AliasEvent):
            raise _Refused(_mark(event), "is an alias; aliases are not allowed in rules, write the value out")
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise _Refused(_mark(event), "starts a second document; a rule file holds one rule")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        mark = self._scalar_mark(event)
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.content, dict) and top.key is None:
            self._key(top, event, mark)
        else:
            self._place(_value_of(event), mark)

    def _key(self, top: _Open, event: yaml.ScalarEvent, mark: Mark) -> None:
        path = (*top.path, event.value)
        if path in self.keys:
            self.repeated.append((path, mark))
        else:
            self.keys[path] = mark
        top.key = event.value

    def _place(self, value: Any, mark: Mark) -> Path:
        path: Path = ()
        if self.stack:
            path = self._add(self.stack[-1], value)
        else:
            self.root = value
        self.values[path] = mark
        return path

    def _add(self, top: _Open, value: Any) -> Path:
        if isinstance(top.content, list):
            top.content.append(value)
            return (*top.path, len(top.content) - 1)
        key = top.key
        assert key is not None
        top.content[key] = value
        top.key = None
        return (*top.path, key)

    def _open(self, event: yaml.Event, content: dict[str, Any] | list[Any]) -> None:
        mark = _mark(event)
        if len(self.stack) >= MAX_DEPTH:
            raise _Refused(mark, f"is nested deeper than {MAX_DEPTH} levels")
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.content, dict) and top.key is None:
            raise _Refused(mark, "a key must be text")
        self.stack.append(_Open(self._place(content, mark), content))

    def _scalar_mark(self, event: yaml.ScalarEvent) -> Mark:
        start, end = event.start_mark, event.end_mark
        assert start is not None
        assert end is not None
        one_line = start.line == end.line
        width = end.column - start.column if one_line else 1
        exact = one_line and (event.implicit[0] or event.style == "'")
        return Mark(start.line + 1, start.column + 1, max(1, width), event.style == "'", exact)


def _mark(event: yaml.Event) -> Mark:
    start = event.start_mark
    assert start is not None
    return Mark(start.line + 1, start.column + 1)


def _value_of(event: yaml.ScalarEvent) -> str | int | float | bool | None:
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text
