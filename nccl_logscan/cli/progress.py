"""Progress on long input, on a terminal only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from nccl_logscan.report.visible import harmless_to_runners, visible
from nccl_logscan.sources import STDIN
from nccl_logscan.sources.line_source import LineSource, progress_of

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 1.0  # seconds before a bar appears; a short scan shows none
_BARS = 5  # of the sources that were read last; a job may have thousands
_NAME = 24  # columns, of 80 that also hold a bar, the amount, the rate and the time left


@contextmanager
def progress_on(stream: TextIO | None) -> Iterator[Callable[[LineSource], None] | None]:
    """Give a function to call with the source being read, or None where nobody watches."""
    if stream is None or not stream.isatty():
        yield None
        return
    bar = _Bar(stream)
    try:
        yield bar.show
    finally:
        bar.close()


class _Bar:
    """A bar that appears after a second, one task for each source; a spinner's count where the size is not known."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._began = time.monotonic()
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def show(self, source: LineSource) -> None:
        if self._progress is None:
            if time.monotonic() - self._began < _PATIENCE:
                return
            self._progress = self._start()
        task = self._tasks.get(source.name)
        read, size = progress_of(source)
        if task is None:
            task = self._progress.add_task(_called(source.name), total=size, amount="", left="left" if size else "")
            self._tasks[source.name] = task
            self._hide_the_oldest()
        self._progress.update(task, completed=read, amount=_amount(read, size))

    def _hide_the_oldest(self) -> None:
        assert self._progress is not None
        for task in list(self._tasks.values())[-_BARS - 1 : -_BARS]:
            self._progress.update(task, visible=False)

    def _start(self) -> Progress:
        # Needed once a scan has taken a second on a terminal, so most scans are spared it.
        from rich import progress as shown  # noqa: PLC0415
        from rich.console import Console  # noqa: PLC0415

        bar = shown.Progress(
            shown.TextColumn("{task.description}", markup=False),
            shown.BarColumn(),
            shown.TextColumn("{task.fields[amount]}", style="progress.download", markup=False),
            shown.TransferSpeedColumn(),
            shown.TimeRemainingColumn(),
            shown.TextColumn("{task.fields[left]}", style="progress.remaining", markup=False),
            console=Console(file=self._stream),
            transient=True,
        )
        bar.start()
        return bar

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()


def _called(name: str) -> str:
    told = "standard input" if name == STDIN else harmless_to_runners(visible(name))
    return told if len(told) <= _NAME else f"…{told[1 - _NAME :]}"


def _amount(read: int, size: int | None) -> str:
    from rich.filesize import decimal  # noqa: PLC0415 - as above

    return f"{decimal(read)} of {decimal(size)}" if size else decimal(read)
