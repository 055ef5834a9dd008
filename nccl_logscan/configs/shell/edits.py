"""Edits of shell scripts that leave everything else as it was.

Each edit is proved before it is given out: the script is read again with it made, and must then say the same but for
the setting meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.configs.proof import changes_just
from nccl_logscan.configs.shell.here_documents import Document, edit_within
from nccl_logscan.configs.shell.quoting import BARE, SPECIAL, quoted
from nccl_logscan.configs.shell.reading import collected
from nccl_logscan.configs.shell.script import OPTION_TEXT, Script
from nccl_logscan.configs.shell.words import Command, Word
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span

_DEFAULT = deferred(r"""("?)\$\{\w+:?[-=]("[^"]*"|'[^']*'|[^}]*)\}\1""", re.ASCII)
_BLANK = " \t\r"
_OPENERS = frozenset({"then", "else", "elif", "do", "{", "(", "if", "while", "until", "!", "time"})
_JOINED = frozenset({"&&", "||", "|", "|&"})
_BLOCK_END = deferred(r"(?:[ \t\r\n;]|(?<=[ \t\n;])#[^\n]*+)*+(?:(?:fi|done|else|elif|then|do)\b|[})])")


def changed(config: Config, placed: Placed, value: str) -> Edit | None:
    """Return the edit that gives a setting another value, in the quotes that it has."""
    if {"\0", "\n", "\r"} & set(value):
        return None
    edit = _changed(config, placed, value)
    return edit if edit and changes_just(config, edit, placed, value) else None


def _changed(config: Config, placed: Placed, value: str) -> Edit | None:  # noqa: PLR0911 - a return per kind of place
    span = placed.value_span
    if span is None:
        if placed.form is Form.LAUNCHER_OPTION and placed.kind.value == "env" and BARE.fullmatch(value):
            return Edit(placed.span.end, placed.span.end, f"={value}".encode())
        return None
    script = collected(config.name, config.data)
    document = _document_of(script, placed)
    if document is not None:
        return edit_within(document, config, placed, value)
    text = script.text
    raw = text[span.start : span.end]
    default = _DEFAULT.fullmatch(raw)
    if default:
        start, end = span.start + default.start(2), span.start + default.end(2)
        return Edit(start, end, value.encode()) if BARE.fullmatch(value) else None
    if _in_comment(script, span) or _is_line(config, placed):
        return Edit(span.start, span.end, value.encode()) if BARE.fullmatch(value) else None
    command, word = _word_at(script, span)
    if command is None or word is None:
        return None
    opening = text[word.start]
    own = opening if opening in "\"'" and word.start < span.start and span.end < word.end else ""
    written = _as_written(value, raw, command.unit.quotes, own, placed)
    return None if written is None else Edit(span.start, span.end, written.encode())


def _word_at(script: Script, span: Span) -> tuple[Command | None, Word | None]:
    """Return the innermost word in which a place begins, with its command."""
    best: tuple[Command | None, Word | None] = (None, None)
    smallest = len(script.text) + 1
    for command in script.commands:
        for word in _all_words(command):
            if word.start <= span.start <= word.end and word.end - word.start <= smallest:
                best, smallest = (command, word), word.end - word.start
    return best


def _all_words(command: Command) -> Iterator[Word]:
    for word in command.words:
        yield word
        yield from word.items or ()


def _as_written(value: str, raw: str, around: str, own: str, placed: Placed) -> str | None:
    """Return a value as it is to stand in place of `raw`; None where no way is safe.

    `around` are the quotes of the strings that the command stands in, `own` those of its word.
    """
    if placed.form in {Form.OVERRIDE, Form.RUNTIME_ENV}:
        return _override_written(value, raw, around + own)
    if placed.form is Form.FLAG and raw[:1] not in {"'", '"'} and (" " in value or len(raw.split()) > 1):
        return value if all(BARE.fullmatch(part) for part in value.split(" ")) else None
    if own:
        return value if BARE.fullmatch(value) or (not around and not SPECIAL & set(value)) else None
    has_quotes = raw[:1] in {"'", '"'}
    for quote in (raw[:1], '"', "'") if has_quotes else ("", '"', "'"):
        written = quoted(value, quote, around)
        if written is not None:
            return written
    return None


def _override_written(value: str, raw: str, around: str) -> str | None:
    """Return a value of Hydra's: text stays in the quotes that Hydra sees, and those that the shell sees stay."""
    if not BARE.fullmatch(value):
        return None
    bare = raw.strip("\\\"'")
    if not bare or raw.count(bare) != 1 or "$" in bare:
        return value if raw and raw[0] not in "\\\"'" and not around else None
    return raw.replace(bare, value)


# Taking a setting out


def removed(config: Config, placed: Placed) -> Edit | None:
    """Return the edit that takes a setting out with what belongs to it: its line, its comma, its continuation."""
    script = collected(config.name, config.data)
    edit = _removal(script, config, placed)
    return edit if edit and changes_just(config, edit, placed, None) else None


def _removal(script: Script, config: Config, placed: Placed) -> Edit | None:  # noqa: PLR0911 - a return per kind of place
    span, text = placed.span, script.text
    document = _document_of(script, placed)
    if document is not None:
        return edit_within(document, config, placed, None)
    if _is_line(config, placed):
        line = config.lines.whole_lines(span)
        return Edit(line.start, line.end, b"")
    if placed.program in {"sbatch", "qsub", "bsub"} and _in_comment(script, span):
        return _directive_removed(config, span, text)
    if placed.form is Form.RUNTIME_ENV and placed.program == "ray job submit":
        return _pair_removed(config, text, span)
    command, words = _words_of(script, span)
    if command is None or not words:
        return _item_removed(text, span)
    first, last = words[0], words[-1]
    if placed.form in {Form.NCCL_CONF, Form.ENV_FILE} and command.targets:
        return _written_line_removed(config, text, command)
    if placed.form is Form.HOST_COMMAND and first.text[:1] != "-":
        return _statement_removed(script, config, command)
    if (span.start, span.end) not in {(first.start, last.end), (command.words[0].start, last.end)}:
        return _item_removed(text, span)
    if words == command.words and command.before != OPTION_TEXT:
        return _statement_removed(script, config, command)
    siblings = next((w.items for w in command.words if w.items and words[0] in w.items), command.words)
    return _words_removed(config, text, list(siblings), words)


def _document_of(script: Script, placed: Placed) -> Document | None:
    """Return the here-document of another syntax that a setting stands in."""
    span = placed.span
    return next((d for d in script.documents if d.start <= span.start and span.end <= d.end), None)


def _is_line(config: Config, placed: Placed) -> bool:
    """Return whether a setting is a whole line of a here-document for nccl.conf."""
    line = config.lines.whole_lines(placed.span)
    text = config.data[placed.span.start : placed.span.end]
    return placed.form is Form.NCCL_CONF and config.data[line.start : line.end].rstrip(b"\r\n") == text


def _in_comment(script: Script, span: Span) -> bool:
    return any(start <= span.start and span.end <= end for start, end in script.comments)


def _words_of(script: Script, span: Span) -> tuple[Command | None, list[Word]]:
    """Return the words that a setting consists of, with their command: the innermost that has them."""
    for command in reversed(script.commands):
        for words in (command.words, *(word.items for word in command.words if word.items)):
            inside = [word for word in words if span.start <= word.start and word.end <= span.end]
            if inside:
                return command, inside
    return None, []


def _directive_removed(config: Config, span: Span, text: str) -> Edit | None:
    """Take a directive's line out, or one of several options of it."""
    line = config.lines.whole_lines(span)
    if text[line.start : line.end].split()[1:] == text[span.start : span.end].split():
        return Edit(line.start, line.end, b"")
    if "," in text[span.start - 1 : span.end + 1].replace(text[span.start : span.end], ""):
        return _item_removed(text, span)
    start = span.start
    while text[start - 1] in _BLANK:
        start -= 1
    return Edit(start, span.end, b"")


def _item_removed(text: str, span: Span) -> Edit | None:
    """Take one of a list's items out, with the comma in front of it or behind."""
    start, end = span.start, span.end
    while text[start - 1] in _BLANK:
        start -= 1
    if text[start - 1] == ",":
        return Edit(start - 1, end, b"")
    while text[end : end + 1] in {" ", ","}:
        end += 1
    return Edit(span.start, end, b"") if text[span.end : end].strip() == "," else None


def _pair_removed(config: Config, text: str, span: Span) -> Edit | None:
    """Take one of a JSON object's pairs out, with the comma behind it or else in front, and the lines it has alone."""
    behind, before = _COMMA_BEHIND.match(text, span.end), _COMMA_BEFORE.search(text[: span.start])
    if behind is None and before is not None:
        return Edit(before.start(), span.end, b"")
    end = behind.end() if behind else span.end
    line = config.lines.whole_lines(Span(span.start, end))
    if text[line.start : line.end].strip() == text[span.start : end].strip():
        return Edit(line.start, line.end, b"")
    while behind and text[end : end + 1] in {" ", "\t"}:
        end += 1
    return Edit(span.start, end, b"")


_COMMA_BEHIND = deferred(r"\s*,")
_COMMA_BEFORE = deferred(r",\s*\Z")


def _statement_removed(  # noqa: PLR0911 - a return per kind of neighbour
    script: Script, config: Config, command: Command
) -> Edit | None:
    """Take a whole command out: its line, with the comment on it, where it stands alone; else itself and its `;`."""
    text = script.text
    if command.targets or command.bodies:
        return None
    start, end = command.words[0].start, command.words[-1].end
    if command.before in _JOINED or command.after in _JOINED | {"&"}:
        return Edit(start, end, b":") if command.after not in {"|", "&", "|&"} and command.before != "|" else None
    if _alone_in_block(script, command):
        return Edit(start, end, b":")
    line = config.lines.whole_lines(Span(start, end))
    before = text[line.start : start]
    after = text[end : line.end].strip()
    if not before.strip(_BLANK) and (not after or after[0] == "#"):
        return Edit(line.start, line.end, b"")
    if after[:1] == ";" and after[:2] != ";;":
        stop = text.index(";", end) + 1
        while text[stop : stop + 1] in {" ", "\t"}:
            stop += 1
        at_end = not text[stop : line.end].strip() and not before.strip(_BLANK)
        return Edit(line.start, line.end, b"") if at_end else Edit(start, stop, b"")
    lead = before.rstrip(_BLANK)
    if lead.endswith(";"):
        return Edit(line.start + len(lead) - 1, end, b"")
    return Edit(start, end, b":")


def _written_line_removed(config: Config, text: str, command: Command) -> Edit | None:
    """Take out a line such as `echo NAME=VALUE >> FILE`, where it is all of its line."""
    line = config.lines.whole_lines(Span(command.words[0].start, command.words[-1].end))
    first = text[line.start : command.words[0].start].strip()
    rest = text[command.words[-1].end : line.end].strip()
    alone = not first and re.fullmatch(r">>?\s*\S+", rest) and command.before not in _OPENERS | _JOINED
    return Edit(line.start, line.end, b"") if alone else None


def _alone_in_block(script: Script, command: Command) -> bool:
    """Return whether a block or subshell would be empty without the command."""
    return command.before in _OPENERS and bool(_BLOCK_END.match(script.text, command.words[-1].end))


def _words_removed(config: Config, text: str, siblings: list[Word], words: list[Word]) -> Edit | None:
    """Take words out of a command or an array, with the blanks or the continuation that part them from the others."""
    at = siblings.index(words[0])
    last = siblings.index(words[-1])
    start, end = words[0].start, words[-1].end
    line = config.lines.whole_lines(Span(start, end))
    alone = not text[line.start : start].strip(_BLANK)
    rest = text[end : line.end].strip()
    if alone and (rest == "\\" or not rest or rest[0] == "#") and not _ends_command(text, line, rest):
        return Edit(line.start, line.end, b"")
    if alone and last + 1 < len(siblings) and "\n" not in text[end : siblings[last + 1].start]:
        return Edit(start, siblings[last + 1].start, b"")
    if at > 0 and "#" not in text[siblings[at - 1].end : start]:
        return Edit(siblings[at - 1].end, end, b"")
    if last + 1 < len(siblings) and "#" not in text[end : siblings[last + 1].start]:
        return Edit(start, siblings[last + 1].start, b"")
    return Edit(start, end, b"")


def _ends_command(text: str, line: Span, rest: str) -> bool:
    """Return whether the line is the last of a command that goes on over lines: the one before then ends it."""
    return rest != "\\" and text[: line.start].rstrip("\r\n")[-1:] == "\\"
