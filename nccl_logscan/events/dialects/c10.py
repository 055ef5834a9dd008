"""PyTorch's C++ log lines: the head that c10 and glog put before every message, and lines with nothing special in them.

[E ProcessGroupNCCL.cpp:587] text                                                 to 2.2
[rank4]:[E1130 05:41:55.748584373 ProcessGroupNCCL.cpp:689] text                  since 2.2 (the rank is global)
[rank4]:[E903 04:18:52.660183347 ProcessGroupNCCL.cpp:1515] text                  a month below ten has one digit
I1028 12:13:38.405081 632355 ProcessGroupNCCL.cpp:843] text                       builds with glog
ProcessGroupNCCL.cpp:843] text                                                    its stamp already taken off
"""

from __future__ import annotations

import re
from datetime import datetime

from nccl_logscan.events.model import CallSite, TorchC10
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.model import LogLine
from nccl_logscan.lines.stamps import NO_YEAR
from nccl_logscan.position import Instant, Origin
from nccl_logscan.records import dataclass, replace

_BRACKETED = deferred(
    r"(?:\[rank(?P<rank>\d{1,7})\]: ?)?\[(?P<severity>[DIWEFV])"
    r"(?:(?P<month>\d\d?)(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)(?:\.\d+)?)? "
    r"(?P<file>[\w.\-/+]+\.(?:cpp|hpp|cu|cuh|h)):(?P<line>\d{1,6})\] ?"
)
# JAX and TensorFlow write the same shape, from files named .cc and .h.
_GLOG = deferred(
    r"(?:(?P<severity>[DIWEF])(?P<month>\d\d)(?P<day>\d\d) (?P<clock>\d\d:\d\d:\d\d)(?:\.\d+)? +(?P<tid>\d{1,10}) )?"
    r"(?P<file>[\w.\-/+]+\.[ch]pp):(?P<line>\d{1,6})\] ?"
)


@dataclass(frozen=True, slots=True)
class C10Line:
    """A C++ log line with its head read and taken off."""

    severity: str | None
    site: CallSite
    origin: Origin
    when: Instant | None
    text: str


def peel(line: LogLine) -> C10Line | None:
    """Return the line without its C++ log head; None where it has none.

    The rank of a c10 head is the global one and wins over a prefix's. The stamp counts to the second: its fraction
    comes from a monotonic clock and says nothing about the wall time (c10/util/Logging.cpp, 2.6).
    """
    text = line.text
    if "pp:" not in text and ".h:" not in text and ".cu" not in text:
        return None
    found = _BRACKETED.match(text) if text[0] == "[" else _GLOG.match(text)
    if found is None:
        return None
    fields = found.groupdict()
    origin = line.origin
    if fields.get("rank"):
        origin = replace(origin, rank=int(fields["rank"]))
    if fields.get("tid"):
        origin = replace(origin, tid=int(fields["tid"]))
    return C10Line(
        severity=fields["severity"],
        site=CallSite(file=found["file"], line=int(found["line"])),
        origin=origin,
        when=_instant(found, line) if fields["month"] else line.when,
        text=text[found.end() :],
    )


def read(line: LogLine) -> TorchC10 | None:
    """Return the event of a C++ log line, whatever it says; c10d's tag is taken off as well."""
    head = peel(line)
    if head is None:
        return None
    return TorchC10(
        at=line.at,
        origin=head.origin,
        when=head.when,
        message=head.text.removeprefix("[c10d] ").strip(),
        repeated=line.repeated,
        severity=head.severity,
        site=head.site,
    )


def _instant(found: re.Match[str], line: LogLine) -> Instant | None:
    """The head's stamp; the year, which it lacks, is that of the line's own stamp, or NO_YEAR.

    Its clock is named `HOST:c10` apart from the host's, as a stamp in whole seconds does not order within a second.
    """
    hour, minute, second = (int(part) for part in found["clock"].split(":"))
    year = line.when.value.year if line.when else NO_YEAR
    try:
        value = datetime(year, int(found["month"]), int(found["day"]), hour, minute, second)
    except ValueError:
        return line.when
    origin = line.origin
    return Instant(value=value, clock=f"{origin.host or origin.pod or origin.address or line.at.source}:c10")
