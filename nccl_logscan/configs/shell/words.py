"""Shell text into commands and their words, each with its bytes.

Written by hand and not with tree-sitter-bash: its error recovery takes time that grows with the square of the input
(34 s for 200 kB of `a=( a=( ...`, tree-sitter-bash 0.25.1), and a string that holds commands would need a parse of
its own. Here no text is an error: what is never closed is read to the end of its line. Text is the file's bytes as
Latin-1, so that an index of it is a byte's offset.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass, field

HOLE = "\0"
"""Stands in a word's text for what only the running shell knows: $X, $(command)."""

_WASTE_LIMIT = 1 << 20
_DEPTH_LIMIT = 200

_TOKEN = deferred(
    r"""[ \t\r]*+(?:\\\r?\n[ \t\r]*+)*+
    (?: ((?=[<>&{\d])(?:\d++|\{\w++\})?+(?:<<<|<<-?+|<>|<&|>&|>>|>\||&>>?+|>(?!\()|<(?!\()))  # 1: redirection
      | ((?!\#)[^ \t\r\n\\'"`$;&|<>()]++)(?=[ \t\r\n;&|<>)]|\Z)                   # 2: plain word
      | (\n)[ \t\r\n]*+                                                       # 3
      | (\#[^\n]*+)                                                           # 4: comment
      | (\(\()                                                                # 5: arithmetic
      | (;;&?+|;&|&&|\|\||\|&?+|[;&()])                                       # 6: operator
      | ([\w.+~/:@,=-]*+)"([^"\\`$]*+)"(?=[ \t\r\n;&|<>)]|\Z)                  # 7, 8: a word that ends in plain quotes
      | ("?+)\$(?:(\w++)|\{(\w++)(?:\[@\])?+\})\9(?=[ \t\r\n;&|<>)]|\Z)        # 9-11: a variable
      | ([^ \t\r\n])                                                          # 12: any other word
    )?""",
    re.VERBOSE | re.ASCII,
)
_REDIRECTION, _PLAIN, _NEWLINE, _COMMENT, _ARITHMETIC, _OPERATOR = range(1, 7)
_QUOTED_TAIL, _OTHER = 8, 12
_WORDS = frozenset({_PLAIN, _QUOTED_TAIL, 10, 11, _OTHER})
_PIECE = deferred(
    r"""([^ \t\r\n\\'"`$;&|<>()]++)                                  # 1: as it stands
    | '([^']*+)'                                                     # 2
    | "((?:[^"\\`$]++|\$(?:\w++|\{\w++\}|[@*\#?!-]))*+)"              # 3: with plain expansions at most
    | \\(\r?\n|[\s\S])                                               # 4
    | \$\{(\w++)(?:\[[@*]\])?+(?::?[-=]("[^"$`\\]*+"|'[^']*+'|[^}"'`$\\{]*+))?+\}  # 5: name, 6: default
    | \$(\w++|[@*\#?$!-])                                            # 7
    | \$'((?:[^'\\]++|\\[\s\S])*+)'                                  # 8
    | \$?(")                                                         # 9: in double quotes, more than 3 takes
    | (`|\$\(|\$\{|[<>]\()                                           # 10
    | (\()                                                           # 11
    | (['\\$])                                                       # 12: closed by nothing
    """,
    re.VERBOSE | re.ASCII,
)
_ENDS_WORD = deferred(r"(?:\\\r?\n)*+(?:[ \t\r\n;&|<>()]|\Z)")
_QUOTED = deferred(
    r"""([^"\\`$]++)
    | \\([\s\S])
    | \$\{(\w++)(?:\[[@*]\])?+(?::?[-=]([^}"'`$\\{]*+))?+\}
    | (\$(?:\w++|[@*\#?!-]))
    | (`|\$\(|\$\{)
    | ([\s\S])""",
    re.VERBOSE | re.ASCII,
)
_SIMPLE_HOLE = deferred(r"\$(?:\w+|\{\w+\}|[@*#?!-])", re.ASCII)
_ONLY_REFERENCE = deferred(r"\$(?:(\w+)|\{(\w+)(?:\[[@*]\])?\})", re.ASCII)
_NESTING = deferred(r"""\\[\s\S]|['"`]|\$\(|\$\{|[(){}]|(?<=[ \t\n;])\#""")
_ASSIGNMENT_HEAD = deferred(r"[A-Za-z_]\w*(?:\[[^\]\s]*\])?\+?=", re.ASCII)
_ANSI = deferred(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|([\s\S]))")
_ANSI_NAMED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}
_SECOND = {"case": "in", "function": "{"}
_OPENERS = frozenset({"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"})


