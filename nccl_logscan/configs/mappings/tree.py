"""The tree of a YAML or JSON file: mappings, sequences and scalars, each with its place in the file's bytes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from nccl_logscan.records import dataclass, field


@dataclass(slots=True, eq=False)
class Node:
    """Bytes `start` to `end` of a file. `anchor` is YAML's name for it."""

    start: int
    end: int
    anchor: str | None = field(default=None, kw_only=True)


@dataclass(slots=True, eq=False)
class Scalar(Node):
    """A value. `text` is what the program gets, `type` one of text, integer, number, boolean, null.

    `quote` is the quote or block sign that it is written with, "" for none. `start` is that of the value itself, behind
    an anchor or tag. `opaque`: a template fills in the value, or a part of it. `tagged`: a tag (!!int) says its type.
    `first` is where its anchor or tag begins, if it has one.
    """

    text: str
    type: str = "text"
    quote: str = ""
    opaque: bool = False
    tagged: bool = False
    first: int | None = None


@dataclass(slots=True, eq=False)
class Mapping(Node):
    """Keys and values in the file's order. `flow`: within braces."""

    flow: bool
    pairs: list[tuple[Node, Node]] = field(default_factory=list)

    def get(self, key: str) -> Node | None:
        """Return the value of a key."""
        return next((value for name, value in self.pairs if isinstance(name, Scalar) and name.text == key), None)

    def names(self) -> set[str]:
        """Return the keys that are written out."""
        return {name.text for name, _ in self.pairs if isinstance(name, Scalar)}


@dataclass(slots=True, eq=False)
class Sequence(Node):
    """Values in the file's order. `flow`: within brackets."""

    flow: bool
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Alias(Node):
    """A reference to the node of an anchor, None where the file has none before it."""

    to: Node | None


@dataclass(frozen=True, slots=True)
class Tree:
    """A file's documents, and what could not be read of it.

    `data` are the bytes that were parsed: the file's, with what `templates` (start, end) filled in written over.
    """

    documents: tuple[Node, ...]
    faults: tuple[str, ...]
    data: bytes
    templates: tuple[tuple[int, int], ...] = ()

    def is_templated(self, start: int, end: int) -> bool:
        """Return whether a template stands within these bytes."""
        before = bisect_left(self.templates, (end, 0)) - 1
        return before >= 0 and self.templates[before][1] > start


def resolved(node: Node) -> Node:
    """Return what an alias stands for; any other node itself."""
    return node.to if isinstance(node, Alias) and node.to is not None else node


def children(node: Node) -> list[Node]:
    """Return a node's keys, values or items in the file's order."""
    if isinstance(node, Mapping):
        return [part for pair in node.pairs for part in pair]
    return node.items if isinstance(node, Sequence) else []


def descendants(roots: tuple[Node, ...]) -> Iterator[Node]:
    """Yield all nodes in the file's order."""
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def shape(roots: tuple[Node, ...]) -> list[tuple[object, ...]]:
    """Return what the documents say, places and styles left out: two files with equal shapes mean the same."""
    said: list[tuple[object, ...]] = []
    for node in descendants(roots):
        match node:
            case Scalar():
                said.append(("scalar", node.type, node.text, node.anchor))
            case Mapping():
                said.append(("mapping", len(node.pairs), node.anchor))
            case Sequence():
                said.append(("sequence", len(node.items), node.anchor))
            case Alias():
                said.append(("alias", node.to.anchor if node.to else None))
    return said
