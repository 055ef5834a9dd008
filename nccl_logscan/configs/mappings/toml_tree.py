"""TOML to its tree, by tree-sitter: tables are mappings, whatever brackets and dots they are written with."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache, lru_cache

import tree_sitter
import tree_sitter_toml

from nccl_logscan.configs.mappings.tree import Mapping, Node, Scalar, Sequence, Tree

_TYPES = {"integer": "integer", "float": "number", "boolean": "boolean"}
_KEYS = frozenset({"bare_key", "quoted_key", "dotted_key"})
_DEEPEST_KEY = 64


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_toml.language()))


@lru_cache(maxsize=4)
def toml_tree(data: bytes) -> Tree:
    """Return the document of any bytes; what the parser could not place is left out and told."""
    return _Reading(data).tree()


class _Reading:
    """A document and its tables by name."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._root = Mapping(0, len(data), flow=False)
        self._tables: dict[tuple[int, str], Node] = {}

    def tree(self) -> Tree:
        """Return the tree."""
        faults = list[str]()
        for child in _parser().parse(self._data).root_node.children:
            match child.type:
                case "pair":
                    self._pair(child, self._root)
                case "table" | "table_array_element":
                    self._table(child)
            if child.has_error:
                faults.append(f"line {child.start_point[0] + 1} cannot be read as TOML")
        return Tree((self._root,), tuple(faults[:8]), self._data)

    def _table(self, node: tree_sitter.Node) -> None:
        """[a.b] and [[a.b]]: the pairs go into the mapping of that name."""
        named = node.named_children
        key = next((child for child in named if child.type in _KEYS), None)
        parts = _parts(key) if key else []
        if not parts:
            return
        home = self._home(self._root, parts[:-1])
        if node.type == "table_array_element":
            table = self._element(home, parts[-1], node)
        else:
            table = self._below(home, parts[-1])
        for child in named:
            if child.type == "pair":
                self._pair(child, table)

    def _element(self, home: Mapping, key: Scalar, node: tree_sitter.Node) -> Mapping:
        listed = self._tables.get((id(home), key.text))
        if not isinstance(listed, Sequence):
            listed = Sequence(node.start_byte, node.end_byte, flow=False)
            home.pairs.append((key, listed))
            self._tables[id(home), key.text] = listed
        table = Mapping(node.start_byte, node.end_byte, flow=False)
        listed.items.append(table)
        return table

    def _home(self, mapping: Mapping, parts: list[Scalar]) -> Mapping:
        """Return the mapping that a dotted key leads to, made where it is missing."""
        for part in parts:
            mapping = self._below(mapping, part)
        return mapping

    def _below(self, mapping: Mapping, part: Scalar) -> Mapping:
        below = self._tables.get((id(mapping), part.text))
        if isinstance(below, Sequence):
            below = below.items[-1]
        if not isinstance(below, Mapping):
            below = Mapping(part.start, part.end, flow=False)
            mapping.pairs.append((part, below))
            self._tables[id(mapping), part.text] = below
        return below

    def _pair(self, node: tree_sitter.Node, table: Mapping) -> None:
        named = [child for child in node.named_children if child.type != "comment"]
        parts = _parts(named[0]) if len(named) >= 2 and named[0].type in _KEYS else []
        if parts and named[1].type != "ERROR":
            home = self._home(table, parts[:-1])
            home.pairs.append((parts[-1], self._value(named[1])))

    def _value(self, root: tree_sitter.Node) -> Node:
        """Return a value's tree; arrays and inline tables within it are taken one after the other."""
        made = list[Node]()
        stack: list[tuple[tree_sitter.Node, Callable[[Node], None]]] = [(root, made.append)]
        while stack:
            node, attach = stack.pop()
            if node.type == "array":
                listed = Sequence(node.start_byte, node.end_byte, flow=True)
                attach(listed)
                stack += [(child, listed.items.append) for child in reversed(_values(node))]
            elif node.type == "inline_table":
                table = Mapping(node.start_byte, node.end_byte, flow=True)
                attach(table)
                for pair in node.named_children:
                    named = pair.named_children if pair.type == "pair" else []
                    if len(named) >= 2 and (parts := _parts(named[0])):
                        stack.append((named[1], _adding(self._home(table, parts[:-1]), parts[-1])))
            else:
                attach(Scalar(node.start_byte, node.end_byte, _text(node), _TYPES.get(node.type, "text"), _quote(node)))
        return made[0]


def _parts(key: tree_sitter.Node) -> list[Scalar]:
    """Return a dotted key's parts; each begins where the whole key does."""
    names, node = list[tree_sitter.Node](), key
    while node.type == "dotted_key" and len(names) <= _DEEPEST_KEY:
        children = [child for child in node.children if child.type in _KEYS]
        names += reversed(children[1:])
        node = children[0]
    if node.type == "dotted_key":
        return []
    return [Scalar(key.start_byte, name.end_byte, _text(name)) for name in reversed([*names, node])]


def _values(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    return [child for child in node.named_children if child.type not in ("comment", "ERROR")]


def _adding(home: Mapping, key: Scalar) -> Callable[[Node], None]:
    number = len(home.pairs)
    home.pairs.append((key, key))

    def add(value: Node) -> None:
        home.pairs[number] = (key, value)

    return add


def _quote(node: tree_sitter.Node) -> str:
    written = node.text or b""
    if node.type != "string":
        return ""
    return (written[:3] if written[:3] in (b'"""', b"'''") else written[:1]).decode()


def _text(node: tree_sitter.Node) -> str:
    written = (node.text or b"").decode("utf-8", "replace")
    if node.type == "integer" and written.isdecimal() and written[0] != "0":
        return written
    if node.type in ("string", "quoted_key", "integer"):
        if node.type != "integer" and "\\" not in written and written[1:2] != written[:1] != written[2:3]:
            return written[1:-1]
        try:
            return str(tomllib.loads(f"x = {written}")["x"])
        except (tomllib.TOMLDecodeError, ValueError):
            return written
    return written
