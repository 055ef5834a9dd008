"""LogLine: what a program said, with the prefixes of launchers and collectors taken off and remembered."""

from __future__ import annotations

from nccl_logscan.position import NOBODY, Instant, Origin, Position
from nccl_logscan.records import dataclass


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line without its prefixes.

    `text` is the payload, without ANSI sequences and without blanks at its end. `origin` is what the prefixes said,
    `when` the innermost time stamp among them. `level` is a logging library's level where one was printed. `repeated`
    is how often Ray says the line occurred (1: once). `prefixes` names each peeled prefix, outermost first.
    """

    at: Position
    text: str
    origin: Origin = NOBODY
    when: Instant | None = None
    level: str | None = None
    repeated: int = 1
    prefixes: tuple[str, ...] = ()
