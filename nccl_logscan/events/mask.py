"""Message to template: what is left of a message when everything that varies from run to run is masked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from nccl_logscan.expressions import deferred

_LONGEST_MESSAGE = 2000
_LONGEST_TEMPLATE = 300

# One pass, first alternative first. Each alternative is bounded, so that the whole is linear in the message.
_VARIABLE = deferred(
    r"""
      (?P<uuid>(?:GPU-|MIG-)?\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b)
    | (?P<time>\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)
    | (?P<pci>\b(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]\b)
    | (?P<addr>
          \b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d{1,5}\b)?(?:<\d{1,5}>)?
        | (?<![\w:])\[?[0-9a-fA-F]{0,4}:(?:[0-9a-fA-F]{0,4}:){1,6}[0-9a-fA-F]{1,4}
          (?:%[\w.-]{1,20})?\]?(?::\d{1,5}\b)?(?:<\d{1,5}>)?
        | (?<![\w.-])[A-Za-z0-9][\w.-]{0,80}(?:<\d{1,5}>)
      )
    | (?P<path>(?<![\w/])(?:/[\w.+@%~=-]{1,255}){2,40}/?)
    | (?P<hex>\b0[xX][0-9a-fA-F]{1,32}\b|\b(?=[a-fA-F]{0,15}\d)(?=\d{0,15}[a-fA-F])[0-9a-fA-F]{4,64}\b)
    | (?P<n>(?<![A-Za-z0-9])[-+]?\d{1,40}(?:\.\d{1,40})?(?:[eE][-+]?\d{1,4})?|\d{1,40})
    """,
    re.VERBOSE | re.ASCII,
)
_BLANKS = deferred(r"\s+")


class Piece(NamedTuple):
    """A part of a message: `mask` names what it varies as (`n`, `addr`, ...), None where it is the same in each run."""

    mask: str | None
    text: str


def pieces(message: str) -> Iterator[Piece]:
    """Yield the parts of a message of which `template` keeps some and masks the others; joined they are the message."""
    at = 0
    for found in _VARIABLE.finditer(message):
        if found.start() > at:
            yield Piece(None, message[at : found.start()])
        yield Piece(found.lastgroup, found[0])
        at = found.end()
    if at < len(message):
        yield Piece(None, message[at:])


def template(message: str) -> str:
    """Return `message` with times, addresses, paths, hex and decimal numbers replaced by `<time>`, `<addr>`, `<n>`, ...

    >>> template("connect to 10.0.0.3<40211> returned Connection refused, retrying (1/34)")
    'connect to <addr> returned Connection refused, retrying (<n>/<n>)'

    Messages of one kind give one template. At most 300 characters; only the first 2,000 of the message count.
    """
    masked = _VARIABLE.sub(_name, message[:_LONGEST_MESSAGE])
    return _BLANKS.sub(" ", masked).strip()[:_LONGEST_TEMPLATE]


def _name(found: re.Match[str]) -> str:
    return f"<{found.lastgroup}>"
