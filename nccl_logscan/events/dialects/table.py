"""What readers of tools' outputs share: their shape, and how a line becomes an event."""

from __future__ import annotations

from typing import Protocol

from nccl_logscan.events.model import Event, HostFact, told_by
from nccl_logscan.lines.model import LogLine


class Reader(Protocol):
    """Reads one table, from its heading to its end. `host`: whose table it is; None where nothing told."""

    host: str | None

    def read(self, line: LogLine) -> tuple[Event, ...] | None:
        """Return the events of a line of the table, often none; None for a line that is not of it."""


def fact(
    line: LogLine,
    tool: str,
    name: str,
    value: str,
    *,
    place: str = "",
    device: str | None = None,
    port: int | None = None,
    number: float | None = None,
) -> HostFact:
    """Return the fact that a line tells; `place` is where in its table the line stands."""
    said = line.text.strip()
    message = f"{place}: {said}" if place else said
    return HostFact(
        **told_by(line, message), tool=tool, name=name, value=value, device=device, port=port, number=number
    )
