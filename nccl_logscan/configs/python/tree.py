"""Python to the nodes that make settings, by tree-sitter, and what their expressions are worth if literal."""

from __future__ import annotations

import ast
import re
import warnings
from functools import cache, lru_cache

import tree_sitter
import tree_sitter_python

from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass

_TELLING = frozenset(
    {
        "import_statement",
        "import_from_statement",
        "assignment",
        "augmented_assignment",
        "call",
        "dictionary",
        "delete_statement",
    }
)
_LEAVES = frozenset({"string", "comment", "identifier", "dotted_name", "parameters"})
_DOTTED = deferred(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_LONGEST_NAME = 200
_LONGEST_LITERAL = 1 << 16
_PLAIN = deferred(r"([\"'])([^\"'\\\n]*)\1")
_PRODUCT = deferred(r"\d{1,9}(?:\s{0,4}\*\s{0,4}\d{1,9}){1,5}")
_POWER = deferred(r"(\d{1,4}(?:\.\d{1,4})?)\s{0,4}\*\*\s{0,4}(\d{1,2})")
_DURATION = deferred(r"(?:\w+\.){0,3}timedelta\([\d\s_.*+/(),=a-z-]{0,200}\)")
_UNITS = deferred(r"\b(?:weeks|days|hours|minutes|seconds|milliseconds|microseconds)\s{0,4}=")


@dataclass(frozen=True, slots=True)
class Worth:
    """What an expression is worth: a text as the program gets it, None where it depends on something, and its type.

    `fallback`: it is the default of os.environ.get(X, default), and `at` is where that stands.
    """

    text: str | None
    type: str = "text"
    fallback: bool = False
    at: tuple[int, int] | None = None


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))


@lru_cache(maxsize=4)
def parsed(data: bytes) -> tree_sitter.Tree:
    """Return the syntax tree of any bytes."""
    return _parser().parse(data)


def telling_nodes(data: bytes, limit: int = 200_000) -> list[tree_sitter.Node]:
    """Return imports, assignments, calls and dictionaries, also within each other; the first `limit` in the file."""
    # A walk, not a query: the latter takes quadratic time in a node with many children.
    cursor, found = parsed(data).walk(), list[tree_sitter.Node]()
    while True:
        node = cursor.node
        kind = node.type if node else ""
        if node and kind in _TELLING:
            found.append(node)
            if len(found) >= limit:
                return found
        if kind not in _LEAVES and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found


def source(node: tree_sitter.Node, data: bytes, longest: int = _LONGEST_NAME) -> str | None:
    """Return a node's text, None for a long one."""
    if node.end_byte - node.start_byte > longest:
        return None
    return data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def dotted(node: tree_sitter.Node | None, data: bytes) -> str | None:
    """Return a name with its dots: `os.environ`; None for any other expression."""
    if node is None or node.type not in ("identifier", "attribute", "dotted_name"):
        return None
    text = source(node, data)
    return text if text and _DOTTED.fullmatch(text) else None


def text_of(node: tree_sitter.Node | None, data: bytes) -> str | None:
    """Return what a literal string stands for; None for any other expression."""
    if node is None or node.type not in ("string", "concatenated_string"):
        return None
    written = source(node, data, _LONGEST_LITERAL) or ""
    if plain := _PLAIN.fullmatch(written):
        return plain[2]
    value = literal_of(written)
    return value if isinstance(value, str) else None


def literal_of(written: str) -> object:
    """Return what a literal stands for, None for anything else. Nothing is run: literal_eval takes literals only."""
    with warnings.catch_warnings():
        # "\d" earns a warning from the compiler, which is the program's matter.
        warnings.simplefilter("ignore")
        try:
            return ast.literal_eval(written)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None


def worth(node: tree_sitter.Node | None, data: bytes) -> Worth:  # noqa: PLR0911 - a return per kind of expression
    """Return what an expression is worth."""
    while node is not None and node.type == "parenthesized_expression" and node.named_child_count == 1:
        node = node.named_children[0]
    if node is None:
        return Worth(None)
    match node.type:
        case "string" | "concatenated_string":
            return Worth(text_of(node, data))
        case "true" | "false":
            return Worth(node.type, "boolean")
        case "none":
            return Worth("null", "null")
        case "integer" | "float" | "unary_operator":
            return _number(source(node, data))
        case "binary_operator":
            return _product(source(node, data))
        case "call":
            return _called(node, data)
    return Worth(None)


def _number(text: str | None) -> Worth:
    value = int(text) if text and text.isdecimal() and text[0] != "0" else literal_of(text or "")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Worth(None)
    is_integer = isinstance(value, int)
    return Worth(str(value) if is_integer else text, "integer" if is_integer else "number")


def _product(text: str | None) -> Worth:
    """30 * 60 → 1800, 2.0**16 → 65536.0."""
    if power := _POWER.fullmatch(text or ""):
        base, exponent = power.groups()
        return _number(str(float(base) ** int(exponent) if "." in base else int(base) ** int(exponent)))
    if text is None or not _PRODUCT.fullmatch(text):
        return Worth(None)
    value = 1
    for factor in text.split("*"):
        value *= int(factor)
    return Worth(str(value), "integer")


def _called(node: tree_sitter.Node, data: bytes) -> Worth:
    """str(5) → 5; timedelta(minutes=30) as it is written."""
    text = source(node, data)
    if text is None:
        return Worth(None)
    if _DURATION.fullmatch(text) and not re.search(r"[a-z]", _UNITS.sub("", text.partition("(")[2])):
        return Worth(text, "text")
    number = re.fullmatch(r"str\(\s{0,4}(-?\d{1,18})\s{0,4}\)", text)
    return Worth(number[1]) if number else Worth(None)
