"""YAML to its tree, by libyaml: scalars are what PyYAML makes of them, and a broken line costs only itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import Any

import yaml

from nccl_logscan.configs.mappings.tree import Alias, Mapping, Node, Scalar, Sequence, Tree
from nccl_logscan.expressions import deferred

_MENDED_LINES = 8
_MOST_EVENTS = 300_000
_TYPES = {"int": "integer", "float": "number", "bool": "boolean", "null": "null"}
_TAG = "tag:yaml.org,2002:"
# Go's and Jinja's actions; the bounds keep the search linear in a file of nothing but opening braces.
# Quotes within braces are closed there: in {a: {b: '{{'}} is none.
_TEMPLATE = deferred(
    rb"""\{\{-?\s{0,9}/\*.{0,2000}?\*/\s{0,9}-?\}\}|\{\{(?:"[^"\n]*+"|'[^'\n]*+'|[^"'{}]|\{(?!\{)|\}(?!\})){0,2000}+\}\}
    |\{%.{0,2000}?%\}|\{\#.{0,2000}?\#\}""",
    re.DOTALL | re.VERBOSE,
)
_NEAR = 256
_BREAK = deferred("(\r\n|[\n\r\x85\u2028\u2029])")
# What the YAML readers refuse to take (yaml/reader.py's NON_PRINTABLE).
_UNPRINTABLE = deferred("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PROPERTY = deferred(r"(?:[&!]\S*(?:\s+|#[^\n]*\n)+)+")
_DECIMAL = deferred(r"-?(?:0|[1-9]\d*)")
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_RESOLVER: Any = yaml.resolver.Resolver()
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@lru_cache(maxsize=8192)
def scalar_type(text: str) -> str:
    """Return what an unquoted scalar is to a YAML 1.1 reader: text, integer, number, boolean or null."""
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))
    return _TYPES.get(str(tag).removeprefix(_TAG), "text")


@lru_cache(maxsize=4)
def yaml_tree(data: bytes) -> Tree:
    """Return the documents of any bytes; where libyaml stops, that line is left out and told as a fault."""
    return _Reading(data).tree()


class _Reading:
    """One file's way from bytes to tree."""

    def __init__(self, data: bytes) -> None:
        self._templates = templates(data)
        self._data = blank(data, self._templates) if self._templates else data
        self._text, self._offset = _decoded(self._data)

    def tree(self) -> Tree:
        """Return the tree of the text, the lines that stop the parser left out."""
        text, faults = self._text, list[str]()
        for _ in range(_MENDED_LINES):
            growing = _Growing(text, self._offset, Tree((), (), self._data, self._templates))
            error = growing.grow()
            if error is None:
                break
            line, problem = error
            faults.append(f"line {line + 1} cannot be read as YAML: {problem}")
            mended = _without_line(text, line)
            if mended == text or "nesting" in problem:
                break
            text = mended
        return Tree(tuple(growing.documents), tuple(faults), self._data, self._templates)


class _Growing:
    """Documents as the parser's events make them."""

    def __init__(self, text: str, offset: Callable[[int], int], frame: Tree) -> None:
        self.documents: list[Node] = []
        self._text = text
        self._offset = offset
        self._frame = frame
        self._open: list[Node] = []
        self._keys: list[Node | None] = []
        self._anchors: dict[str, Node] = {}

    def grow(self) -> tuple[int, str] | None:
        """Take the events; return the line (from 0) and the problem that stopped them, None at the end."""
        parser = _LOADER(self._text)
        try:
            for _ in range(_MOST_EVENTS):
                event = parser.get_event()
                if event is None:
                    return None
                self._take(event)
        except yaml.MarkedYAMLError as error:
            # What is not closed is at fault where it begins, not where that is noticed.
            begun = error.context or ""
            is_open = begun.startswith("while scanning") or "flow" in begun
            mark = (error.context_mark if is_open else None) or error.problem_mark or error.context_mark
            return (mark.line if mark else 0), str(error.problem or error.context or "not YAML")
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            return 0, str(error).partition("\n")[0]
        finally:
            parser.dispose()
        return 0, f"nesting or length: more than {_MOST_EVENTS} nodes, only the first were looked at"

    def _take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._add(self._scalar(event))
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            start, end = self._span(event)
            made = Mapping if kind is yaml.MappingStartEvent else Sequence
            node = made(start, end, bool(event.flow_style), anchor=event.anchor)
            self._add(node)
            self._open.append(node)
            self._keys.append(None)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._close(event)
        elif kind is yaml.AliasEvent:
            start, end = self._span(event)
            self._add(Alias(start, end, self._anchors.get(event.anchor)))
        elif kind is yaml.DocumentStartEvent:
            self._anchors, self._open, self._keys = {}, [], []

    def _close(self, event: Any) -> None:
        node = self._open.pop()
        self._keys.pop()
        if isinstance(node, (Mapping, Sequence)):
            inner = node.pairs[-1][1] if isinstance(node, Mapping) and node.pairs else None
            inner = node.items[-1] if isinstance(node, Sequence) and node.items else inner
            # A block collection's end is told to be where the next token begins.
            node.end = self._span(event)[1] if node.flow or inner is None else inner.end

    def _add(self, node: Node) -> None:
        if node.anchor:
            self._anchors[node.anchor] = node
        if not self._open:
            self.documents.append(node)
            return
        parent = self._open[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif (key := self._keys[-1]) is None:
            self._keys[-1] = node
        elif isinstance(parent, Mapping):
            parent.pairs.append((key, node))
            self._keys[-1] = None

    def _span(self, event: Any) -> tuple[int, int]:
        return self._offset(event.start_mark.index), self._offset(event.end_mark.index)

    def _scalar(self, event: Any) -> Scalar:
        first, last = event.start_mark.index, event.end_mark.index
        if (event.anchor or event.tag) and (found := _PROPERTY.match(self._text, first, last)):
            first = found.end()
        if event.style in ("|", ">"):
            last = first + len(self._text[first:last].rstrip("\n\r "))
        start, end = self._offset(first), self._offset(last)
        before = self._offset(event.start_mark.index) if event.anchor or event.tag else None
        kind = "text" if event.style else scalar_type(event.value)
        if event.tag:
            kind = _TYPES.get(str(event.tag).removeprefix(_TAG), "text")
        opaque = bool(self._frame.templates) and self._frame.is_templated(start, end)
        tagged = event.tag is not None
        return Scalar(start, end, event.value, kind, event.style or "", opaque, tagged, before, anchor=event.anchor)


def templates(data: bytes) -> tuple[tuple[int, int], ...]:
    """Return where the templates of Helm, Jinja and the like are, filled in by another program before YAML is read."""
    if b"{{" not in data and b"{%" not in data:
        return ()
    return tuple(match.span() for match in _TEMPLATE.finditer(data))


def blank(data: bytes, templates: tuple[tuple[int, int], ...]) -> bytes:
    """Return the bytes with the templates written over: as a word within a value, as blanks where they have a line."""
    parts, at = list[bytes](), 0
    for start, end in templates:
        before = data[max(0, start - _NEAR) : start].rpartition(b"\n")[2]
        after = data[end : end + _NEAR].partition(b"\n")[0]
        alone = not (before + after).strip(b" \t\r") or data[start + 1 : start + 2] in b"%#"
        filler = b" " if alone or b"\n" in data[start:end] else b"T"
        inside = b"".join(b"\n" if byte == 10 else filler for byte in data[start:end])
        parts += (data[at:start], inside)
        at = end
    return b"".join((*parts, data[at:]))


def _decoded(data: bytes) -> tuple[str, Callable[[int], int]]:
    """Return a text that the parser takes, and from its characters to the bytes' offsets."""
    skipped = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    try:
        text = data[skipped:].decode("utf-8")
    except UnicodeDecodeError:
        text = data[skipped:].decode("latin-1")
        return _UNPRINTABLE.sub("?", text), lambda index: index + skipped
    text = _UNPRINTABLE.sub("?", text)
    if data.isascii():
        return text, lambda index: index
    offsets = list(accumulate(map(_width, text), initial=skipped))
    return text, lambda index: offsets[min(index, len(offsets) - 1)]


def _width(character: str) -> int:
    return 1 if character < "\x80" else 2 if character < "\u0800" else 3 if character < "\U00010000" else 4


def _without_line(text: str, line: int) -> str:
    """Return the text with a line (from 0) emptied, or the last one that is not empty before it."""
    parts = _BREAK.split(text)
    at = min(2 * line, len(parts) - 1)
    while at >= 0 and not parts[at].strip():
        at -= 2
    if at < 0:
        return text
    parts[at] = " " * len(parts[at])
    return "".join(parts)


def plain_number(text: str) -> str:
    """Return an integer of YAML 1.1 (0x10, 017, 1_000, 1:30) in decimal digits; one that is too long as it is."""
    if _DECIMAL.fullmatch(text):
        return text
    try:
        return str(_CONSTRUCTOR.construct_yaml_int(yaml.ScalarNode(f"{_TAG}int", text)))
    except (ValueError, IndexError):
        return text
