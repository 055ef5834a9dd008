"""The kernel log: Xid and SXid, the OOM killer, and lines of drivers, links and file systems.

Also the user-land tools that tell of the same: nvidia-smi on a lost GPU, an NVLink that is down.
"""

from __future__ import annotations

import re

from nccl_logscan.events.model import Event, KernelEvent, KernelOom, KernelXid, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine

# `NVRM: Xid (PCI:0000:cb:00): 45, pid=…`, before driver 460 `NVRM: Xid (0000:03:00): 31, Ch 00000001, …`, and
# `nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, Fatal, Link 40 …`; some collectors keep `Xid: 79` alone.
_XID = deferred(
    r"\b(?P<sxid>S)?Xid (?:error )?\((?:PCI[: ])?(?P<pci>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2})?"
    r"(?:\.[0-9A-Fa-f]{1,2})?)[^)]{0,60}\): (?P<xid>\d{1,6})\b"
)
_XID_WITHOUT_PCI = deferred(
    r"\bNVRM: (?P<sxid>S)?Xid:? \(?(?P<xid>\d{1,4})\b"
    r"|\bX(?:id|ID)s?(?: [Ee]rrors?| code)?:? (?P<second>\d{1,4}) (?:was |has been )?(?:found|detected|reported"
    r"|on GPU|occurred|for GPU)"
)
_KILLED = deferred(
    r"(?:Out of memory|Memory cgroup out of memory"
    r"|oom-kill): Kill(?:ed)? process (?P<victim>\d{1,10})(?:,? \((?P<program>[^)]{1,64})\)"
    r"|, UID \d+, \((?P<named>[^)]{1,64})\))?"
    r"|\bKilled process (?P<later>\d{1,10}),? (?:UID \d+,? )?\((?P<alone>[^)]{1,64})\)"
    r"|oom_reaper: reaped process (?P<reaped>\d{1,10}) \((?P<of>[^)]{1,64})\)"
)
_OOM_SUMMARY = deferred(
    r"\boom-kill:constraint=.{0,1500}?\btask=(?P<program>[^,]{1,64}),pid=(?P<victim>\d{1,10})", re.DOTALL
)
_INVOKED = deferred(r" invoked oom-killer\b")
_XIDS = Gate(_XID, _XID_WITHOUT_PCI)
_OOM = Gate(_KILLED, _OOM_SUMMARY, _INVOKED)
# `Jan 02 03:04:05 n07 kernel: [  12.345678] `, `[  123.456789] `, `[Fri Jan  2 03:04:05 2026] `, if not peeled.
_STAMP = deferred(
    r"(?:.{0,100}?\bkernel: )(?:\[ {0,6}\d{1,10}\.\d{6}\] )?|\[ {0,6}\d{1,10}\.\d{6}\] "
    r"|\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\] "
)
_EVENTS = Gate(
    *map(
        deferred,
        (
            r"\bNVRM: (?!version:)",
            r"\bnvidia-(?:nvswitch\d{0,3}|nvlink): ",
            r"\bnvidia-modeset: (?:ERROR|WARNING)",
            r"\bnvidia \d{4}:[0-9a-f]{2}:",
            r"nvidia-fabricmanager\b.{0,60}(?:[Ff]ail|error|exited)",
            r"^[Ff]abric manager .{0,80}(?:match|fail|error|permission)|to start .{0,20}abric manager",
            r"^\s{0,16}Remapping Failure Occurred\s{1,20}: (?:Yes|No)\b",
            r"^\s{0,16}(?:HW|SW) (?:Thermal |Power Brake )?Slowdown\s{1,40}: (?:Not )?Active\b",
            r"nvidia_peermem: ",
            r"nvidia-smi has failed because it couldn't",
            r"fallen off the bus",
            r"GPU is lost",
            r"GPU requires reset",
            r"GPU has been disconnected",
            r"Unable to determine the device handle for (?:GPU|gpu)",
            r"all links are in[Aa]ctive",
            r"\bpcieport \S{4,24}: ",
            r"\bPCIe Bus Error: severity=",
            r"\bAER: ",
            r"\bDPC: containment event",
            r"\bmlx[45]_(?:core|ib)[ :]",
            r"\bib_core: ",
            r"\birdma \d{4}:",
            r"\bbnxt_(?:en|re) \d{4}:",
            r"\bi40e \d{4}:",
            r"\bice \d{4}:",
            r"\bena \d{4}:",
            r"\befa \d{4}:",
            r"\b[a-z][\w.@-]{1,15}: (?:NIC )?Link is (?:Up|Down)|\bLink is (?:Down|down)\b",
            r"link becomes ready",
            r"\bbond\d{1,3}: .{0,60}link status",
            r"\bnfs: (?:server \S{1,200} (?:is )?(?:not responding|OK)|RPC call returned error)",
            r"\bNFS: .{0,80}(?:error|fail|stale)",
            r"\bLustre(?:Error)?: ",
            r"\bGPFS: ",
            r"\bmmfs(?:d|d64)?: ",
            r"\b(?:lib)?ceph: ",
            r"\bbeegfs: ",
            r"\bwekafs",
            r"\bI/O error, dev |\bBuffer I/O error|\bnvme nvme\d{1,3}: I/O",
            r"\bnvme nvme\d{1,3}: (?:controller|Abort)",
            r"\bEXT4-fs (?:error|warning)",
            r"\bXFS \([\w-]{1,40}\): ",
            r"\bblocked for more than \d{1,6} seconds",
            r"\bBUG: soft lockup",
            r"\brcu: INFO: rcu_\w{1,20} (?:self-)?detected stall",
            r"\bMachine [Cc]heck\b",
            r"\[Hardware Error\]: ",
            r"\bEDAC \w{2,20}: ",
            r"\bsegfault at [0-9a-f]{1,16} ip ",
            r"\btraps: \S{1,80} (?:trap|general protection)",
            r"\bnv_peer_mem\b",
            r"\bDMAR: ",
            r"\bAMD-Vi: ",
            r"\bIO_PAGE_FAULT\b",
            r"\bTasks in \S{1,300} are going to be killed",
        ),
    )
)


