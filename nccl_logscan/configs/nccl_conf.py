"""nccl.conf and ~/.nccl.conf: NAME=VALUE a line, as NCCL itself reads them.

NCCL 2.30 (src/misc/param.cc, setEnvFile): a line is a comment if `#` is its first byte; all before the first `=` is
the name and all after it the value, with blanks, quotes and a word `export` as they stand; a name keeps 1023 bytes, and
what the environment sets already stays (setenv without overwriting), so that of two lines the first counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, lines_put
from nccl_logscan.configs.model import Config, Form, LineIndex, Placed
from nccl_logscan.configs.proof import adds_just, changes_just
from nccl_logscan.configs.syntax import path_of
from nccl_logscan.position import Span

_NAMES = frozenset({"nccl.conf", ".nccl.conf"})
_FAULTS_LIMIT = 20


class NcclConf:
    """The syntax of NCCL's own configuration file."""

    name = "nccl-conf"

    def claims(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the name alone tells
        """Return whether the file is called nccl.conf or .nccl.conf, or so with something before it."""
        file = path_of(name).name
        return file in _NAMES or file.endswith((".nccl.conf", "-nccl.conf", "_nccl.conf"))

    def read(self, name: str, data: bytes) -> Config:
        """Return every NAME=VALUE; what NCCL takes for a name and surely is none becomes a fault besides."""
        lines = LineIndex(data)
        settings = tuple(_settings(name, data, lines))
        faults = [f"line {placed.at.line}: {fault}" for placed in settings if (fault := _fault(placed))]
        return Config(name, self.name, data, settings, faults=tuple(faults[:_FAULTS_LIMIT]))

    def change(self, config: Config, placed: Placed, value: str) -> Edit | None:
        """Return the edit that gives a variable another value; None where that is of several lines or too long."""
        if placed.value_span is None or not _fits(value):
            return None
        edit = Edit(placed.value_span.start, placed.value_span.end, value.encode())
        return edit if changes_just(config, edit, placed, value) else None

    def remove(self, config: Config, placed: Placed) -> Edit | None:
        """Return the edit that takes the line out."""
        line = config.lines.whole_lines(placed.span)
        edit = Edit(line.start, line.end, b"")
        return edit if changes_just(config, edit, placed, None) else None

    def add(self, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that appends a line; None for what is no variable, or stands there: the first line counts."""
        if kind is not Kind.ENV or not _fits(value) or any(placed.name == name for placed in config.settings):
            return None
        edit = lines_put(config.data, len(config.data), [f"{name}={value}".encode()], closed=True)
        return edit if adds_just(config, edit, name, value) else None


def _fits(value: str) -> bool:
    return len(value) < 1024 and not {"\n", "\r", "\0"} & set(value)


def _settings(name: str, data: bytes, lines: LineIndex) -> Iterator[Placed]:
    start = 0
    for line in data.split(b"\n"):
        text = line.removesuffix(b"\r")
        variable, equals, value = text.partition(b"=")
        if equals and variable and not text.startswith(b"#"):
            at = start + len(variable) + 1
            yield Placed(
                name=variable[:1023].decode("utf-8", "replace"),
                value=value[:1023].decode("utf-8", "replace"),
                kind=Kind.ENV,
                form=Form.NCCL_CONF,
                at=lines.position(name, start),
                column=1,
                span=Span(start, start + len(text)),
                value_span=Span(at, start + len(text)),
            )
        start += len(line) + 1


def _fault(placed: Placed) -> str | None:
    if placed.name.startswith("\ufeff"):
        return f"NCCL takes the byte order mark for a part of the name, so this does not set {placed.name[1:]}"
    if placed.name != placed.name.strip() or " " in placed.name:
        return f"NCCL takes all before the = for the name, blanks too, so this sets a variable called {placed.name!r}"
    if placed.value and placed.value != placed.value.strip():
        return f"NCCL keeps the blanks around the value of {placed.name}"
    if placed.value and placed.value[0] in "\"'":
        return f"NCCL keeps the quotes in the value of {placed.name}"
    return None
