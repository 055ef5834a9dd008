"""Additions to Python: a variable before torch is imported or among Ray's env_vars, a keyword of a call."""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, lines_put
from nccl_logscan.configs.mappings.insertion import appended
from nccl_logscan.configs.mappings.variable_names import is_telling
from nccl_logscan.configs.model import Config, Form
from nccl_logscan.configs.proof import adds_just
from nccl_logscan.configs.python.edits import compiles_as_before, entries, literal, node_at
from nccl_logscan.configs.python.tree import dotted, parsed, telling_nodes
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span

_KEYWORD = deferred(r"(\w+)\((\w+)=\)")
_SOURCE = deferred(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|(?:\w+\.)*timedelta\([\w=\s.,*]{1,80}\)|True|False|None")
_CONSTANTS = {"true": "True", "false": "False", "null": "None"}
_READERS = ("torch", "deepspeed", "accelerate", "transformers", "lightning", "pytorch_lightning", "vllm", "megatron")


def added(config: Config, kind: Kind, name: str, value: str) -> Edit | None:
    """Return the edit, tried: the program then makes the setting, and all that it made."""
    if kind is Kind.PYTHON_KWARG:
        edit = _keyword(config, name, value)
        meant = _CONSTANTS.get(value, value)
    elif kind is Kind.ENV:
        edit = _to_runtime_env(config, name, value) or _statement(config, name, value)
        meant = value
    else:
        return None
    if edit is None or not compiles_as_before(config.data, edit):
        return None
    return edit if adds_just(config, edit, name, meant.lower() if meant in _CONSTANTS.values() else value) else None


def _keyword(config: Config, name: str, value: str) -> Edit | None:
    """Return the edit that gives a call a keyword more: in the only call of that name which lacks it."""
    wanted = _KEYWORD.fullmatch(name)
    text = _CONSTANTS.get(value, value)
    if wanted is None:
        return None
    if not _SOURCE.fullmatch(text):
        quoted = literal(value, '"')
        text = quoted or ""
    if not text or (text.startswith("timedelta(") and not re.search(rb"import[^\n]*\btimedelta\b", config.data)):
        return None
    calls = [node for node in telling_nodes(config.data) if node.type == "call" and _is_called(node, wanted[1], config)]
    if len(calls) != 1:
        return None
    arguments = calls[0].child_by_field_name("arguments")
    if arguments is None or arguments.type != "argument_list":
        return None
    listed, pair = entries(arguments), f"{wanted[2]}={text}".encode()
    if not listed.items:
        return Edit(arguments.start_byte + 1, arguments.start_byte + 1, pair)
    return appended(config.data, listed, [pair])


def _is_called(node: tree_sitter.Node, name: str, config: Config) -> bool:
    function = dotted(node.child_by_field_name("function"), config.data)
    return function is not None and function.rpartition(".")[2] == name


def _to_runtime_env(config: Config, name: str, value: str) -> Edit | None:
    """Return the edit that adds a pair to the env_vars that Ray hands to its workers."""
    made = [one for one in config.settings if one.form is Form.RUNTIME_ENV]
    node = node_at(config.data, made[-1].span.start, made[-1].span.end) if made else None
    parent = node.parent if node else None
    if parent is None or parent.type != "dictionary":
        return None
    quote = chr(config.data[made[-1].span.start])
    key, text = literal(name, quote), literal(value, quote)
    if quote not in "\"'" or key is None or text is None:
        return None
    return appended(config.data, entries(parent), [f"{key}: {text}".encode()])


def _statement(config: Config, name: str, value: str) -> Edit | None:
    """Return the edit that writes os.environ[...] = ... where it is read in time."""
    place = _behind_others(config) or _at_imports(config)
    if place is None:
        return None
    key, text = literal(name, place.quote), literal(value, place.quote)
    if key is None or text is None:
        return None
    line = place.indent + f"{place.environ}[{key}] = {text}".encode()
    return lines_put(config.data, place.at, [*place.lines_before, line])


class _Place(NamedTuple):
    """Where an assignment goes, and how it is written there; `lines_before` are those that it needs."""

    at: int
    environ: str = "os.environ"
    quote: str = '"'
    indent: bytes = b""
    lines_before: tuple[bytes, ...] = ()


def _behind_others(config: Config) -> _Place | None:
    """Return the line behind the last variable of NCCL and the like that is set before its reader is imported."""
    reader = _reader_import(config.data)
    made = [one for one in config.settings if one.form is Form.PYTHON_ENVIRON and is_telling(one.name)]
    early = [one for one in made if reader is None or one.span.start < reader]
    for one in reversed(early or made):
        written = config.data[one.span.start : one.span.end].decode("utf-8", "replace")
        plain = re.match(r"([\w.]+)\[([\"'])", written)
        line = config.lines.whole_lines(one.span)
        indent = config.data[line.start : one.span.start]
        if plain and not indent.strip(b" \t"):
            return _Place(line.end, plain[1], plain[2], indent)
    return None


def _at_imports(config: Config) -> _Place | None:
    """Return the line behind `import os`, or with it before the import of what reads the variable."""
    reader = _reader_import(config.data)
    for node in parsed(config.data).root_node.children:
        if node.type != "import_statement" or (reader is not None and node.start_byte > reader):
            continue
        if any(dotted(child, config.data) == "os" for child in node.named_children):
            return _Place(config.lines.whole_lines(Span(node.start_byte, node.end_byte)).end)
    if reader is None:
        return None
    return _Place(reader, lines_before=(b"import os", b""))


def _reader_import(data: bytes) -> int | None:
    """Return where the first import of a library that reads such variables begins, on a line of its own."""
    for node in parsed(data).root_node.children:
        if node.type not in ("import_statement", "import_from_statement"):
            continue
        text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        words = re.findall(r"\w+", text.split("import")[0] if text.startswith("from") else text)
        if any(word in _READERS for word in words) and data[node.start_byte - 1 : node.start_byte] in (b"\n", b""):
            return node.start_byte
    return None