def read(line: LogLine) -> Event | None:
    """Return an Xid, a kill for memory or another kernel line; None for any line that is none of these."""
    text = line.text
    if line.prefixes and _is_of_the_kernel(line):
        return _xid(line, text) or _oom(line, text) or _event(line, text)
    if (" kernel: " in text or text.startswith("[")) and (stamp := _STAMP.match(text)):
        message = text[stamp.end() :]
        return _xid(line, message) or _oom(line, message) or _event(line, message)
    return _xid(line, text) or _oom(line, text) or (_event(line, text) if _EVENTS.search(text) else None)


def _xid(line: LogLine, text: str) -> KernelXid | None:
    if not _XIDS.admits(text):
        return None
    pci = None
    match = _XID.search(text)
    if match is not None:
        number, pci = match["xid"], match["pci"]
    else:
        match = _XID_WITHOUT_PCI.search(text)
        if match is None:
            return None
        number = match["xid"] or match["second"]
    return KernelXid(
        **told_by(line, _from_driver(text)),
        xid=int(number),
        pci=pci,
        sxid=match["sxid"] is not None,
    )


def _from_driver(text: str) -> str:
    """Return the text from the driver's name on: what collectors put before it says nothing of the fault."""
    for name in ("NVRM: ", "nvidia-nvswitch"):
        start = text.find(name)
        if start > 0:
            return text[start:]
    return text


def _oom(line: LogLine, text: str) -> KernelOom | None:
    if not _OOM.admits(text):
        return None
    victim: str | None
    program: str | None
    if match := _KILLED.search(text):
        victim = match["victim"] or match["later"] or match["reaped"]
        program = match["program"] or match["named"] or match["alone"] or match["of"]
    elif match := _OOM_SUMMARY.search(text):
        victim, program = match["victim"], match["program"]
    elif _INVOKED.search(text):
        # Who asked for memory is not who is killed: the victim is on a later line.
        victim, program = None, None
    else:
        return None
    return KernelOom(
        **told_by(line, text),
        victim=int(victim) if victim else None,
        program=program,
    )


def _event(line: LogLine, text: str) -> KernelEvent:
    return KernelEvent(**told_by(line, text))


def _is_of_the_kernel(line: LogLine) -> bool:
    return any(prefix.endswith(":kernel") or prefix == "dmesg" for prefix in line.prefixes)
