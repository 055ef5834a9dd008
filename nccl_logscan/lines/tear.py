"""Lines that two writers tore: what clearly begins a new line in the middle of one is taken for a line of its own.

Writers that share a pipe splice in the middle of a line (NCCL from 2.13.4 on leaves stdout to the C library, which
writes 4 KiB pieces), and OpenMPI puts its tag in again where a rank's write was split.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from nccl_logscan.expressions import deferred

# How far before ` NCCL ` a header can begin: time stamp, host, pid, tid, device, call site with its function.
_REACH = 320

NCCL_HEAD = deferred(
    r"(?:\[[^\]\n]{0,30}\d\d:\d\d[^\]\n]{0,20}\] )?([^\s:\[\]/]{1,253}):(\d{1,10}):(\d{1,10}) (?:\[-?\d{1,10}\] )?"
)
"""The start of a line that NCCL wrote itself."""

_HEAD_BEFORE = deferred(
    r"(?P<stamp>\[\d{4}-\d\d-\d\d[^\]\n]{1,30}\] )?(?P<host>[\w.%\-]{1,253}):\d{1,10}:\d{1,10} (?:\[-?\d{1,10}\] )?"
    r"(?:[^\s:]{1,200}:\d{1,6} (?:\([^)\n]{0,100}\) )?)?$"
)
_NCCL_LEVEL = deferred(r" NCCL (?:INFO|WARN|ATTN|CALL|TRACE|ABORT)\b")
_TAG = deferred(r"\[(?:rank|default)\d{1,6}\]:")
_MPI_TAG = deferred(r"\[[^\],\s\[]{1,120},\d{1,7}\](?:\[[^\]\s]{1,120}\])?<std(?:out|err|diag)>:")
_C10 = deferred(r"\[[IWEF](?:\d{3,4} \d\d:\d\d:\d\d\.\d{1,9})? ?[\w./\-]{1,200}\.(?:cpp|hpp|cu):\d{1,6}\] ")
_LOGGED = deferred(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3} \| (?:rank ?\d{1,6} \| |[A-Z]{4,8} *\| )")
_ELASTIC = deferred(r"[IWE]\d{4} \d\d:\d\d:\d\d\.\d{1,9} \d{1,20} torch/")
_SLURM = deferred(r"(?:srun|slurmstepd): error: ")
_TRACEBACK = "Traceback (most recent call last):"
# Exception groups draw a margin before their tracebacks.
_MARGIN = deferred(r"[\s|+]*(?:Exception Group )?")

_MARKS = (("]:", _TAG), ("]<std", _MPI_TAG), (" | ", _LOGGED), (" torch/", _ELASTIC), (": error: ", _SLURM))


def may_be_torn(text: str) -> bool:
    """Tell quickly whether `torn` has anything to look at; nearly no line of a log does."""
    return (
        "]:" in text
        or " | " in text
        or "pp:" in text
        or "Traceback" in text
        or ": error: " in text
        or ".cu:" in text
        or " torch/" in text
        or "]<std" in text
        or text.count(" NCCL ") > (NCCL_HEAD.match(text) is not None)
    )


def torn(text: str, hosts: Collection[str]) -> list[str]:
    """Return the lines that `text` was made of, in order; joined they are `text` again.

    `hosts` are names known to begin NCCL's lines: between `...delay` and `vm:12:34 [0] NCCL` only they tell where
    the second line begins.
    """
    starts = sorted({start for start in _starts(text, hosts) if start > 0})
    if not starts:
        return [text]
    edges = [0]
    for start in starts:
        if not _is_one_head(text[edges[-1] : start]):
            edges.append(start)
    return [text[start:end] for start, end in zip(edges, [*edges[1:], len(text)], strict=True)]


def _is_one_head(text: str) -> bool:
    """Tell whether a piece is only the first half of a head, such as `[rank3]:` before `[E1102 ...`."""
    return len(text) < 20 and _TAG.fullmatch(text) is not None


def _starts(text: str, hosts: Collection[str]) -> Iterator[int]:
    if " NCCL " in text:
        yield from _nccl_starts(text, hosts)
    if _TRACEBACK in text:
        start = text.find(_TRACEBACK, 1)
        if start > 0 and not _MARGIN.fullmatch(text, 0, min(start, 200)):
            yield start
    if "pp:" in text or ".cu:" in text:
        yield from (match.start() for match in _C10.finditer(text, 1))
    for literal, mark in _MARKS:
        if literal in text:
            yield from (match.start() for match in mark.finditer(text, 1))


def _nccl_starts(text: str, hosts: Collection[str]) -> Iterator[int]:
    for level in _NCCL_LEVEL.finditer(text):
        reach = max(0, level.start() + 1 - _REACH)
        head = _HEAD_BEFORE.search(text[reach : level.start() + 1])
        if head is None:
            continue
        start = reach + head.start()
        if head["stamp"] is not None:
            yield start
        elif start == 0:
            yield length_of_rest(head["host"], hosts)
        else:
            yield start + len(head["host"]) - len(next(_ends_in(head["host"], hosts), head["host"]))


def _ends_in(word: str, hosts: Collection[str]) -> Iterator[str]:
    """Yield the hosts that a word ends in, the longest first: of thousands of hosts each end is looked up."""
    return (word[at:] for at in range(len(word)) if word[at:] in hosts)


def length_of_rest(word: str, hosts: Collection[str]) -> int:
    """Return how many characters of the word that a line begins with are the rest of another line.

    `0.01vm` is `0.01` and the host `vm`; but `gpu-node-1` is a host of its own, whoever else is called `node-1`.
    """
    if word in hosts:
        return 0
    for host in _ends_in(word, hosts):
        if host != word and not host.replace(".", "").isdecimal():
            rest = word[: -len(host)]
            if rest.replace(".", "").isdecimal() or _NO_HOSTNAME.search(rest):
                return len(rest)
    return 0


_NO_HOSTNAME = deferred(r"[^\w.%\-]")
