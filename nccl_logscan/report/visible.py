"""Characters of a log that would act on a terminal or reorder a page, made visible."""

from __future__ import annotations

import re

from nccl_logscan.expressions import deferred

# C0, DEL and C1 controls; bidirectional marks, embeddings and isolates; line and paragraph separators; what is never
# shown (zero-width, filler and tag characters, variation selectors but those of emoji), in which text may be hidden;
# surrogates (file names that are not UTF-8). Unicode 17: Cc, Cs, Zl, Zp, Bidi_Control, Default_Ignorable_Code_Point and
# Cf but for marks that stand before numbers and are seen.
_ACTING = deferred(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_ACTING_IN_LINES = deferred(_ACTING.pattern.replace("\x0a-\x1f", "\x0b-\x1f"))
# Commands to those who run CI jobs: GitHub's runner obeys a line that begins with `::name` and one that holds `##[`,
# Azure's agent one that holds `##vso[`, TeamCity's `##teamcity[`. GitLab, Jenkins and Buildkite obey escapes.
HASHED = r"##(?=[A-Za-z]{0,20}\[)"
_RUNNER_COMMAND = deferred(rf"(?<!\S)::(?=[A-Za-z])|{HASHED}")
# Where lines stay as they are written, `::` is obeyed at the beginning alone; elsewhere `::ffff` is an address.
_RUNNER_COMMAND_OF_LINE = deferred(rf"(?m)^([^\S\n]*:)(?=:[A-Za-z])|({HASHED})")
_HASHED_IN_JSON = deferred(HASHED)


def visible(text: str) -> str:
    """Return the text with every acting character spelled out (`^[`, `<U+202E>`); tabs stay."""
    return text if text.isascii() and text.isprintable() else _ACTING.sub(_spelled, text)


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


def html_harmless_to_runners(page: str) -> str:
    """Return a page that shows the same and holds no command to a CI runner; what is escaped must be in no script."""
    return _RUNNER_COMMAND_OF_LINE.sub(lambda match: f"{match[1][:-1]}&#58;" if match[1] else "#&#35;", page)


def json_harmless_to_runners(document: str) -> str:
    """Return JSON that means the same and holds no `##[` or its like; a line of JSON does not begin with `::`."""
    return _HASHED_IN_JSON.sub(r"#\\u0023", document)


def json_visible(lines: bytes) -> bytes:
    """Return lines of JSON that mean the same, in which nothing acts: such characters and commands are escaped."""
    if lines.isascii() and b"\x7f" not in lines:
        return json_harmless_to_runners(lines.decode()).encode() if b"##" in lines else lines
    return json_harmless_to_runners(_ACTING_IN_LINES.sub(_escaped, lines.decode())).encode()


def acts_on_nothing(line: str) -> bool:
    """Whether a line can be printed as it is: no terminal, page or CI runner obeys any of it. CR may end it."""
    text = line.removeprefix("\ufeff").removesuffix("\r")
    return visible(text) == text == lines_harmless_to_runners(text)


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return "^" + chr(code + 0x40)
    return "^?" if code == 0x7F else f"<U+{code:04X}>"