class Word(NamedTuple):
    """A word as the command gets it: quotes and escapes undone, HOLE for what only the running shell knows.

    `ref` is the variable if the word is its expansion and nothing else. `items` are an array's, of a word `NAME=(...)`.
    `fallback`: the text holds the default of a `${NAME:-default}`. The offsets are into the file.
    """

    start: int
    end: int
    text: str
    ref: str | None = None
    items: tuple[Word, ...] | None = None
    fallback: bool = False


_new_word = tuple.__new__


class Body(NamedTuple):
    """A here-document's body; `quoted`: nothing in it is expanded."""

    start: int
    end: int
    quoted: bool


@dataclass(slots=True)
class Command:
    """A simple command: its words, in order, without redirections.

    `before` is the reserved word or operator in front of it ("" for a line's start), `after` the operator behind it.
    `targets` are the files that it writes to, `bodies` its here-documents.
    """

    words: list[Word]
    before: str
    unit: Unit
    after: str = ""
    targets: list[Word] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)


@dataclass(slots=True)
class Unit:
    """Text that a shell reads: the script, or a string or here-document in it.

    `offsets[i]` is where in the file the text's character `i` stands. `quotes` are those around it, outermost first:
    `"`, `'` or `<` for a here-document that is expanded.
    """

    text: str
    offsets: Sequence[int]
    quotes: str = ""

    def within(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the file's offsets `start` to `end` as indices of the text, None where they are not in it."""
        if not self.offsets or start < self.offsets[0] or end > self.offsets[-1] + 1:
            return None
        return bisect_right(self.offsets, start) - 1, bisect_right(self.offsets, end - 1)


@dataclass(slots=True)
class Lexed:
    """The commands and comments of a unit, in its order; `faults` are offsets of what nothing closes."""

    commands: list[Command] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)


def whole(data: bytes) -> Unit:
    """Return a script's bytes as the unit to lex."""
    return Unit(data.decode("latin-1").replace(HOLE, "?"), range(len(data)))


def lex(unit: Unit) -> Lexed:
    """Return the unit's commands; time grows with its length, whatever is in it."""
    lexer = _Lexer(unit)
    lexer.run()
    return lexer.out


def unicode(text: str) -> str:
    """Return text of a unit as what its bytes say."""
    return text if text.isascii() else text.encode("latin-1", "replace").decode("utf-8", "replace")


