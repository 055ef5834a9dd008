"""The syntax of Dockerfiles and Containerfiles: ENV, ARG, what RUN and CMD run, versions that pip is told to install.

Instructions are split as BuildKit splits them (frontend/dockerfile/parser): comments and empty lines within a
continued instruction are skipped, `# escape=` changes the sign that continues a line, a heredoc ends at its word.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import islice

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, lines_put
from nccl_logscan.configs.embedded.splice import Piece, Splice, script_in, shell_script, words_in
from nccl_logscan.configs.embedded.texts import Inner, read_inner
from nccl_logscan.configs.mappings.tree import Scalar, Sequence
from nccl_logscan.configs.model import Config, Form, Launch, LineIndex, Placed
from nccl_logscan.configs.pins import pins_in
from nccl_logscan.configs.proof import adds_just, changes_just
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span
from nccl_logscan.records import dataclass, replace

_ESCAPE = deferred(rb"\A(?:#[ \t]*(?!escape)\w+=[^\n]*\n)*#[ \t]*escape[ \t]*=[ \t]*(`)", re.IGNORECASE)
_HEREDOC = deferred(rb"<<(-?)[ \t]*([\"']?)([A-Za-z_]\w*)\2")
_ONE_WORD = deferred(rb"^(\t*+)([A-Za-z_]\w*+)[ \t]*+\r?$", re.MULTILINE)
_MOST_HEREDOCS = 16
_WORD = deferred(rb"[ \t]*([A-Za-z]+)[ \t]*")
_PAIR = deferred(
    rb"""[ \t\0]*+([A-Za-z_][\w.-]*+)=((?:"(?:[^"\\`]++|[\\`].)*+"?|'[^']*+'?|[\\`].|[^\s"'\\`\0]++)*+)""",
    re.DOTALL | re.VERBOSE,
)
_OLD = deferred(rb"[ \t\0]*+([A-Za-z_][\w.-]*+)[ \t\0]++([^\0]*+(?:\0++[^\0]++)*+)")
_ARGUMENT = deferred(rb"[ \t\0]*+([A-Za-z_][\w.-]*+)(?=[ \t\0]|\Z)")
_OPTIONS = deferred(rb"(?:[ \t\0]*+--[\w-]++(?:=\S*+)?)*+[ \t\0]*+")
_EXPANDS = deferred(rb"\$(?:\{|[A-Za-z_])")
_PLAIN = deferred(r"[A-Za-z0-9_./:=,+@%^~-]+")
_LONGEST_JOINT = 256
_ASSIGNS = deferred(rb"[A-Z_]=")
_SHELL_FORMS = frozenset({b"RUN", b"CMD", b"ENTRYPOINT"})


@dataclass(frozen=True, slots=True)
class _Instruction:
    """An instruction: its word, where it and what it says begin, where it ends (its line feed not with it).

    `text` is what it says from `body` on, byte for byte, with what is skipped (continued lines' ends, comments) as NUL
    bytes, so that offsets stay.
    """

    word: bytes
    start: int
    body: int
    end: int
    text: bytes
    heredocs: tuple[tuple[int, int], ...] = ()


