"""Edits of what a text within a YAML or JSON file sets, made by that text's own syntax and carried to the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, line_start
from nccl_logscan.configs.embedded.splice import Piece
from nccl_logscan.configs.embedded.texts import Inner, sources_in
from nccl_logscan.configs.mappings.edits import Parser, Spot
from nccl_logscan.configs.mappings.removal import entries_removed
from nccl_logscan.configs.mappings.tree import Mapping, Sequence, descendants
from nccl_logscan.configs.model import Config, Placed
from nccl_logscan.configs.proof import adds_just, changes_just, in_condition
from nccl_logscan.configs.read import read_text, syntax_named


def inner_edit(config: Config, parse: Parser, placed: Placed, value: str | None) -> Edit | None:
    """Return the edit that gives a setting another value, or with None takes it out; tried on the file as a whole."""
    span = placed.value_span
    if value is not None and span and parse(config.data).is_templated(span.start, span.end):
        return None
    for inner in _inners(config, parse):
        text = read_text(inner.name, inner.splice.text)
        for made in text.settings if text else ():
            if made.name != placed.name or inner.splice.span(made.span) != placed.span:
                continue
            syntax = syntax_named(text.syntax) if text else None
            if text is None or syntax is None:
                return None
            edit = syntax.remove(text, made) if value is None else syntax.change(text, made, value)
            outer = _carried(config, parse, inner, edit) if edit else None
            return outer if outer and changes_just(config, outer, placed, value) else None
    return None


def inner_addition(config: Config, parse: Parser, kind: Kind, name: str, value: str) -> Edit | None:
    """Return the edit that makes the setting in the first text that has a place for it."""
    for inner in _inners(config, parse):
        text = read_text(inner.name, inner.splice.text)
        if text is None or not text.settings:
            continue
        edit = syntax_named(text.syntax).add(text, kind, name, value)
        outer = _carried(config, parse, inner, edit) if edit else None
        if outer and not in_condition(config.data, outer.end) and adds_just(config, outer, name, value):
            return outer
    return None


def _inners(config: Config, parse: Parser) -> Iterator[Inner]:
    tree = parse(config.data)
    for node in descendants(tree.documents):
        if isinstance(node, Mapping):
            yield from sources_in(node, tree.data)


def _carried(config: Config, parse: Parser, inner: Inner, edit: Edit) -> Edit | None:
    """Return an edit of the text as one of the file."""
    pieces = [
        piece for piece in inner.splice.pieces if piece.inner < edit.end and edit.start < piece.inner + piece.length
    ]
    if not edit.text.strip() and pieces and inner.words and _covers(edit, pieces):
        return _words_removed(config, parse, pieces)
    if not inner.words and (b"\n" in edit.text or b"\n" in inner.splice.text[edit.start : edit.end]):
        indent = _indent(config.data, inner)
        return None if indent is None else _lines_carried(config.data, inner, edit, indent)
    start, end = _outer(inner, edit.start), _outer(inner, edit.end)
    if start is None or end is None or end < start or b"\n" in edit.text:
        return None
    return Edit(start, end, edit.text)


def _lines_carried(data: bytes, inner: Inner, edit: Edit, indent: bytes) -> Edit | None:
    """Return an edit of whole lines of a block; each has the block's indentation."""
    start, end = _outer(inner, edit.start), _outer(inner, edit.end)
    if start is None or end is None:
        return None
    if edit.end < len(inner.splice.text):
        text = re.sub(rb"\n(?!\n)", b"\n" + indent, edit.text)
        is_blank = data[end : end + 1] in (b"\n", b"\r")
        return Edit(start, end, text.removesuffix(indent) if is_blank and text.endswith(b"\n" + indent) else text)
    # At the text's end there is no next line whose indentation could be used: the line before gets a successor.
    last = inner.splice.pieces[-1]
    end = last.outer + last.length
    text = re.sub(rb"\n(?!\n)", b"\n" + indent, edit.text.rstrip(b"\n"))
    if edit.start > last.inner + last.length:
        return Edit(end, end, b"\n" + indent + text)
    if text or edit.start == 0:
        return Edit(start, end, text) if text else None
    return Edit(line_start(data, start) - 1, end, b"")


def _covers(edit: Edit, pieces: list[Piece]) -> bool:
    return edit.start <= pieces[0].inner and pieces[-1].inner + pieces[-1].length <= edit.end


def _words_removed(config: Config, parse: Parser, pieces: list[Piece]) -> Edit | None:
    """Return the edit that takes words out of the list that is a command."""
    first, last = pieces[0].outer, pieces[-1].outer
    for node in descendants(parse(config.data).documents):
        if not isinstance(node, Sequence):
            continue
        held = [at for at, item in enumerate(node.items) if item.start <= last and item.end > first]
        is_whole = held and node.items[held[0]].start <= first and node.items[held[-1]].end > last
        if is_whole and held[-1] - held[0] + 1 == len(pieces):
            return entries_removed(config.data, parse, Spot(node, held[0]), held[-1])
    return None


def _outer(inner: Inner, offset: int) -> int | None:
    """Return where an edit's edge falls in the file; behind a line's last byte where it is put between two lines."""
    at = inner.splice.outer(offset)
    if at is None and offset:
        before = inner.splice.outer(offset - 1)
        at = None if before is None else before + 1
    if at is None:
        starts = [piece for piece in inner.splice.pieces if piece.inner == offset]
        at = starts[0].outer if starts else None
    if at is None and offset == len(inner.splice.text):
        last = inner.splice.pieces[-1]
        at = last.outer + last.length
    return at


def _indent(data: bytes, inner: Inner) -> bytes | None:
    """Return the blanks before each line of a block scalar's text."""
    indents = set()
    for piece in inner.splice.pieces:
        if piece.length:
            indents.add(data[line_start(data, piece.outer) : piece.outer])
    return indents.pop() if len(indents) == 1 and not b"".join(indents).strip(b" ") else None
