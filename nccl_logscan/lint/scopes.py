"""In which part of its file a setting holds: a function, a stage of a build, a container, a dict, a document."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from nccl_logscan.configs.model import Config, Form
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.made import Made

Path = tuple[int, ...]
"""Where the parts begin that hold a setting, the outermost first."""

_FUNCTION = deferred(
    rb"(?m)^([ \t]*)(?:function[ \t]+[\w:-]+(?:[ \t]*\([ \t]*\))?|[\w:-]+[ \t]*\([ \t]*\))[ \t]*(?:\n[ \t]*)?\{"
)
_FROM = deferred(rb"(?im)^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(\S+)(?:[ \t]+AS[ \t]+(\S+))?")
_PYTHON_BLOCK = deferred(rb"(?m)^([ \t]*)(?:async[ \t]+)?(?:def|class)\b")
_BRACKETS = deferred(
    rb"""\"\"\"(?s:.*?)(?:\"\"\"|\Z)|'''(?s:.*?)(?:'''|\Z)|"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?
    |\#[^\n]*+|(?P<open>\{)|(?P<close>\})""",
    re.VERBOSE,
)
_YAML_LINE = deferred(rb"(?m)^([ ]*)((?:-[ ]+)*)(?=([^\s#]))")
_DOCUMENT = deferred(rb"(?m)^---")
_DEEPEST = 64
_ENVIRONMENTS = frozenset({Form.ENV_MAPPING, Form.RUNTIME_ENV})


class Scopes:
    """The parts of one file in which settings hold."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._path_of: Callable[[Made], Path] = {
            "shell": self._in_shell,
            "dockerfile": self._in_dockerfile,
            "python": self._in_python,
            "json": self._in_json,
            "yaml": self._in_yaml,
        }.get(config.syntax, lambda _: ())

    def apart(self, one: Made, other: Made) -> bool:
        """Return whether two settings surely hold in parts of which none holds the other."""
        first, second = self._path_of(one), self._path_of(other)
        shared = min(len(first), len(second))
        return first[:shared] != second[:shared]

    def holds_at(self, made: Made, offset: int) -> bool:
        """Return whether the function of a Python program that a setting is made in, if any, holds a byte as well."""
        own = self._blocks_around(made.placed.at.offset)
        return self._blocks_around(self._config.lines.position("", offset).offset)[: len(own)] == own

    # --- by syntax ---------------------------------------------------------------------------------------------

    def _in_shell(self, made: Made) -> Path:
        at = made.placed.span.start
        return tuple(start for start, end in self._functions if start <= at < end)

    @cached_property
    def _functions(self) -> tuple[tuple[int, int], ...]:
        """From where to where each function goes: to a brace indented as its name is."""
        data = self._config.data
        found: list[tuple[int, int]] = []
        for begin in _FUNCTION.finditer(data):
            if len(found) == _DEEPEST * _DEEPEST:
                break
            line_end = data.find(b"\n", begin.end())
            line_end = len(data) if line_end < 0 else line_end
            is_one_line = b"}" in data[begin.end() : line_end]
            end = line_end if is_one_line else data.find(b"\n" + begin[1] + b"}", begin.end())
            found.append((begin.start(), len(data) if end < 0 else end))
        return tuple(found)

    def _in_dockerfile(self, made: Made) -> Path:
        return _latest(self._stages, made.placed.span.start)

    @cached_property
    def _stages(self) -> tuple[tuple[int, Path], ...]:
        """Where each stage of a build begins, and the stages that it is built on."""
        named: dict[bytes, Path] = {}
        stages: list[tuple[int, Path]] = []
        for begin in _FROM.finditer(self._config.data):
            path = (*named.get(begin[1].lower(), ())[-_DEEPEST:], begin.start())
            stages.append((begin.start(), path))
            if begin[2]:
                named[begin[2].lower()] = path
        return tuple(stages)

    def _in_python(self, made: Made) -> Path:
        dicts = self._brackets_around(made.placed.span.start)
        return self._blocks_around(made.placed.at.offset) + (dicts if made.placed.form in _ENVIRONMENTS else dicts[:1])

    def _blocks_around(self, at: int) -> Path:
        """Return the functions and classes that the line at `at` stands in, told by its indentation."""
        line = self._config.data[at : at + 400]
        depth = len(line) - len(line.lstrip(b" \t"))
        open_there = _latest(self._blocks, at)
        return tuple(start for start in open_there if self._indents[start] < depth)

    @cached_property
    def _blocks(self) -> tuple[tuple[int, Path], ...]:
        """Where each function or class begins, and which hold what follows it, itself the last."""
        stack: list[int] = []
        found: list[tuple[int, Path]] = []
        for start, indent in self._indents.items():
            while stack and self._indents[stack[-1]] >= indent:
                stack.pop()
            stack.append(start)
            found.append((start, tuple(stack[-_DEEPEST:])))
        return tuple(found)

    @cached_property
    def _indents(self) -> dict[int, int]:
        return {begin.start(): len(begin[1]) for begin in _PYTHON_BLOCK.finditer(self._config.data)}

    def _in_json(self, made: Made) -> Path:
        around = self._brackets_around(made.placed.span.start)
        return around[:-1] if made.placed.form in _ENVIRONMENTS else around[:1]

    def _brackets_around(self, at: int) -> Path:
        """Return where the braces around a byte open."""
        return _latest(self._brackets, at - 1)

    @cached_property
    def _brackets(self) -> tuple[tuple[int, Path], ...]:
        """Where each brace stands, and which are open behind it."""
        return tuple(self._braces())

    def _braces(self) -> Iterator[tuple[int, Path]]:
        path: Path = ()
        for found in _BRACKETS.finditer(self._config.data):
            if found["open"]:
                path = (*path, found.start())[-_DEEPEST:]
            elif found["close"]:
                path = path[:-1]
            else:
                continue
            yield found.start(), path

    def _in_yaml(self, made: Made) -> Path:
        document = bisect_right(self._documents, made.placed.at.offset)
        if made.placed.form is Form.MAPPING:
            return (document,)
        return (document, *self._holders.get(made.placed.at.offset, ())[:-1])

    @cached_property
    def _documents(self) -> tuple[int, ...]:
        return tuple(begin.start() for begin in _DOCUMENT.finditer(self._config.data))

    @cached_property
    def _holders(self) -> dict[int, Path]:
        """Which lines of YAML hold each line: those above it that are indented less; a dash begins an entry."""
        held: dict[int, Path] = {}
        stack: list[tuple[int, int]] = []
        for line in _YAML_LINE.finditer(self._config.data):
            depth = 2 * len(line[1])
            while stack and stack[-1][0] >= depth + bool(line[2]):
                stack.pop()
            if line[2]:
                stack.append((depth + 1, line.start()))
                depth += 2 * len(line[2])
            held[line.start()] = tuple(start for _, start in stack[-_DEEPEST:])
            stack.append((depth, line.start()))
        return held


def _latest(found: Sequence[tuple[int, Path]], at: int) -> Path:
    """Return the path of the last one that begins at or before `at`."""
    number = bisect_right(found, at, key=lambda each: each[0])
    return found[number - 1][1] if number else ()
