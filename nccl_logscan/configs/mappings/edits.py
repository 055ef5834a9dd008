"""Edits of YAML and JSON. Each is tried: the file with it must parse to what was meant, and to nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, applied
from nccl_logscan.configs.mappings.tree import Mapping, Node, Scalar, Sequence, Tree, children, shape
from nccl_logscan.configs.mappings.writer import Writer
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass

TREE_FORMS = (Form.ENV_LIST, Form.ENV_MAPPING, Form.RUNTIME_ENV, Form.MAPPING)
# Compose: ${X:-value} holds where the caller's environment has no X.
_DEFAULT = deferred(r"(\$\{\w+:?-)[^${}]*\}")
_SAFE = deferred(r"\$\{\w+:?-[\w./:,=+-]*\}")
Parser = Callable[[bytes], Tree]


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a setting is in its tree: a mapping's pair or a sequence's item, by number."""

    parent: Mapping | Sequence
    number: int

    @property
    def entry(self) -> tuple[int, int]:
        """Return the bytes of the pair or item."""
        return entry_of(self.parent, self.number)


def size_of(parent: Mapping | Sequence) -> int:
    """Return how many pairs or items there are."""
    return len(parent.pairs if isinstance(parent, Mapping) else parent.items)


def entry_of(parent: Mapping | Sequence, number: int) -> tuple[int, int]:
    """Return the bytes of a pair or item."""
    if isinstance(parent, Mapping):
        key, value = parent.pairs[number]
        return _first(key), max(value.end, key.end)
    return _first(parent.items[number]), parent.items[number].end


def _first(node: Node) -> int:
    return node.first if isinstance(node, Scalar) and node.first is not None else node.start


def spot_of(tree: Tree, placed: Placed) -> Spot | None:
    """Return where a setting is; None for one that an alias makes, or that a text within the file makes."""
    wanted = (placed.span.start, placed.span.end)
    stack: list[Node] = list(tree.documents)
    while stack:
        node = stack.pop()
        if not isinstance(node, (Mapping, Sequence)):
            continue
        for number in range(size_of(node)):
            # "- name: X" alone is an item and its mapping's only pair, both at the same bytes.
            is_named = isinstance(node, Sequence) and isinstance(node.items[number], Mapping)
            if entry_of(node, number) == wanted and is_named == (placed.form is Form.ENV_LIST):
                return Spot(node, number)
        stack.extend(children(node))
    return None


class TreeEdits:
    """The edits of one file."""

    def __init__(self, config: Config, parse: Parser, writer: Writer) -> None:
        self._config = config
        self._parse = parse
        self._writer = writer

    def change(self, placed: Placed, value: str) -> Edit | None:
        """Return the edit that gives a setting another value."""
        if placed.form not in TREE_FORMS:
            return self._within(placed, value)
        scalar = self._scalar(placed)
        if scalar is None:
            return self._within(placed, value)
        if scalar.opaque or scalar.tagged:
            return None
        is_text = placed.form in (Form.ENV_LIST, Form.RUNTIME_ENV)
        prefix = ""
        # An entry of a list, "X=Y" or "X" alone, is its own value.
        if placed.form is Form.ENV_MAPPING and placed.span.start == scalar.start:
            prefix = f"{placed.name}="
        if placed.fallback and (default := _DEFAULT.fullmatch(scalar.text[len(prefix) :])):
            value = f"{default[1]}{value}}}"
            text = self._written_within(scalar, value)
        else:
            text = self._writer.scalar(prefix + value, scalar, is_text=is_text)
        if text is None:
            return None
        if scalar.start == scalar.end:
            text = b" " + text
        edit = Edit(scalar.start, scalar.end, text)
        after = self._parse(applied(self._config.data, [edit]))
        old = shape(self._parse(self._config.data).documents)
        return edit if differ_in_one(old, shape(after.documents), prefix + value) else None

    def _written_within(self, scalar: Scalar, value: str) -> bytes | None:
        """Return ${X:-old} with another default, written as it is."""
        if not _SAFE.fullmatch(value):
            return None
        return re.sub(rb"\$\{.*\}", value.encode(), self._config.data[scalar.start : scalar.end])

    def _scalar(self, placed: Placed) -> Scalar | None:
        span = placed.value_span
        stack: list[Node] = list(self._parse(self._config.data).documents) if span else []
        while stack and span:
            node = stack.pop()
            if isinstance(node, Scalar) and (node.start, node.end) == (span.start, span.end):
                return node
            stack.extend(children(node))
        return None

    def remove(self, placed: Placed) -> Edit | None:
        """Return the edit that takes a setting out."""
        if placed.form not in TREE_FORMS:
            return self._within(placed, None)
        from nccl_logscan.configs.mappings.removal import entries_removed  # noqa: PLC0415 - only where something is taken out

        spot = spot_of(self._parse(self._config.data), placed)
        return (
            entries_removed(self._config.data, self._parse, spot, spot.number) if spot else self._within(placed, None)
        )

    def add(self, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that makes a setting where others of its kind are made."""
        from nccl_logscan.configs.mappings.additions import Additions  # noqa: PLC0415 - only where something is added

        return Additions(self._config, self._parse, self._writer).add(kind, name, value)

    def _within(self, placed: Placed, value: str | None) -> Edit | None:
        """Return the edit of a setting that a text within the file makes, by that text's own syntax."""
        from nccl_logscan.configs.embedded.edits import inner_edit  # noqa: PLC0415 - only where there is one

        return inner_edit(self._config, self._parse, placed, value)


def differ_in_one(before: list[tuple[object, ...]], after: list[tuple[object, ...]], text: str) -> bool:
    """Return whether two shapes differ in nothing but one scalar, which is now `text`."""
    if len(before) != len(after):
        return False
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    return not changed or (len(changed) == 1 and changed[0][0] == "scalar" and changed[0][2] == text)
