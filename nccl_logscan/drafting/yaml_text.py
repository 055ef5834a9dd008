"""Texts of a log as YAML that reads back as they were: a log may hold quotes, control characters, or YAML itself."""

from __future__ import annotations

import re

from nccl_logscan.expressions import deferred
from nccl_logscan.report.visible import HASHED, acts_on_nothing, visible

# A CI runner takes lines of our output that hold `##[` or `##vso[`, or begin with `::name`, for commands to itself.
_COMMAND = deferred(rf"{HASHED}|^::")


def quoted(text: str) -> str:
    """Return the text as a double-quoted scalar of one line; what acts on a terminal or a page is escaped."""
    return f'"{_COMMAND.sub(_broken_up, "".join(map(_shown, _encodable(text))))}"'


def expression_scalar(text: str) -> str:
    """Return an expression as YAML: single-quoted, so that its backslashes stay as they are."""
    return "'" + text.replace("'", "''") + "'" if text.isprintable() and acts_on_nothing(text) else quoted(text)


def block(text: str, indent: str) -> str:
    """Return one line of a log as a value: a literal block where the line can be shown as it is, else quoted."""
    if not text.isprintable() or text != text.strip() or not text or not acts_on_nothing(text):
        return quoted(text)
    return f"|\n{indent}{text}"


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _shown(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter.isprintable() and visible(letter) == letter:
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _broken_up(found: re.Match[str]) -> str:
    return "#\\x23" if found[0].startswith("#") else "\\x3a:"