class Instructions:
    """What the syntax of Dockerfiles does with a file: see Syntax."""

    name = "dockerfile"

    def read(self, name: str, data: bytes) -> Config:
        """Return what ENV and ARG set, and what the commands of RUN, CMD and ENTRYPOINT set for themselves."""
        lines = LineIndex(data)
        placed, launches, pins = list[Placed](), list[Launch](), dict[str, str]()
        for instruction in _instructions(data):
            if instruction.word in (b"ENV", b"ARG"):
                placed += _variables(instruction, name, lines)
            elif instruction.word in _SHELL_FORMS:
                config = _run(instruction, data, name, lines)
                if config:
                    # What a RUN exports ends with it.
                    ends = instruction.word == b"RUN"
                    placed += (_ended(setting) if ends else setting for setting in config.settings)
                    launches += config.launches
                    pins.update(config.pins)
                pins.update(pins_in(instruction.text.replace(b"\0", b" ").decode("utf-8", "replace")))
        placed.sort(key=lambda setting: setting.span.start)
        return Config(name, self.name, data, tuple(placed), tuple(launches), pins)

    def change(self, config: Config, placed: Placed, value: str) -> Edit | None:
        """Return the edit of the value, in its quotes."""
        if placed.form is not Form.DOCKER_ENV:
            return _inner_edit(config, placed, value)
        if placed.value_span is None:
            return None
        written = config.data[placed.value_span.start : placed.value_span.end]
        is_bare = _is_old(config.data, placed) and written[:1] not in (b"'", b'"') and value.strip() == value
        text = value.encode() if is_bare else _written(value, written[:1].decode("latin-1"))
        edit = Edit(placed.value_span.start, placed.value_span.end, text) if text else None
        return _proved(config, edit, placed, value)

    def remove(self, config: Config, placed: Placed) -> Edit | None:
        """Return the edit that takes the pair out, or the whole instruction where it is the only one."""
        if placed.form is not Form.DOCKER_ENV:
            return _inner_edit(config, placed, None)
        found = next((one for one in _instructions(config.data) if one.start <= placed.span.start < one.end), None)
        if found is None:
            return None
        spans = [one.span for one in _variables(found, config.name, config.lines)]
        if len(spans) == 1:
            whole = config.lines.whole_lines(Span(found.start, found.end))
            return _proved(config, Edit(whole.start, whole.end, b""), placed, None)
        at = spans.index(placed.span)
        if at + 1 < len(spans):
            edit = Edit(placed.span.start, spans[at + 1].start, b"")
        else:
            edit = Edit(spans[at - 1].end, placed.span.end, b"")
        between = config.data[edit.start : edit.end]
        return (
            None
            if b"#" in between.replace(config.data[placed.span.start : placed.span.end], b"")
            else _proved(config, edit, placed, None)
        )

    def add(self, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that writes an ENV line behind the last ENV of the last stage, or behind its FROM."""
        text = _written(value, "")
        if kind is not Kind.ENV or text is None:
            return None
        last: _Instruction | None = None
        for instruction in _instructions(config.data):
            if instruction.word == b"FROM" or (instruction.word == b"ENV" and last is not None):
                last = instruction
        if last is None:
            return None
        data = config.data
        at = config.lines.whole_lines(Span(last.start, last.end)).end
        word = b"env" if data[last.start : last.start + 3] == b"env" else b"ENV"
        edit = lines_put(data, at, [word + b" " + name.encode() + b"=" + text])
        return edit if adds_just(config, edit, name, value) else None


def _proved(config: Config, edit: Edit | None, placed: Placed, value: str | None) -> Edit | None:
    return edit if edit and changes_just(config, edit, placed, value) else None


def _ended(placed: Placed) -> Placed:
    return replace(placed, form=Form.ASSIGNMENT) if placed.form is Form.EXPORT else placed


@lru_cache(maxsize=4)
def _instructions(data: bytes) -> tuple[_Instruction, ...]:
    return tuple(_split(data))


def _split(data: bytes) -> Iterator[_Instruction]:
    escape = b"`" if _ESCAPE.match(data) else b"\\"
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    words = _EndWords(data)
    while at < len(data):
        end = _line_end(data, at)
        word = _WORD.match(data, at, end)
        if word is None:
            at = end + 1
            continue
        text, last = _continued(data, word.end(), end, escape)
        docs, last = _heredocs(text, words, last) if b"<<" in text else ((), last)
        start = word.start(1)
        yield _Instruction(word[1].upper(), start, word.end(), last, text, docs)
        at = last + 1


def _continued(data: bytes, begin: int, end: int, escape: bytes) -> tuple[bytes, int]:
    """Return an instruction's text and where its last line ends; comments and empty lines in it do not end it."""
    text = bytearray()
    is_first, ends = True, re.compile(re.escape(escape) + rb"[ \t]*\r?\Z|\r\Z")
    while True:
        line = data[begin:end]
        if not is_first and line.lstrip(b" \t\r")[:1] in (b"", b"#"):
            text += b"\0" * len(line)
        else:
            joint = ends.search(line, max(0, len(line) - _LONGEST_JOINT))
            text += line[: joint.start()] + b"\0" * (len(line) - joint.start()) if joint else line
            if joint is None or escape not in joint[0]:
                return bytes(text), end
        if end + 1 >= len(data):
            return bytes(text), end
        text += b"\0"
        is_first, begin = False, end + 1
        end = _line_end(data, begin)


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return end if end >= 0 else len(data)


def _heredocs(text: bytes, words: _EndWords, last: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return where the bodies of an instruction's heredocs are, and where the last one's end word ends."""
    bodies = list[tuple[int, int]]()
    for match in islice(_HEREDOC.finditer(text), _MOST_HEREDOCS):
        ends = words.after(last + 1, match[3], tabs=bool(match[1]))
        if ends is None:
            return tuple(bodies), last
        bodies.append((last + 1, ends[0]))
        last = ends[1]
    return tuple(bodies), last


class _EndWords:
    """Where the lines of a file are that are one word and may end a heredoc; found once, whatever the heredocs."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @cached_property
    def _lines(self) -> dict[bytes, list[tuple[int, int]]]:
        found: dict[bytes, list[tuple[int, int]]] = {}
        for line in _ONE_WORD.finditer(self._data):
            found.setdefault(line[2], []).append(line.span())
        return found

    def after(self, offset: int, word: bytes, *, tabs: bool) -> tuple[int, int] | None:
        """Return the first such line from `offset` on; one behind tabs only where they are allowed."""
        lines = self._lines.get(word, [])
        for number in range(bisect_left(lines, (offset, 0)), len(lines)):
            start, end = lines[number]
            if tabs or self._data[start : start + 1] != b"\t":
                return start, end
        return None


def _variables(instruction: _Instruction, name: str, lines: LineIndex) -> Iterator[Placed]:
    """Yield what ENV A=1 B=2, ENV A 1 and ARG A=1 set."""
    text, at = instruction.text, 0
    pair = _PAIR.match(text)
    if pair is None:
        only = _OLD.match(text) if instruction.word == b"ENV" else _ARGUMENT.match(text)
        if only:
            yield _placed(instruction, only, name, lines)
        return
    while pair:
        yield _placed(instruction, pair, name, lines)
        at = pair.end()
        pair = _PAIR.match(text, at)


def _placed(instruction: _Instruction, match: re.Match[bytes], name: str, lines: LineIndex) -> Placed:
    begin = instruction.body + match.start(1)
    has_value = match.re.groups > 1
    written = match[2].rstrip(b" \t\r\0") if has_value else b""
    end = instruction.body + (match.start(2) + len(written) if has_value else match.end(1))
    return Placed(
        name=match[1].decode(),
        value=_value(written) if has_value else None,
        kind=Kind.ENV,
        form=Form.DOCKER_ENV,
        at=lines.position(name, begin),
        column=lines.column_of(begin),
        span=Span(begin, end),
        value_span=Span(end - len(written), end) if has_value else None,
        program="build" if instruction.word == b"ARG" else None,
    )


def _value(written: bytes) -> str | None:
    """Return a value with its quotes and escapes undone, None where it expands."""
    literal = re.sub(rb"'[^']*'|[\\`]\$", b"", written)
    if _EXPANDS.search(literal):
        return None
    text = written.replace(b"\0", b"").decode("utf-8", "replace")
    return "".join(
        _unquoted(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"?|\'[^\']*\'?|\\.|[^"\'\\]+|\\', text, re.DOTALL)
    )


def _unquoted(part: str) -> str:
    if part[:1] == "'":
        return part[1:].removesuffix("'")
    if part[:1] == '"':
        return re.sub(r'\\(["\\$])', r"\1", part[1:-1] if len(part) > 1 and part[-1] == '"' else part[1:])
    return part[1:] if part[:1] == "\\" and len(part) > 1 else part


def _is_old(data: bytes, placed: Placed) -> bool:
    return data[placed.span.start + len(placed.name) : placed.span.start + len(placed.name) + 1] != b"="


def _written(value: str, quote: str) -> bytes | None:
    """Return a value in the quotes that the file has; None where it cannot stand in a line."""
    if {"\n", "\r", "\0", "\\", "`", "$"} & set(value):
        return None
    if quote not in ("'", '"'):
        quote = "" if _PLAIN.fullmatch(value) else '"'
    if quote and quote in value:
        return None
    return f"{quote}{value}{quote}".encode()


def _run(instruction: _Instruction, data: bytes, name: str, lines: LineIndex) -> Config | None:
    # A command of the build matters only where it sets a variable.
    if instruction.word == b"RUN" and not _ASSIGNS.search(data, instruction.body, instruction.end):
        return None
    inner = _script(instruction, data)
    return read_inner(inner, name, lines) if inner else None


def _script(instruction: _Instruction, data: bytes) -> Inner | None:
    """Return what an instruction gives to a shell: its text, its heredoc's, or the words that it lists."""
    skipped = _OPTIONS.match(instruction.text)
    start = skipped.end() if skipped else 0
    text, begin = instruction.text[start:], instruction.body + start
    if text[:1] == b"[":
        return _listed(text, begin)
    end = begin + len(text)
    if instruction.heredocs:
        begin, end = instruction.heredocs[0] if text[:2] == b"<<" else (begin, instruction.end)
    shown = data[begin:end]
    # A shell ends a command at a comment, which here is skipped within a continued one.
    if b"#" in shown and not instruction.heredocs:
        shown = text.replace(b"\0", b" ")
    return Inner("run.sh", Splice(shown, (Piece(0, begin, len(shown)),)), ())


def _listed(text: bytes, begin: int) -> Inner | None:
    """["bash", "-c", "SCRIPT"] → SCRIPT; ["torchrun", "--nnodes=2"] → torchrun --nnodes=2."""
    from nccl_logscan.configs.mappings.json_tree import json_tree  # noqa: PLC0415 - only where there is a list

    shown = text.replace(b"\0", b" ")
    [*_, last] = json_tree(shown).documents or (None,)
    words = [item for item in last.items if isinstance(item, Scalar)] if isinstance(last, Sequence) else []
    script = shell_script(words)
    splice = script_in(script, shown) if script else words_in(words, shown)
    if splice is None:
        return None
    pieces = tuple(Piece(piece.inner, piece.outer + begin, piece.length) for piece in splice.pieces)
    return Inner("run.sh", Splice(splice.text, pieces), (), words=script is None)


def _inner_edit(config: Config, placed: Placed, value: str | None) -> Edit | None:
    """Return the edit of what a RUN or CMD sets, made by the shell's syntax."""
    from nccl_logscan.configs.read import read_text, syntax_named  # noqa: PLC0415 - the registry imports this

    for instruction in _instructions(config.data):
        if not instruction.start <= placed.span.start < instruction.end or instruction.word not in _SHELL_FORMS:
            continue
        inner = _script(instruction, config.data)
        text = read_text(inner.name, inner.splice.text) if inner else None
        for made in text.settings if text and inner else ():
            if inner and text and made.name == placed.name and inner.splice.span(made.span) == placed.span:
                shell = syntax_named(text.syntax)
                edit = shell.remove(text, made) if value is None else shell.change(text, made, value)
                span = inner.splice.span(Span(edit.start, edit.end)) if edit else None
                is_one = len(inner.splice.pieces) == 1 or (
                    span and edit and span.end - span.start == edit.end - edit.start
                )
                moved = Edit(span.start, span.end, edit.text) if edit and span and is_one else None
                return _proved(config, moved, placed, value)
    return None
