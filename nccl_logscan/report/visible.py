"""Characters of a log that would act on a terminal or reorder a page, made visible."""

from __future__ import annotations

import re

from nccl_logscan.expressions import deferred

# C0, DEL and C1 controls; bidirectional marks, embeddings and isolates; zero-width characters; line and paragraph
# separators; interlinear and tag characters; surrogates (file names that are not UTF-8).
_ACTING = deferred(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_ACTING_IN_LINES = deferred(_ACTING.pattern.replace("\x0a-\x1f", "\x0b-\x1f"))
# GitHub's runner takes a line that begins with `::name` and a line that holds `##[` for a command to itself.
_RUNNER_COMMAND = deferred(r"(?<!\S)::(?=[A-Za-z])|##(?=\[)")
# Where lines stay as they are written, `::` is obeyed at the beginning alone; elsewhere `::ffff` is an address.
_RUNNER_COMMAND_OF_LINE = deferred(r"(?m)^([^\S\n]*:)(?=:[A-Za-z])|(##)(?=\[)")


def visible(text: str) -> str:
    """Return the text with every acting character spelled out (`^[`, `<U+202E>`); tabs stay."""
    return _ACTING.sub(_spelled, text) if not text.isprintable() else text


def visible_lines(text: str) -> str:
    """Return the same as `visible` for a text of several lines: line feeds stay as well."""
    return _ACTING_IN_LINES.sub(_spelled, text)


def sentence(text: str) -> str:
    """Return a clause with a capital and a full stop; a name at its beginning (`mlx5_0`, `--mem`) stays as it is."""
    first = text.partition(" ")[0]
    head = text[:1].upper() if first.isalpha() else text[:1]
    return head + text[1:] + ("" if text.endswith((".", "!", "?", ":")) or not text else ".")


def short(text: str, length: int) -> str:
    """Return at most `length` characters, the last an ellipsis where some are missing."""
    return text if len(text) <= length else text[: length - 1] + "…"


def short_path(path: str, length: int) -> str:
    """Return at most `length` characters of a path or place; its end names the file, so that the front goes first."""
    return path if len(path) <= length else "…" + path[1 - length :]


def harmless_to_runners(text: str) -> str:
    """Return lines that a CI runner reading our output does not obey."""
    return _RUNNER_COMMAND.sub(lambda match: f"{match[0][0]} {match[0][1]}", text)


def lines_harmless_to_runners(text: str) -> str:
    """Return the same as `harmless_to_runners` of lines that nobody will break or join."""
    return _RUNNER_COMMAND_OF_LINE.sub(lambda match: f"{match[1]} " if match[1] else "# #", text)


def json_harmless_to_runners(document: str) -> str:
    """Return JSON that means the same and holds no `##[`; a line of JSON does not begin with `::`."""
    return document.replace("##[", "#\\u0023[")


def json_visible(lines: bytes) -> bytes:
    """Return lines of JSON that mean the same, in which every acting character is escaped."""
    if lines.isascii() and b"\x7f" not in lines:
        return lines
    return _ACTING_IN_LINES.sub(_escaped, lines.decode()).encode()


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return "^" + chr(code + 0x40)
    return "^?" if code == 0x7F else f"<U+{code:04X}>"
