"""Edits of TOML, each tried on the file as a whole."""

from __future__ import annotations

import json

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, line_start, lines_put
from nccl_logscan.configs.embedded.edits import inner_edit
from nccl_logscan.configs.mappings.edits import TREE_FORMS, Parser, entry_of, size_of, spot_of
from nccl_logscan.configs.mappings.removal import emptied, out_of_block, out_of_flow
from nccl_logscan.configs.mappings.tree import Mapping, Node, Scalar, descendants
from nccl_logscan.configs.model import Config, Placed
from nccl_logscan.configs.proof import adds_just, changes_just
from nccl_logscan.expressions import deferred

_LITERAL = deferred(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false")
_BARE_KEY = deferred(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_REST = deferred(rb"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
_CONTROL = deferred(r"[\x00-\x1f\x7f]")


def changed(config: Config, parse: Parser, placed: Placed, value: str) -> Edit | None:
    """Return the edit of a value."""
    if placed.form not in TREE_FORMS:
        return inner_edit(config, parse, placed, value)
    span = placed.value_span
    held = [node for node in descendants(parse(config.data).documents) if isinstance(node, Scalar)]
    scalar = next((node for node in held if span and (node.start, node.end) == (span.start, span.end)), None)
    text = _written(value, scalar.quote, is_text=scalar.type == "text") if scalar else None
    if scalar is None or text is None:
        return None
    edit = Edit(scalar.start, scalar.end, text)
    return edit if changes_just(config, edit, placed, value) else None


def _written(value: str, quote: str, *, is_text: bool) -> bytes | None:
    if len(quote) > 1 or _CONTROL.search(value):
        return None
    if not is_text and _LITERAL.fullmatch(value):
        return value.encode()
    if quote == "'" and "'" not in value:
        return f"'{value}'".encode()
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return None


def removed(config: Config, parse: Parser, placed: Placed) -> Edit | None:
    """Return the edit that takes a key out; a table that is empty then stays."""
    if placed.form not in TREE_FORMS:
        return inner_edit(config, parse, placed, None)
    spot = spot_of(parse(config.data), placed)
    if spot is None:
        return None
    if not spot.parent.flow:
        edit = out_of_block(config.data, spot.parent, spot.number, spot.number)
    elif size_of(spot.parent) == 1:
        edit = emptied(config.data, spot.parent)
    else:
        edit = out_of_flow(config.data, spot.parent, spot.number, spot.number)
    return edit if edit and changes_just(config, edit, placed, None) else None


def added(config: Config, parse: Parser, kind: Kind, name: str, value: str) -> Edit | None:
    """Return the edit that sets a key of a dotted name in its table, or a variable where others are set."""
    if kind is Kind.ENV:
        return _tried(config, _variable(config, parse, name, value), name, value)
    if kind not in (Kind.YAML_KEY, Kind.JSON_KEY) or not _BARE_KEY.fullmatch(name):
        return None
    text = _written(value, "", is_text=False)
    *tables, key = name.split(".")
    home: Node | None = parse(config.data).documents[0]
    for table in tables:
        home = below if isinstance(home, Mapping) and (below := home.get(table)) else None
    if isinstance(home, Mapping) and (made := _behind(config.data, home, key, text)):
        return _tried(config, made, name, value)
    if home is not None or text is None or not tables:
        return None
    return _tried(config, _new_table(config.data, ".".join(tables), key, text), name, value)


def _variable(config: Config, parse: Parser, name: str, value: str) -> Edit | None:
    """Return the edit that sets a variable in the last table that sets one."""
    tree, made = parse(config.data), [one for one in config.settings if one.kind is Kind.ENV and one.form in TREE_FORMS]
    spot = spot_of(tree, made[-1]) if made else None
    home = spot.parent if spot else None
    return _behind(config.data, home, name, _written(value, "", is_text=True)) if isinstance(home, Mapping) else None


def _tried(config: Config, edit: Edit | None, name: str, value: str) -> Edit | None:
    return edit if edit and adds_just(config, edit, name, value) else None


def _behind(data: bytes, home: Mapping, key: str, text: bytes | None) -> Edit | None:
    """Return the edit that writes a pair behind the last one that stands in the table itself."""
    own = [number for number, (_, value) in enumerate(home.pairs) if isinstance(value, Scalar) or _is_inline(value)]
    if text is None or not own or not _BARE_KEY.fullmatch(key):
        return None
    begin, end = entry_of(home, own[-1])
    line = line_start(data, begin)
    pair = f"{key} = ".encode() + text
    if home.flow:
        return Edit(end, end, b", " + pair)
    rest = _REST.match(data, end)
    if rest is None or data[line:begin].strip(b" \t"):
        return None
    return lines_put(data, rest.end(), [data[line:begin] + pair])


def _is_inline(value: object) -> bool:
    return bool(getattr(value, "flow", False))


def _new_table(data: bytes, table: str, key: str, text: bytes) -> Edit:
    parted = [b""] if data.strip() else []
    return lines_put(data, len(data), [*parted, f"[{table}]".encode(), key.encode() + b" = " + text], closed=True)
