"""Lint of very many files in several processes, each of which reads and judges a part of them."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.cli.config_files import Files, examine
from nccl_logscan.configs.model import Config
from nccl_logscan.lint.gate import may_speak
from nccl_logscan.lint.model import Remark, Versions
from nccl_logscan.lint.run import lint
from nccl_logscan.records import replace

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

WORTH_IT = 300
"""From so many files on further processes save more than their start and their answers cost (2,000 files on two idle
cores: 1.2 s instead of 1.9 s).
"""
_MOST = 4


def processes_for(files: int) -> int:
    """Return how many processes are worth their cost for so many files here."""
    if files < WORTH_IT or sys.platform != "linux":
        return 1
    return min(_MOST, len(os.sched_getaffinity(0)))


def judge_in_parts(
    names: Sequence[str], versions: Versions, processes: int, *, fixes: bool
) -> tuple[Files, list[Remark]]:
    """Return what `examine` and `lint` make of the files, in their order; the settings of the files are left out."""
    # Read before the fork, so that it is read once.
    may_speak(b"NCCL")
    assert catalogue().options
    size = -(-len(names) // processes)
    parts = [names[start : start + size] for start in range(0, len(names), size)]
    # The children share what is there until they write to it, which the collector would do to all of it.
    gc.freeze()
    children = [_started(part, versions, fixes=fixes) for part in parts[1:]]
    found, remarks = _judge(parts[0], versions, fixes=fixes)
    for part, child in zip(parts[1:], children, strict=True):
        # A child that was killed, for memory perhaps, leaves its part to this process.
        more, more_remarks = _answer_of(*child) or _judge(part, versions, fixes=fixes)
        found.add(more)
        remarks += more_remarks
    return found, remarks


def _started(names: Sequence[str], versions: Versions, *, fixes: bool) -> tuple[ForkProcess, Connection]:
    """Start a process that judges files; return it and where its answer arrives."""
    from multiprocessing import get_context  # noqa: PLC0415 - few runs are of so many files

    forking = get_context("fork")
    answer, to_parent = forking.Pipe(duplex=False)
    process = forking.Process(target=_send, args=(to_parent, names, versions), kwargs={"fixes": fixes}, daemon=True)
    process.start()
    to_parent.close()
    return process, answer


def _send(to_parent: Connection, names: Sequence[str], versions: Versions, *, fixes: bool) -> None:
    with to_parent:
        to_parent.send(_judge(names, versions, fixes=fixes))


def _answer_of(process: ForkProcess, answer: Connection) -> tuple[Files, list[Remark]] | None:
    """Return what a process found; None where it did not come to its end."""
    with answer:
        try:
            found: tuple[Files, list[Remark]] | None = answer.recv()
        except EOFError:
            found = None
    process.join()
    return found


def _judge(names: Sequence[str], versions: Versions, *, fixes: bool) -> tuple[Files, list[Remark]]:
    found = Files()
    examine(names, found)
    remarks = [remark for job in found.jobs for remark in lint(job, versions, fixes=fixes)]
    spoken_of = {remark.at.source for remark in remarks}
    found.jobs[:] = [[_lean(config, shown=config.name in spoken_of) for config in job] for job in found.jobs]
    return found, remarks


def _lean(config: Config, *, shown: bool) -> Config:
    """Return as much of a file as its remarks are shown with."""
    return replace(config, data=config.data if shown else b"", settings=(), launches=())
