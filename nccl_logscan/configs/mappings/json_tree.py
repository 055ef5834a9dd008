"""JSON to its tree. Comments and commas before a closing bracket, which many readers take, are taken and told."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from nccl_logscan.configs.mappings.tree import Mapping, Node, Scalar, Sequence, Tree
from nccl_logscan.expressions import deferred

_TOKEN = deferred(
    rb"""(?P<blank>[ \t\r\n]++|\xef\xbb\xbf)|(?P<comment>//[^\n]*+|\#[^\n]*+|/\*(?s:.*?\*/|.*))
    |(?P<string>"(?:[^"\\\n]++|\\.)*+"?)|(?P<word>(?:\$?\{\{[^{}"\n]*+\}\}|\$\{[^{}"\n]*+\}|[^\s{}\[\]:,"/\#])++)
    |(?P<mark>[{}\[\]:,])|(?P<other>.)""",
    re.VERBOSE,
)
_INTEGER = deferred(rb"-?\d++")
_NUMBER = deferred(rb"-?(?:\d++(?:\.\d*+)?(?:[eE][-+]?\d++)?|Infinity)|NaN")
_WORDS = {b"true": "boolean", b"false": "boolean", b"null": "null"}


@lru_cache(maxsize=4)
def json_tree(data: bytes) -> Tree:
    """Return the values of any bytes; of a broken file, what is whole."""
    reading = _Reading(data)
    for match in _TOKEN.finditer(data):
        reading.take(match)
    return Tree(tuple(reading.documents), tuple(reading.told()), data)


class _Reading:
    """What has been read so far."""

    def __init__(self, data: bytes) -> None:
        self.documents: list[Node] = []
        self._data = data
        self._open: list[Mapping | Sequence] = []
        self._keys: list[Scalar | None] = []
        self._faults: dict[str, int] = {}
        self._after_comma = False
        self._after_colon = False

    def told(self) -> list[str]:
        """Return the faults, each kind once."""
        if self._open:
            self._fault("a bracket is not closed", self._open[-1].start)
        return [f"line {self._line(offset)}: {problem}" for problem, offset in self._faults.items()]

    def _line(self, offset: int) -> int:
        return self._data.count(b"\n", 0, offset) + 1

    def take(self, match: re.Match[bytes]) -> None:
        """Go one token on."""
        token, start, end = match[0], match.start(), match.end()
        match match.lastgroup:
            case "string":
                if len(token) < 2 or token[-1:] != b'"':
                    self._fault("a string is not closed", start)
                self._add(Scalar(start, end, string_of(token), "text", '"'))
            case "word":
                self._add(self._word(token, start, end))
            case "mark":
                self._mark(token, start, end)
            case "comment":
                self._fault("a comment, which strict readers of JSON refuse", start)
            case "other":
                self._fault("is not JSON", start)

    def _mark(self, token: bytes, start: int, end: int) -> None:
        if token in b"{[":
            node = Mapping(start, end, flow=True) if token == b"{" else Sequence(start, end, flow=True)
            self._add(node)
            self._open.append(node)
            self._keys.append(None)
            self._after_comma = False
        elif token in b"}]":
            self._close(token, start, end)
        elif token == b",":
            self._after_comma = True
            if self._keys:
                self._keys[-1] = None
        else:
            self._after_colon = True

    def _close(self, token: bytes, start: int, end: int) -> None:
        if self._after_comma:
            self._fault("a comma before a closing bracket, which strict readers of JSON refuse", start)
            self._after_comma = False
        if not self._open:
            self._fault("a bracket closes nothing", start)
            return
        if isinstance(self._open[-1], Mapping) != (token == b"}"):
            self._fault("a bracket is closed by another one", start)
        self._open.pop().end = end
        self._keys.pop()

    def _word(self, token: bytes, start: int, end: int) -> Scalar:
        kind = _WORDS.get(token) or ("integer" if _INTEGER.fullmatch(token) else None)
        kind = kind or ("number" if _NUMBER.fullmatch(token) else None)
        if kind is None:
            self._fault("is not JSON", start)
        return Scalar(start, end, token.decode("utf-8", "replace"), kind or "text")

    def _add(self, node: Node) -> None:
        self._after_comma = False
        if not self._open:
            self.documents.append(node)
            return
        parent = self._open[-1]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        elif (key := self._keys[-1]) is not None and self._after_colon:
            parent.pairs.append((key, node))
            self._keys[-1] = None
        elif isinstance(node, Scalar):
            self._keys[-1] = node
        else:
            self._fault("a key is missing", node.start)
        self._after_colon = False

    def _fault(self, problem: str, offset: int) -> None:
        self._faults.setdefault(problem, offset)


def string_of(token: bytes) -> str:
    """Return what a string of JSON, its quotes about it, stands for."""
    text = token.decode("utf-8", "replace")
    if b"\\" in token:
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            pass
    return text[1:].removesuffix('"')