class _Lexer:
    """One pass over a unit. Whatever is found unclosed at the end makes `torn` true: from then on nothing may be closed
    in a later line, so that no text is looked through twice.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.text = unit.text
        self.out = Lexed()
        self.torn = False
        self.waste = 0
        self.pending: list[tuple[str, bool, bool, Command]] = []
        self.array = False
        self.pattern = False
        self.before = ""
        self.command = Command([], "", unit)
        self.offsets = None if isinstance(unit.offsets, range) and unit.offsets[:1] == range(1) else unit.offsets

    def run(self) -> None:
        pos: int | None = 0
        while pos is not None:
            pos = self._read(pos)
        self._end("")

    def _read(self, pos: int) -> int | None:  # noqa: PLR0912 - a branch per kind of token, the commonest first
        """Take the tokens from `pos` on, up to one that takes what follows it as well; return where that ends."""
        comments = self.out.comments
        plain = _PLAIN if self.offsets is None else 0
        for found in _TOKEN.finditer(self.text, pos):
            kind = found.lastindex
            if kind == plain:
                # As Word(...) has it, without the call: most of what a script holds is plain words.
                word = _new_word(Word, (*found.span(_PLAIN), found[_PLAIN], None, None, False))
                words = self.command.words
                if words and len(words) != 2:
                    words.append(word)
                else:
                    self._add(word)
                continue
            end = after = found.end()
            if kind == _NEWLINE:
                if self.command.words or self.command.targets:
                    self._end("")
                if self.pending:
                    after = self._bodies(found.end(_NEWLINE))
            elif kind == _OPERATOR:
                self._operator(found[_OPERATOR])
            elif kind == _COMMENT:
                comments.append(self._span(found.start(_COMMENT), end))
            elif kind == _REDIRECTION:
                after = self._redirect(found[_REDIRECTION], end)
            elif kind == _ARITHMETIC:
                after = self._arithmetic(found.start(_ARITHMETIC))
            elif kind is not None:
                word, after = self._token_word(found)
                self._add(word)
            if after != end:
                return after
        return None

    # Words

    def _span(self, start: int, end: int) -> tuple[int, int]:
        if self.offsets is None:
            return start, end
        return self.offsets[start], self.offsets[end - 1] + 1

    def _token_word(self, found: re.Match[str]) -> tuple[Word, int]:
        """Return the word that a token is or begins, and where it ends."""
        kind, end = found.lastindex, found.end()
        if kind == _PLAIN:
            start, text, ref = found.start(_PLAIN), found[_PLAIN], None
        elif kind == _QUOTED_TAIL:
            start, text, ref = found.start(_QUOTED_TAIL - 1), found[_QUOTED_TAIL - 1] + found[_QUOTED_TAIL], None
        elif kind == _OTHER:
            return self._word(found.start(_OTHER))
        else:
            start, text, ref = found.start(9), HOLE, found[10] or found[11]
        if self.offsets is None:
            return Word(start, end, text, ref), end
        return Word(self.offsets[start], self.offsets[end - 1] + 1, text, ref), end

    def _word(self, start: int) -> tuple[Word, int]:  # noqa: PLR0912, PLR0915 - a branch per kind of quoting
        """Return the word that begins at `start`, and where it ends."""
        text, match = self.text, _PIECE.match
        parts: list[str] = []
        ref: str | None = None
        items: tuple[Word, ...] | None = None
        fallback = False
        pos = start
        while found := match(text, pos):
            kind = found.lastindex
            begin, pos = pos, found.end()
            if kind in {1, 2}:
                parts.append(found[kind])
            elif kind == 3:
                inner = found[3]
                if "$" in inner:
                    only = _ONLY_REFERENCE.fullmatch(inner)
                    ref = (only[1] or only[2]) if only else None
                    inner = _SIMPLE_HOLE.sub(HOLE, inner)
                parts.append(inner)
            elif kind == 4:
                if found[4][-1] == "\n":
                    if _ENDS_WORD.match(text, pos):
                        # A line that goes on: the word ends before the backslash.
                        pos = begin
                        break
                else:
                    parts.append(found[4])
            elif kind == 5:
                ref = found[5]
                parts.append(HOLE)
            elif kind == 6:
                parts.append(found[6].strip("\"'"))
                fallback = True
            elif kind == 7:
                ref = found[7]
                parts.append(HOLE)
            elif kind == 8:
                parts.append(_ansi(found[8]))
            elif kind == 9:
                inner, fell, only_ref, pos = self._quoted(found.start(9))
                parts.append(inner)
                fallback |= fell
                ref = only_ref
            elif kind == 10:
                close = self._past(begin)
                parts.append(HOLE if close > 0 else found[10])
                pos = close if close > 0 else begin + 1
                ref = None
            elif kind == 11:
                if self.array or not _ASSIGNMENT_HEAD.fullmatch(text, start, begin):
                    pos = begin
                    break
                items, pos = self._array(pos)
            else:
                if found[12] == "'":
                    self._fault(begin)
                parts.append(found[12])
        if pos == start:
            pos += 1
        first, last = self._span(start, pos)
        whole_text = "".join(parts)
        return Word(first, last, whole_text, ref if whole_text == HOLE else None, items, fallback), pos

    def _quoted(self, opening: int) -> tuple[str, bool, str | None, int]:
        """Return the text in double quotes, whether it holds a default, the variable that it is, and where it ends."""
        end = self._past(opening)
        if end < 0:
            return '"', False, None, opening + 1
        parts: list[str] = []
        fallback = False
        pos = opening + 1
        while pos < end - 1:
            found = _QUOTED.match(self.text, pos, end - 1)
            assert found is not None
            kind, begin, pos = found.lastindex, pos, found.end()
            if kind == 1:
                parts.append(found[1])
            elif kind == 2:
                parts.append("" if found[2] == "\n" else found[2] if found[2] in '"\\$`' else found[0])
            elif kind == 4:
                parts.append(found[4])
                fallback = True
            elif kind == 6:
                parts.append(HOLE)
                close = self._past(begin)
                pos = close if 0 < close < end else end - 1
            else:
                parts.append(found[0] if kind == 7 else HOLE)
        only = _ONLY_REFERENCE.fullmatch(self.text, opening + 1, end - 1)
        return "".join(parts), fallback, (only[1] or only[2]) if only else None, end

    def _array(self, pos: int) -> tuple[tuple[Word, ...], int]:
        """Return an array's items and where it ends: after its parenthesis, or before what no array holds."""
        items: list[Word] = []
        self.array = True
        while pos < len(self.text):
            found = _TOKEN.match(self.text, pos)
            assert found is not None
            kind, pos = found.lastindex, found.end()
            if kind in _WORDS:
                word, pos = self._token_word(found)
                items.append(word)
            elif kind not in {_NEWLINE, _COMMENT, None}:
                closed = found[kind] == ")"
                pos = pos if closed else found.start(kind)
                break
        else:
            closed = False
        if not closed:
            self._fault(pos)
        self.array = False
        return tuple(items), pos

    def _past(self, opening: int) -> int:
        """Return where the quotes, parentheses or braces that open at `opening` end; -1 where nothing closes them."""
        text, stack = self.text, list[str]()
        limit = len(text)
        if self.torn:
            if self.waste > _WASTE_LIMIT:
                return -1
            line_end = text.find("\n", opening)
            limit = line_end if line_end >= 0 else limit
        pos = opening
        while found := _NESTING.search(text, pos, limit):
            pos = _nest(text, found, stack, limit)
            if not stack:
                return pos
            if len(stack) > _DEPTH_LIMIT or pos > limit:
                break
        self.waste += limit - opening
        self._fault(opening)
        return -1

    def _fault(self, pos: int) -> None:
        if not self.torn:
            self.torn = True
            self.out.faults.append(self._span(pos, pos + 1)[0] if pos < len(self.text) else self.unit.offsets[-1])

    # Commands

    def _add(self, word: Word) -> None:
        words = self.command.words
        if not words and self.pattern:
            self.pattern = word.text != "esac"
            return
        if not words:
            if word.text in _OPENERS and word.end - word.start == len(word.text):
                self.before = word.text
                return
            self.command.before = self.before
        elif len(words) == 2 and word.text == _SECOND.get(words[0].text):
            # What follows is a list of patterns, or the body of a function.
            words.clear()
            self.pattern = word.text == "in"
            self.before = word.text
            return
        words.append(word)

    def _end(self, operator: str) -> None:
        command = self.command
        if command.words or command.bodies:
            command.after = operator
            self.out.commands.append(command)
            self.command = Command([], "", self.unit)
            self.before = operator
        elif command.targets:
            command.targets.clear()
            self.before = operator
        elif operator:
            self.before = operator

    def _operator(self, operator: str) -> None:
        if self.pattern:
            self.pattern = operator != ")"
            self.before = operator
            return
        if operator == "(":
            words = self.command.words
            if len(words) == 1 or (len(words) == 2 and words[0].text == "function"):
                # NAME ( ) begins a function, and is no command.
                words.clear()
        self._end(operator)
        self.pattern = operator in {";;", ";&", ";;&"}

    def _bodies(self, pos: int) -> int:
        """Take the here-documents that begin at `pos`, and return where the shell reads on."""
        for delimiter, quoted, stripped, command in self.pending:
            end, after = self._body_end(pos, delimiter, stripped)
            if end > pos:
                command.bodies.append(Body(*self._span(pos, end), quoted))
            pos = after
        self.pending.clear()
        return pos

    def _body_end(self, pos: int, delimiter: str, stripped: bool) -> tuple[int, int]:
        """Return where a here-document's body ends, and where the shell reads on."""
        text = self.text
        at = pos
        while at < len(text):
            line_end = text.find("\n", at)
            line_end = line_end if line_end >= 0 else len(text)
            line = text[at:line_end].rstrip("\r")
            if (line.lstrip("\t") if stripped else line) == delimiter:
                return at, line_end
            at = line_end + 1
        return len(text), len(text)

    def _redirect(self, operator: str, pos: int) -> int:
        """Take a redirection with its target, and return where it ends."""
        found = _TOKEN.match(self.text, pos)
        assert found is not None
        if found.lastindex not in _WORDS:
            return pos
        word, end = self._token_word(found)
        if operator.endswith(("<<", "<<-")) and not operator.endswith("<<<"):
            raw = self.text[pos:end].strip(" \t")
            self.pending.append((word.text, raw != word.text, operator.endswith("-"), self.command))
        elif ">" in operator and "&" not in operator[:-1]:
            self.command.targets.append(word)
        return end

    def _arithmetic(self, start: int) -> int:
        end = self._past(start)
        return end if end > 0 else start + 2


