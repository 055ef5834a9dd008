"""Files of NAME=VALUE lines for an environment: .env, .deepspeed_env, those that docker's --env-file takes.

Their readers differ: docker run keeps quotes and comments after a value, while Compose, python-dotenv and (by the shell
that it starts) DeepSpeed undo them. A value is given as the latter read it. Docker passes over a byte order mark
(docker/cli, pkg/kvfile).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, lines_put
from nccl_logscan.configs.model import BOM, Config, Form, LineIndex, Placed
from nccl_logscan.configs.proof import adds_just, changes_just
from nccl_logscan.configs.syntax import path_of
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span

_LINE = deferred(
    rb"""[ \t]*+(?:export[ \t]++)?+([A-Za-z_][\w.]*+)[ \t]*+=[ \t]*+
    ("(?:[^"\\\n]|\\[^\n])*+"|'[^'\n]*+'|(?:[^\s#]++|[ \t]++(?!\#)(?=[^\s])|(?<!\s)\#)*+)""",
    re.VERBOSE,
)
_PLAIN = deferred(r"[^\s#\"'$\\`]*")


class EnvFile:
    """The syntax of environment files."""

    name = "env-file"

    def claims(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the name alone tells
        """Return whether the file is called .env, .env.NAME, NAME.env or .deepspeed_env."""
        file = path_of(name).name
        return file in {".env", ".deepspeed_env", "deepspeed_env"} or file.startswith(".env.") or file.endswith(".env")

    def read(self, name: str, data: bytes) -> Config:
        """Return every NAME=VALUE."""
        return Config(name, self.name, data, tuple(settings_of_lines(name, data, LineIndex(data))))

    def change(self, config: Config, placed: Placed, value: str) -> Edit | None:
        """Return the edit that gives a variable another value, in the quotes that it has."""
        if placed.value_span is None:
            return None
        written = config.data[placed.value_span.start : placed.value_span.end]
        text = _written(value, written[:1].decode("latin-1"))
        if text is None:
            return None
        edit = Edit(placed.value_span.start, placed.value_span.end, text.encode())
        return edit if changes_just(config, edit, placed, value) else None

    def remove(self, config: Config, placed: Placed) -> Edit | None:
        """Return the edit that takes the line out."""
        line = config.lines.whole_lines(placed.span)
        is_marked = line.start == 0 and config.data.startswith(BOM)
        edit = Edit(len(BOM) if is_marked else line.start, line.end, b"")
        return edit if changes_just(config, edit, placed, None) else None

    def add(self, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that appends a line, with `export` where the last one has it; None for no variable."""
        text = _written(value, "")
        if kind is not Kind.ENV or text is None:
            return None
        data = config.data
        last = config.settings[-1].span if config.settings else None
        export = "export " if last and data[last.start : last.end].startswith(b"export") else ""
        at = config.lines.whole_lines(last).end if last else len(data)
        edit = lines_put(data, at, [f"{export}{name}={text}".encode()], closed=True)
        return edit if adds_just(config, edit, name, value) else None


def settings_of_lines(name: str, data: bytes, lines: LineIndex, form: Form = Form.ENV_FILE) -> Iterator[Placed]:
    """Yield every NAME=VALUE of `data`."""
    start = len(BOM) if data.startswith(BOM) else 0
    for line in data[start:].split(b"\n"):
        found = _LINE.match(line)
        if found:
            first = start + len(line) - len(line.lstrip())
            at, column = lines.place(name, first)
            yield Placed(
                name=found[1].decode(),
                value=_value(found[2].decode("utf-8", "replace")),
                kind=Kind.ENV,
                form=form,
                at=at,
                column=column,
                span=Span(first, start + found.end()),
                value_span=Span(start + found.start(2), start + found.end(2)),
            )
        start += len(line) + 1


def _value(written: str) -> str | None:
    if written[:1] == "'":
        return written[1:-1]
    if "$" in written:
        return None
    if written[:1] == '"':
        return re.sub(r"\\(.)", r"\1", written[1:-1])
    return written


def _written(value: str, quote: str) -> str | None:
    """Return a value in the quotes that the file uses; None where it cannot stand in a line."""
    if {"\n", "\r", "\0"} & set(value):
        return None
    if quote not in {"'", '"'}:
        quote = "" if _PLAIN.fullmatch(value) else "'"
    if quote == "'" and "'" in value:
        return None
    if quote == '"' and {"$", '"', "\\", "`"} & set(value):
        return None
    return f"{quote}{value}{quote}"
