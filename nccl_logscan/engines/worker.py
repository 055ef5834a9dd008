"""The other process: skims segments of files that it can open, gives bytes of them, and lists the files of its node."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from nccl_logscan.engines.shards import HEAD, Failed, File, Shard, Work, digest_of, telling_of
from nccl_logscan.errors import InputError
from nccl_logscan.pipeline import Run
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.skim.asking import Asker, Askers
from nccl_logscan.skim.crew import Batch, ThreadCrew
from nccl_logscan.skim.large import asker_of, has_bom
from nccl_logscan.skim.rounds import BATCH, HELD
from nccl_logscan.sources.files import files_of, kind_of_start
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.source import reason_of
from nccl_logscan.version import __version__

_MUCH = HELD // 4
"""Bytes of a shard's lines from which a round may well end within it."""


class Listed(NamedTuple):
    """A file of a node, where it lies there.

    `kind` is None where it is an archive, or could not be read: `note` is why, then. `is_plain`: text that is neither
    packed nor transcoded. `identity`: what it has in common with itself as another node sees it.
    """

    path: str
    size: int
    identity: tuple[int, int]
    digest: bytes
    kind: str | None = None
    is_plain: bool = False
    note: str | None = None


class Worker:
    """Reads shards of one scan. What it knows of a file's shapes serves its next shard, and files that begin alike."""

    def __init__(self, work: Work) -> None:
        run = Run(builtin_rulebook() if work.rules is None else work.rules)
        self._askers = Askers(run.matcher, run.listeners)
        self._limits = work.limits

    def read(self, shard: Shard) -> list[tuple[Any, ...]] | bytes | Failed:
        """Return a shard's bytes, or its tale, whole or by batches, in the form of a `Telling`. Never raises."""
        try:
            with Path(shard.file.path).open("rb") as file:
                head = file.read(HEAD)
                size = os.fstat(file.fileno()).st_size
                if size < shard.file.size or digest_of(head[: shard.file.size]) != shard.file.digest:
                    return Failed("it has changed since it was found", is_elsewhere=True)
                if shard.is_raw:
                    file.seek(shard.first)
                    return file.read(min(shard.end, shard.file.size) - shard.first)
            return self._skim(shard, head)
        except FileNotFoundError:
            return Failed("it is not there", is_elsewhere=True)
        except OSError as error:
            return Failed(reason_of(error), is_elsewhere=True)
        except MemoryError:
            return Failed("memory ran out")

    def _skim(self, shard: Shard, head: bytes) -> list[tuple[Any, ...]]:
        file, limits = shard.file, self._limits
        asker = asker_of(file.name, head, limits, self._askers)
        with closing(ThreadCrew(file.path, file.name, asker, limits, size=file.size)) as crew:
            if not shard.is_fine:
                batch = Batch()
                crew.skim(range(shard.first, shard.end), batch)
                is_little = crew.held <= _MUCH
                (tale,) = crew.tell()
                if is_little:
                    return [telling_of(tale, shard.end, batch, asker)]
            return [*_finely(crew, shard, asker)]


def _finely(crew: ThreadCrew, shard: Shard, asker: Asker) -> Iterator[tuple[Any, ...]]:
    for first in range(shard.first, shard.end, BATCH):
        batch, end = Batch(), min(first + BATCH, shard.end)
        crew.skim(range(first, end), batch)
        (tale,) = crew.tell()
        yield telling_of(tale, end, batch, asker)


_workers: dict[str, Worker] = {}


def read_shards(work: tuple[Any, ...], shards: Sequence[tuple[Any, ...]]) -> list[tuple[str, Any]]:
    """Read shards for a scan elsewhere; plain tuples in and out. Never raises."""
    wanted = Work(*work)
    if (problem := _other_program(wanted)) is not None:
        return [("failed", (problem, True))] * len(shards)
    worker = _workers.get(wanted.scan)
    if worker is None:
        _workers.clear()
        worker = _workers[wanted.scan] = Worker(wanted)
    return [_plain(worker.read(Shard(File(*file), *rest))) for file, *rest in shards]


def greet(work: tuple[Any, ...]) -> str | None:
    """Return why this process cannot read for a scan elsewhere; None if it can."""
    return _other_program(Work(*work))


def _plain(told: list[tuple[Any, ...]] | bytes | Failed) -> tuple[str, Any]:
    if isinstance(told, Failed):
        return "failed", tuple(told)
    return ("raw" if isinstance(told, bytes) else "told"), told


def _other_program(work: Work) -> str | None:
    """Say that tales of this process would not be those of the one that asks, if so."""
    if work.version != __version__:
        return f"it has nccl-logscan {__version__}, and not {work.version}"
    if work.rules is None and _own_digest() != work.digest:
        return "its nccl-logscan has other rules"
    return None


@lru_cache(1)
def _own_digest() -> str:
    return builtin_rulebook().digest


def list_files(work: tuple[Any, ...], pattern: str) -> tuple[str, list[tuple[Any, ...]] | str]:
    """Return the files below a path of this node, in natural order, each as a `Listed`; or why there is none.

    `~` and variables are this node's.
    """
    wanted = Work(*work)
    if (problem := _other_program(wanted)) is not None:
        return "failed", problem
    given = os.path.expanduser(os.path.expandvars(pattern))  # noqa: PTH111 - a pattern is no path
    try:
        found = [_listed(path, name, wanted.limits) for path, name in files_of(given)]
    except InputError as error:
        return "none", str(error)
    return "listed", [tuple(file) for file in found if file is not None]


def _listed(path: Path, name: str, limits: Limits) -> Listed | None:
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            return None
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        return Listed(name, 0, (0, 0), b"", note=f"could not be read: {reason_of(error)}")
    kind, is_plain = kind_of_start(head, name, limits)
    identity = state.st_ino, state.st_mtime_ns
    return Listed(name, state.st_size, identity, digest_of(head[: state.st_size]), kind, is_plain and not has_bom(head))
