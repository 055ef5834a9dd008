"""Config: a file's settings and launches, each at its place in the file's own bytes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from itertools import accumulate

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.position import Position, Span
from nccl_logscan.records import dataclass, field

BOM = b"\xef\xbb\xbf"
"""UTF-8's byte order mark, which some editors write at the beginning of a file."""


class Form(StrEnum):
    """How a setting is written."""

    EXPORT = "export"  # export X=Y; declare -x X=Y
    ASSIGNMENT = "assignment"  # X=Y of a shell, not exported (yet)
    COMMAND_PREFIX = "command-prefix"  # X=Y cmd; env X=Y cmd
    UNSET = "unset"  # unset X; env -u X; value is None
    LAUNCHER_OPTION = "launcher-option"  # mpirun -x X=Y; srun --export=X=Y; docker -e X=Y; a name alone: value is None
    FLAG = "flag"  # --name value, --name=value, --switch (value "true"), #SBATCH --name=value
    OVERRIDE = "override"  # Hydra: a.b=c, +a.b=c, ++a.b=c, ~a.b
    RUNTIME_ENV = "runtime-env"  # in Ray's runtime_env, wherever that is written
    MAPPING = "mapping"  # key: value of YAML, JSON, TOML
    ENV_MAPPING = (
        "env-mapping"  # a variable as the key of a mapping that is an environment (compose, runtime_env, launch config)
    )
    ENV_LIST = "env-list"  # {name: X, value: Y} of Kubernetes
    DOCKER_ENV = "docker-env"  # ENV X=Y; ARG
    ENV_FILE = "env-file"  # X=Y of .env, .deepspeed_env, --env-file
    NCCL_CONF = "nccl-conf"  # X=Y of nccl.conf
    PYTHON_ENVIRON = "python-environ"  # os.environ["X"] = "Y", setdefault, putenv, update({...})
    PYTHON_KWARG = "python-kwarg"  # call(name=value)
    HOST_COMMAND = "host-command"  # ulimit -n 1024, sysctl -w ...
    LOGGED = "logged"  # seen in a log, not in a file


@dataclass(frozen=True, slots=True)
class Placed:
    """A setting as a file makes it.

    `name`: a variable, a flag with its dashes as written, a dotted key from the file's root (`fp16.enabled`,
    `spec.containers[0].resources.limits.memory`), a call's keyword as `init_process_group(timeout=)`. `value` is what
    the program would get, quotes and escapes undone; None where it depends on an expansion or is not given. `scalar` is
    its type in a typed syntax: text, integer, number, boolean, null. Spans are byte offsets into the file: `value_span`
    of the value as written, with its quotes; `span` of all that goes when the setting is taken out. `program` is what
    gets it (`torchrun`, `verl.trainer.main_ppo`, `sbatch`), where the file says. `mark` is Hydra's +, ++ or ~.
    `fallback`: the value is the default of a `${X:-value}`, and holds where the caller's environment sets no other.
    """

    name: str
    value: str | None
    kind: Kind
    form: Form
    at: Position
    column: int
    span: Span
    value_span: Span | None = None
    scalar: str = "text"
    program: str | None = None
    framework: str | None = None
    mark: str = ""
    fallback: bool = False


class Forwards(StrEnum):
    """What of the caller's environment the started processes get."""

    ALL = "all"
    NAMED = "named"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that starts processes which may not inherit the environment: mpirun, srun, sbatch, ray, ssh, docker ...

    `names` are those that it hands over by name where `forwards` is NAMED; `NCCL*` stands for all that begin so.
    `remote`: processes on other hosts or in a container, so that what is not forwarded does not arrive. `nodes` is how
    many, where the file says. `fed` is the here-document that a remote shell reads its commands from.
    """

    program: str
    forwards: Forwards
    at: Position
    span: Span
    names: frozenset[str] = frozenset()
    remote: bool = False
    nodes: int | None = None
    framework: str | None = None
    fed: Span | None = None


@dataclass(frozen=True)
class Config:
    """A configuration file as read. `pins` are versions that it names itself: {"nccl": "2.21.5", "torch": "2.6.0"}.

    `faults` are sentences about what could not be read; what could is in `settings` all the same.
    """

    name: str
    syntax: str
    data: bytes
    settings: tuple[Placed, ...]
    launches: tuple[Launch, ...] = ()
    pins: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @cached_property
    def lines(self) -> LineIndex:
        """Where the file's lines begin."""
        return LineIndex(self.data)


class LineIndex:
    """Offsets of bytes to lines and columns, both from 1; a column counts characters."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._starts = [0, *accumulate([len(line) + 1 for line in data.split(b"\n")])]
        self._starts.pop()
        self._one_byte_each = data.isascii()
        self._last = (0, 0, 0)

    def line_of(self, offset: int) -> int:
        """Return the line that holds the byte at `offset`."""
        return bisect_right(self._starts, offset)

    def column_of(self, offset: int) -> int:
        """Return the column of the byte at `offset`."""
        start = self._starts[self.line_of(offset) - 1]
        if self._one_byte_each:
            return offset - start + 1
        line, counted, characters = self._last
        if line != start or counted > offset:
            counted, characters = start, 0
        # A long line is counted on from where the last question ended.
        characters += len(self._data[counted:offset].decode("utf-8", "replace"))
        self._last = (start, offset, characters)
        return characters + 1

    def position(self, source: str, offset: int) -> Position:
        """Return the line that holds `offset`, as a Position: its own offset is that of the line's first byte."""
        line = self.line_of(offset)
        return Position(source, line, self._starts[line - 1])

    def place(self, source: str, offset: int) -> tuple[Position, int]:
        """Return the position and the column of the byte at `offset`."""
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        return Position(source, line, start), offset - start + 1 if self._one_byte_each else self.column_of(offset)

    def bytes_of(self, first: int, last: int) -> Span:
        """Return the bytes of the lines `first` to `last`, both included, as far as the file goes."""
        begin = self._starts[min(max(first, 1), len(self._starts)) - 1]
        return Span(begin, self._starts[last] if 0 <= last < len(self._starts) else len(self._data))

    def whole_lines(self, span: Span) -> Span:
        """Return the span widened to whole lines, the last one's line feed with it."""
        last = self.line_of(max(span.start, span.end - 1))
        end = self._starts[last] if last < len(self._starts) else len(self._data)
        return Span(self._starts[self.line_of(span.start) - 1], end)
