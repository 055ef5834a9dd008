"""Time and signals of a watch: what it waits by."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Protocol

_Handler = Callable[[int, FrameType | None], Any] | int | None
_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Clock(Protocol):
    """What a watch waits by."""

    @property
    def stopped(self) -> bool:
        """Whether somebody asked for the end of the watch."""

    def now(self) -> float:
        """Return the time in seconds; it never goes back."""

    def wait(self, seconds: float, files: Sequence[int] = ()) -> None:
        """Wait so long at most: shorter where a file descriptor has something to read, or the end is asked for."""


class SystemClock:
    """The machine's clock. Inside `with`, the first SIGTERM, SIGINT or SIGHUP stops the watch; a second one kills.

    Kubernetes and Slurm end a process with SIGTERM and kill it 30 s later, where nothing else is set; a terminal that
    is closed sends SIGHUP.
    """

    def __init__(self) -> None:
        self.stopped = False
        self._before: dict[signal.Signals, _Handler] = {}
        self._awake, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> SystemClock:
        for number in _STOPS:
            handler = signal.getsignal(number)
            if handler is not signal.SIG_IGN:  # as nohup sets it for SIGHUP
                self._before[number] = handler
                signal.signal(number, self._stop)
        return self

    def __exit__(self, *error: object) -> None:
        self._restore()
        os.close(self._awake)
        os.close(self._wake)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stopped = True
        self._restore()
        os.write(self._wake, b"\0")

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def now(self) -> float:
        """Return the monotonic clock's seconds."""
        return time.monotonic()

    def wait(self, seconds: float, files: Sequence[int] = ()) -> None:
        """Wait so long at most."""
        select.select([self._awake, *files], [], [], max(0.0, seconds))
