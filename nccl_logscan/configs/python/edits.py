"""Edits of Python's literals, statements, pairs and keywords. Each is tried, by the settings and by the compiler."""

from __future__ import annotations

import ast
import re
import warnings

import tree_sitter

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, applied, line_start
from nccl_logscan.configs.mappings.removal import out_of_flow
from nccl_logscan.configs.mappings.tree import Node, Sequence
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.configs.proof import changes_just
from nccl_logscan.configs.python.tree import parsed
from nccl_logscan.expressions import deferred

_STRING = deferred(r"([rRuUbB]*)(\"\"\"|'''|\"|')")
_NUMBER = deferred(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_DURATION = deferred(r"((?:\w+\.)*timedelta)\(.*\)", re.DOTALL)
_CONSTANTS = {"true": "True", "false": "False", "null": "None"}
_FORMS = frozenset(
    {Form.PYTHON_ENVIRON, Form.PYTHON_KWARG, Form.ENV_MAPPING, Form.RUNTIME_ENV, Form.UNSET, Form.MAPPING}
)
_REST = deferred(rb"[ \t]*(?:#[^\n]*)?\r?(?:\n|\Z)")
_LISTS = frozenset({"dictionary", "argument_list"})


def changed(config: Config, placed: Placed, value: str) -> Edit | None:
    """Return the edit of a value that is a literal."""
    if placed.form not in _FORMS or placed.value_span is None or placed.value is None:
        return None
    start, end = placed.value_span.start, placed.value_span.end
    text = written(value, config.data[start:end].decode("utf-8", "replace"), placed)
    if text is None:
        return None
    edit = Edit(start, end, text.encode())
    meant = text if _DURATION.fullmatch(text) else value
    return edit if changes_just(config, edit, placed, meant) and compiles_as_before(config.data, edit) else None


def written(value: str, old: str, placed: Placed) -> str | None:
    """Return a value in the manner of the one that it replaces."""
    if duration := _DURATION.fullmatch(old):
        inner = _DURATION.fullmatch(value)
        if inner:
            return duration[1] + value[len(inner[1]) :]
        return f"{duration[1]}(seconds={value})" if _NUMBER.fullmatch(value) else None
    quoted = _STRING.match(old)
    if quoted is None and placed.kind is not Kind.ENV:
        if value in _CONSTANTS:
            return _CONSTANTS[value]
        if _NUMBER.fullmatch(value):
            return value
        if placed.scalar == "text":
            return value if re.fullmatch(r"\w+(?:\.\w+)+", value) else None
    return literal(value, quoted[2][0] if quoted else '"')


def literal(value: str, quote: str) -> str | None:
    """Return a string literal; None for what would need more than quotes escaped."""
    if not value.isprintable():
        return None
    return quote + value.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote


def compiles_as_before(data: bytes, edit: Edit) -> bool:
    """Return whether the edit breaks nothing that Python's own parser takes."""
    return not _compiles(data) or _compiles(applied(data, [edit]))


def _compiles(data: bytes) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def node_at(data: bytes, start: int, end: int) -> tree_sitter.Node | None:
    """Return the outermost node of exactly these bytes that is no statement."""
    node = parsed(data).root_node.descendant_for_byte_range(start, end)
    while node is not None and node.parent is not None and not node.parent.type.endswith(("statement", "block")):
        if (node.parent.start_byte, node.parent.end_byte) != (start, end):
            break
        node = node.parent
    return node if node is not None and (node.start_byte, node.end_byte) == (start, end) else None


def removed(config: Config, placed: Placed) -> Edit | None:
    """Return the edit that takes a statement, a pair or a keyword out."""
    if placed.form not in _FORMS:
        return None
    node = node_at(config.data, placed.span.start, placed.span.end)
    parent = node.parent if node else None
    if node is None or parent is None:
        return None
    if parent.type in _LISTS:
        edit = _out_of_list(config.data, parent, node)
    elif parent.type in ("expression_statement", "module", "block", "delete_statement"):
        edit = _statement_out(config.data, node if parent.type in ("module", "block") else parent)
    else:
        return None
    return edit if edit and changes_just(config, edit, placed, None) and compiles_as_before(config.data, edit) else None


def entries(parent: tree_sitter.Node) -> Sequence:
    """Return the entries of a dictionary or an argument list as those of a flow sequence."""
    nodes = [Node(child.start_byte, child.end_byte) for child in parent.named_children if child.type != "comment"]
    return Sequence(parent.start_byte, parent.end_byte, flow=True, items=nodes)


def _out_of_list(data: bytes, parent: tree_sitter.Node, node: tree_sitter.Node) -> Edit | None:
    listed = entries(parent)
    number = next((at for at, item in enumerate(listed.items) if item.start == node.start_byte), None)
    if number is None:
        return None
    if len(listed.items) == 1:
        inside = data[parent.start_byte + 1 : node.start_byte] + data[node.end_byte : parent.end_byte - 1]
        return None if inside.strip(b", \t\r\n") else Edit(parent.start_byte + 1, parent.end_byte - 1, b"")
    return out_of_flow(data, listed, number, number)


def _statement_out(data: bytes, statement: tree_sitter.Node) -> Edit | None:
    """Return the edit that takes a statement's lines out; the only one of a block leaves `pass`."""
    if statement.named_child_count != 1:
        return None
    start, end = statement.start_byte, statement.end_byte
    line = line_start(data, start)
    rest = _REST.match(data, end)
    block = statement.parent
    if block is not None and block.type == "block":
        others = [child for child in block.named_children if child.type != "comment"]
        if len(others) == 1:
            return Edit(start, end, b"pass")
    if rest is None or data[line:start].strip(b" \t"):
        return None
    return Edit(line, rest.end(), b"")
