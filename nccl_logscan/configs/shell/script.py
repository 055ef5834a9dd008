"""A shell script's settings and launches, from its commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import BOM, Form, Forwards, Launch, LineIndex, Placed
from nccl_logscan.configs.shell.here_documents import Document, launches_within, name_of_document, settings_within
from nccl_logscan.configs.shell.words import HOLE, Body, Command, Unit, Word, lex, unicode, whole
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span
from nccl_logscan.records import replace

OPTION_TEXT = "="
"""Command.before of what is no command, but the options that a variable holds."""

SETTINGS_LIMIT = 50_000
"""After how many settings a script is read no further."""

_NESTING_LIMIT = 4
_WRAPPER_LIMIT = 20
_SPLICE_LIMIT = 2_000
_SPLICES_LIMIT = 50_000
_FAULTS_LIMIT = 20
_BRANCHES_LIMIT = 8
_DEFINITIONS_LIMIT = 100

_ASSIGNMENT = deferred(r"([A-Za-z_]\w*)(\+?)=", re.ASCII)
_OPTION = deferred(r"--?[A-Za-z]")
_ENDS_COMMAND = deferred(r"[;&|()]")
_CONF_LINE = deferred(r"^([A-Za-z_]\w*)=([^\r\n]*)", re.ASCII | re.MULTILINE)
_SHELL_BODY = deferred(r"\s*#(?:!|SBATCH|PBS|BSUB)")
_SCRIPT_NAME = deferred(r"\.(?:sh|bash|slurm|sbatch|sub|job)$")
_ENV_FILE_NAME = deferred(r"(?:^|/)(?:\.env|\.deepspeed_env|[\w.-]*\.env)$")
_SHELLS = frozenset({"bash", "sh", "zsh", "ksh", "dash"})
_PIPES = frozenset({"|", "|&"})
_STDIN_SHELLS = frozenset(
    {"ssh", "pdsh", "clush", "pssh", "parallel-ssh", "docker", "podman", "nerdctl", "kubectl exec"}
)
_READERS = _SHELLS | {
    "sbatch",
    "ssh",
    "qsub",
    "bsub",
    "salloc",
    "srun",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "su",
    "sudo",
    "pdsh",
    "clush",
}


Invoke = Callable[["Script", Sequence[Word], Command], None]
Directives = Callable[["Script", Sequence[tuple[int, int]], int], None]


class Script:
    """The settings of a script as they are collected.

    `invoke` takes what a command's words say, `directives` what the script's comments do: the launchers that they know
    build upon this class.
    """

    def __init__(self, name: str, data: bytes, lines: LineIndex, invoke: Invoke, directives: Directives) -> None:
        self.name = name
        self.data = data
        self._depth = 0
        self.lines = lines
        self.unit = whole(data)
        self.text = self.unit.text
        self._invoke = invoke
        self._directives = directives
        self.export_form = Form.EXPORT
        self.settings: list[Placed] = []
        self.launches: list[Launch] = []
        self.pins: dict[str, str] = {}
        self.faults: list[str] = []
        self.commands: list[Command] = []
        self.values: dict[str, list[tuple[Word, Unit]]] = {}
        self.used: set[int] = set()
        self.exported: set[str] = set()
        self.bare_exports: dict[str, Span] = {}
        self.command: Command | None = None
        self.documents: list[Document] = []
        self.programs: list[tuple[str | None, str | None, Command]] = []
        self._options_held: dict[int, Sequence[Word]] = {}
        self.comments: list[tuple[int, int]] = []
        self.unexported: dict[str, list[int]] = {}
        self.framework: str | None = None
        self.nodes: int | None = None
        self.slurm = False
        self.step_export: list[str] | None = None
        self.spliced_words = 0
        self.exports_all = False
        self._fed: list[Body] = []

    # Reading

    def read(self, unit: Unit | None = None) -> None:
        """Take all settings of a unit: of the script itself, or of one within it."""
        if self._depth > _NESTING_LIMIT:
            return
        self._depth += 1
        self._read(unit or self.unit)
        self._depth -= 1

    def _read(self, unit: Unit) -> None:
        lexed = lex(unit)
        if unit is self.unit:
            for offset in lexed.faults[:_FAULTS_LIMIT]:
                self.faults.append(f"line {self.lines.line_of(offset)}: what opens here is closed nowhere")
            if self.data.startswith(BOM):
                self.faults.append("begins with a byte order mark, which bash takes for a part of the first word")
            if "\r\n" in self.text:
                self.faults.append("lines end in CR LF: bash takes the CR for a part of the last word of each")
        self.comments += lexed.comments
        if "#SBATCH" in unit.text or "#PBS" in unit.text or "#BSUB" in unit.text:
            first = next((c.words[0].start for c in lexed.commands if c.words), len(self.text))
            self._directives(self, lexed.comments, first)
        self.commands += lexed.commands
        for command in lexed.commands:
            self._collect(command)
        piped: list[Body] = []
        for command, then in zip_longest(lexed.commands, lexed.commands[1:]):
            if len(self.settings) >= SETTINGS_LIMIT:
                self._full(command)
                break
            self._fed = command.bodies or (piped if command.before in _PIPES else [])
            rest = self._assignments(command)
            if rest:
                self._invoke(self, rest, command)
            is_piped = then is not None and command.after in _PIPES
            for body in command.bodies:
                self._body(command, body, then if is_piped else None)
            piped = command.bodies

    def _full(self, command: Command) -> None:
        line = self.lines.line_of(command.words[0].start if command.words else 0)
        fault = f"line {line}: the first {SETTINGS_LIMIT} settings are read and those from here on are not"
        if fault not in self.faults[-1:]:
            self.faults.append(fault)

    def unused_options(self) -> Iterator[Sequence[Word]]:
        """Yield the options of strings and arrays that no command was seen to use."""
        for definitions in self.values.values():
            for word, unit in definitions:
                if word.start not in self.used:
                    words = self._words_of(word, unit)
                    if words and _OPTION.match(words[0].text):
                        yield words

    def finish(self) -> None:
        """Settle what a later `export` exports, and put all into the order of the file."""
        for name in sorted(self.exported & self.unexported.keys()):
            for at in self.unexported[name]:
                self.settings[at] = replace(self.settings[at], form=self.export_form)
        assigned = {placed.name for placed in self.settings if placed.value_span}
        for name, span in self.bare_exports.items():
            if name not in assigned:
                self.place(name, None, Kind.ENV, self.export_form, span.start, span.end)
        self.settings.sort(key=lambda placed: placed.span.start)
        self.launches.sort(key=lambda launch: launch.span.start)

    def _collect(self, command: Command) -> None:
        """Remember what variables are set to, where a command may be put together of them."""
        words = command.words
        if words and words[0].text in {"export", "declare", "local", "readonly", "typeset"}:
            words = words[1:]
        for word in words:
            found = _ASSIGNMENT.match(word.text)
            if not found:
                if word.text[:1] in {"-", "+"}:
                    continue
                return
            self.values.setdefault(found[1], []).append((word, command.unit))

    def _assignments(self, command: Command) -> list[Word]:
        """Take the assignments in front of a command, or those that are all of it; return the command's words."""
        words = command.words
        count = 0
        for word in words:
            if word.items is None and not self.assigns(word):
                break
            count += 1
        if count == 0:
            return words
        form = Form.ASSIGNMENT if count == len(words) else Form.COMMAND_PREFIX
        for word in words[:count]:
            if word.items is None:
                self.assign(word, form)
        return words[count:]

    def assigns(self, word: Word) -> bool:
        """Return whether the shell takes a word for an assignment: a name and = without quotes."""
        return "=" in word.text and bool(_ASSIGNMENT.match(self.text, word.start, word.end))

    def assign(self, word: Word, form: Form, statement: Span | None = None, program: str | None = None) -> str | None:
        """Take a word NAME=VALUE as the setting of a variable; return its name, or None where it is none."""
        found = _ASSIGNMENT.match(word.text)
        if not found:
            return None
        name = found[1]
        value: str | None = word.text[found.end() :]
        if found[2]:
            value = None
        if form is Form.ASSIGNMENT:
            if self.exports_all:
                form = self.export_form
            else:
                self.unexported.setdefault(name, []).append(len(self.settings))
        start, end = self.value_bounds(word)
        span = statement or Span(word.start, word.end)
        self.place(
            name, value, Kind.ENV, form, span.start, span.end, start, end, program=program, fallback=word.fallback
        )
        return name

    def value_bounds(self, word: Word) -> tuple[int, int]:
        """Return where the value of a word NAME=VALUE stands: within the quotes, where these are around both."""
        text = self.text
        start = text.find("=", word.start, word.end) + 1
        end = word.end
        if text[word.start] in "\"'" and text[end - 1] == text[word.start] and end - 1 >= start:
            end -= 1
        return start, end

    def place(  # noqa: PLR0917 - called for every setting: keywords cost a tenth of all
        self,
        name: str,
        value: str | None,
        kind: Kind,
        form: Form,
        start: int,
        end: int,
        value_start: int | None = None,
        value_end: int = 0,
        *,
        program: str | None = None,
        framework: str | None = None,
        fallback: bool = False,
        scalar: str = "text",
        mark: str = "",
    ) -> None:
        """Add a setting; a value with a hole is none."""
        if value is not None:
            value = None if HOLE in value else unicode(value)
        at, column = self.lines.place(self.name, start)
        self.settings.append(
            Placed(
                name,
                value,
                kind,
                form,
                at,
                column,
                Span(start, end),
                None if value_start is None else Span(value_start, value_end),
                scalar,
                program,
                framework,
                mark,
                fallback,
            )
        )

    def launch(
        self,
        program: str,
        forwards: Forwards,
        words: Sequence[Word],
        *,
        names: Iterable[str] = (),
        remote: bool = False,
        nodes: int | None = None,
        framework: str | None = None,
    ) -> None:
        """Add a launch, of these words."""
        start, end = words[0].start, words[-1].end
        if self.command is not None:
            # Words put in from an array stand elsewhere: the launch is where the command is.
            first, last = self.command.words[0].start, self.command.words[-1].end
            start, end = start if first <= start < last else first, last
        at, _ = self.lines.place(self.name, start)
        fed = Span(self._fed[0].start, self._fed[-1].end) if self._fed and program in _STDIN_SHELLS else None
        self.launches.append(
            Launch(program, forwards, at, Span(start, end), frozenset(names), remote, nodes, framework, fed)
        )

    # Text within text

    def inner(self, word: Word, unit: Unit, start: int | None = None) -> Unit | None:
        """Return a word's text, from `start` in the file on, as a unit of its own."""
        bounds = unit.within(word.start if start is None else start, word.end)
        if bounds is None:
            unit = self.unit
            bounds = word.start if start is None else start, word.end
        first, last = bounds
        raw = unit.text[first:last]
        if len(unit.quotes) >= _NESTING_LIMIT:
            return None
        quote = raw[:1]
        if len(raw) > 1 and quote in {"'", '"'} and raw[-1] == quote:
            body = raw[1:-1]
            if quote == "'":
                return None if "'" in body else Unit(body, unit.offsets[first + 1 : last - 1], unit.quotes + "'")
            return _unescaped(body, unit.offsets[first + 1 : last - 1], '"\\$`', unit.quotes + '"')
        return Unit(raw, unit.offsets[first:last], unit.quotes) if "'" not in raw and '"' not in raw else None

    def nested(self, word: Word, unit: Unit) -> None:
        """Read a word that is a script itself: that of bash -c, ssh, eval."""
        if word.ref in self.values:
            for value, its_unit in self.values[word.ref][:_DEFINITIONS_LIMIT]:
                self._nested_value(value, its_unit)
            return
        if " " in word.text or ";" in word.text or "\n" in word.text:
            inner = self.inner(word, unit)
            if inner:
                self.read(inner)

    def _nested_value(self, value: Word, unit: Unit) -> None:
        if value.start in self.used or value.items is not None:
            return
        self.used.add(value.start)
        inner = self.inner(value, unit, self.text.find("=", value.start) + 1)
        if inner:
            self.read(inner)

    def spliced(self, words: Sequence[Word]) -> Sequence[Word]:
        """Return a command's words with variables and arrays of options put in where they are used."""
        for word in words:
            if word.ref is not None:
                break
        else:
            return words
        out: list[Word] = []
        self._splice(words, out, frozenset())
        return out or words

    def _splice(self, words: Iterable[Word], out: list[Word], inside: frozenset[str]) -> None:
        for word in words:
            definitions = self.values.get(word.ref) if word.ref is not None else None
            if definitions is not None and word.ref in inside:
                # CMD="$CMD -x NAME": what it held before is put in already.
                continue
            if definitions is None or len(inside) > _NESTING_LIMIT or len(out) > _SPLICE_LIMIT:
                out.append(word)
                continue
            found = False
            first = not out
            for value, unit in definitions[:_DEFINITIONS_LIMIT]:
                if first and found and not self._appends(value, str(word.ref)):
                    # What begins a command is one of the definitions, of the branches of an if: the first will do.
                    continue
                if value.items is None and self.text[word.start] == '"':
                    continue
                if self.spliced_words > _SPLICES_LIMIT:
                    break
                parts = self._words_of(value, unit)
                if parts:
                    found = True
                    self.used.add(value.start)
                    self.spliced_words += len(parts)
                    self._splice(parts, out, inside | {str(word.ref)})
            if not found:
                out.append(word)

    def _appends(self, value: Word, name: str) -> bool:
        """Return whether a definition adds to what the variable holds: NAME+=..., NAME="$NAME ..."."""
        return value.text.startswith(f"{name}+=") or _begins_with(self.text[value.start : value.end], name)

    def literal(self, word: Word) -> str:
        """Return a word's text, or that of the variable that it is where this has one value in the whole script."""
        if word.ref is None:
            return word.text
        definitions = self.values.get(word.ref)
        if definitions and len(definitions) <= _BRANCHES_LIMIT and all(value.items is None for value, _ in definitions):
            texts = {value.text.partition("=")[2] for value, _ in definitions}
            if len(texts) == 1 and HOLE not in (text := texts.pop()):
                return text
        return word.text

    def _words_of(self, value: Word, unit: Unit) -> Sequence[Word]:
        """Return the words that an array, or a variable that holds options, stands for."""
        if value.items is not None:
            return value.items
        known = self._options_held.get(value.start)
        if known is None:
            commands = self._commands_of(value, unit)
            for command in commands:
                command.before = OPTION_TEXT
            self.commands += commands
            known = self._joined(commands, value)
            self._options_held[value.start] = known
        return known

    def _joined(self, commands: Sequence[Command], value: Word) -> Sequence[Word]:
        """Return the words of all lines of a text: where it is used without quotes, a line's end parts words only."""
        if len(commands) > 1 and _ENDS_COMMAND.search(value.text.partition("=")[2]):
            return ()
        return [word for command in commands for word in command.words]

    def _commands_of(self, value: Word, unit: Unit) -> Sequence[Command]:
        text = value.text.partition("=")[2]
        if not text or (" " not in text.strip() and text.lstrip()[:1] not in {"-", "+"}):
            return ()
        inner = self.inner(value, unit, self.text.find("=", value.start) + 1)
        return lex(inner).commands if inner else ()

    def _body(self, command: Command, body: Body, reader: Command | None) -> None:
        """Read a here-document that is a script or an environment file, of a command or of what that is piped into."""
        if len(command.unit.quotes) >= _NESTING_LIMIT:
            return
        bounds = command.unit.within(body.start, body.end)
        if bounds is None:
            return
        text = command.unit.text[bounds[0] : bounds[1]]
        words = command.words[:4] + (reader.words[:4] if reader else [])
        programs = {word.text.rpartition("/")[2] for word in words}
        target = next((unicode(self.literal(word)) for word in command.targets), "")
        if "tee" in programs:
            target = target or unicode(self.literal(command.words[-1]))
        offsets = command.unit.offsets[bounds[0] : bounds[1]]
        quotes = command.unit.quotes
        if target.endswith("nccl.conf") and isinstance(offsets, range):
            self._read_nccl_conf(text, offsets.start)
        elif _ENV_FILE_NAME.search(target):
            self._read_env_lines(Unit(text, offsets, quotes))
        elif isinstance(offsets, range) and (name := name_of_document(target, programs, text)):
            self._read_document(Document(name, offsets.start, offsets.stop, body.quoted))
        elif programs & _READERS or _SCRIPT_NAME.search(target) or _SHELL_BODY.match(text):
            if body.quoted:
                self.read(Unit(text, offsets, quotes))
            else:
                self.read(_unescaped(text, offsets, "\\$`", quotes + "<"))

    def _read_document(self, document: Document) -> None:
        self.documents.append(document)
        self.settings += settings_within(document, self.name, self.data, self.lines)
        self.launches += launches_within(document, self.name, self.data, self.lines)

    def _read_nccl_conf(self, text: str, start: int) -> None:
        """Take the lines of a file for NCCL: a name, all that follows the = as it stands."""
        for found in _CONF_LINE.finditer(text):
            first, last = start + found.start(), start + found.end()
            value = None if "$" in found[2] else found[2]
            self.place(found[1], value, Kind.ENV, Form.NCCL_CONF, first, last, start + found.start(2), last)

    def _read_env_lines(self, unit: Unit) -> None:
        commands = lex(unit).commands
        self.commands += commands
        for command in commands:
            for word in command.words:
                if self.assigns(word):
                    self.assign(word, Form.ENV_FILE)


def _begins_with(assignment: str, name: str) -> bool:
    """Whether the value of an assignment, as written, begins with the variable itself."""
    value = assignment[len(name) + 1 :].lstrip("\"'(")
    return value.startswith((f"${{{name}}}", f"${{{name}[")) or bool(re.match(rf"\${name}(?!\w)", value))


def _unescaped(text: str, offsets: Sequence[int], escapable: str, quotes: str) -> Unit:
    """Return text as the shell hands it on from double quotes or a here-document, with backslashes undone."""
    if "\\" not in text:
        return Unit(text, offsets, quotes)
    kept: list[int] = []
    at = 0
    size = len(text)
    while at < size:
        step = text.find("\\", at)
        if step < 0 or step + 1 >= size:
            kept.extend(range(at, size))
            break
        kept.extend(range(at, step))
        follower = text[step + 1]
        if follower == "\n":
            # A line that goes on is kept as it is: the inner shell joins it just so.
            kept.extend((step, step + 1))
        elif follower in escapable:
            kept.append(step + 1)
        else:
            kept.extend((step, step + 1))
        at = step + 2
    return Unit("".join([text[at] for at in kept]), [offsets[at] for at in kept], quotes)