def _nest(text: str, found: re.Match[str], stack: list[str], limit: int) -> int:  # noqa: PLR0912 - a branch per bracket
    """Open or close what the mark found does, and return where to read on."""
    mark, pos = found[0], found.end()
    top = stack[-1] if stack else ""
    if mark == "'":
        if top == '"' or (top == "}" and '"' in stack[-2:-1]):
            return pos
        close = text.find("'", pos, limit)
        return close + 1 if close >= 0 else limit + 1
    if mark == "#":
        if top != ")":
            return pos
        line_end = text.find("\n", pos, limit)
        return line_end if line_end >= 0 else limit
    if mark == '"':
        if top == '"':
            stack.pop()
        else:
            stack.append('"')
    elif mark == "`":
        if "`" in stack:
            del stack[stack.index("`") :]
        else:
            stack.append("`")
    elif mark == "$(" or (mark == "(" and top in {"", ")", "`"}):
        stack.append(")")
    elif mark == "${":
        stack.append("}")
    elif mark == top:
        stack.pop()
    return pos


def _ansi(text: str) -> str:
    """Undo the escapes of $'...'."""
    if "\\" not in text:
        return text
    return _ANSI.sub(_ansi_escape, text)


def _ansi_escape(found: re.Match[str]) -> str:
    if found[1] or found[2]:
        return chr((int(found[1], 16) if found[1] else int(found[2], 8)) & 0xFF)
    return _ANSI_NAMED.get(found[3], found[3])
