"""The TCPStore and the sockets below it: connecting, waiting, losing the peer."""

from __future__ import annotations

from nccl_logscan.events.dialects.c10 import peel
from nccl_logscan.events.model import TorchStore, told_by
from nccl_logscan.lines.model import LogLine

_FILES = (
    "socket.cpp",
    "TCPStore",
    "HashStore",
    "FileStore",
    "PrefixStore",
    "Store.cpp",
    "UnixSockUtils",
    "WinSockUtils",
)
_TAG = "[c10d] "
_HEADLESS = (
    _TAG,
    "The client socket",
    "The server socket",
    "The server has taken over",
    "No socket on (",
    "TCP client failed",
)


def read(line: LogLine) -> TorchStore | None:
    """Return the event of a line that the TCPStore or a c10d socket wrote. The tag `[c10d]` is taken off."""
    head = peel(line)
    if head is None:
        return read_headless(line)
    if not head.site.file.rpartition("/")[2].startswith(_FILES):
        return None
    return TorchStore(
        at=line.at,
        origin=head.origin,
        when=head.when,
        message=head.text.removeprefix(_TAG).strip(),
        repeated=line.repeated,
        severity=head.severity,
    )


def read_headless(line: LogLine) -> TorchStore | None:
    """Return the event of such a line without its C++ log head."""
    if not line.text.startswith(_HEADLESS):
        return None
    return TorchStore(
        **told_by(line, line.text.removeprefix(_TAG).strip()),
    )
