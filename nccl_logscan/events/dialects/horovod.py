"""Horovod: the stall inspector, failed operations, the launcher."""

from __future__ import annotations

from nccl_logscan.events.model import HorovodEvent, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine

_SAID = deferred(
    r"horovod/\w{2,20}/[\w/]{1,60}\.(?:cc|cu|h):\d"
    r"|One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks"
    r"|One or more rank \(marked by \"!\"\) is stalled"
    r"|^\s{0,4}Stalled (?:ranks|ops):|\[(?:missing|ready) ranks: \d"
    r"|^\s{0,4}\d{1,6}!?: \[\S{0,200}Horovod"
    r"|Horovod has been shut down|Horovod (?:initialized|detected|run failed)|HorovodInternalError"
    r"|HorovodShutdownError|HostsUpdatedInterrupt"
    r"|horovod\.(?:common|run|runner)\.|horovodrun\b.{0,60}(?:fail|error|exit)|terminating (?:the job"
    r"|all workers).{0,60}[Hh]orovod"
    r"|Missing ranks:? ?\d|HorovodAll(?:reduce|gather)_\S{1,200}|HorovodBroadcast_\S{1,200}"
)
_GATE = Gate(_SAID)


def read(line: LogLine) -> HorovodEvent | None:
    """Return a line of Horovod; None for any other line."""
    text = line.text
    if _GATE.search(text) is None:
        return None
    return HorovodEvent(**told_by(line, text))
