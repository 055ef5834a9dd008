"""The watch itself: read what has come, see whether the job is over, wait; and give the verdict."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace

from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.errors import InputError
from nccl_logscan.follow.clock import Clock
from nccl_logscan.follow.inputs import Inputs
from nccl_logscan.follow.job import Job, Outlook, Signs
from nccl_logscan.follow.patience import Patience
from nccl_logscan.follow.process import is_alive
from nccl_logscan.follow.silence import verdict_of_silence
from nccl_logscan.follow.tail import Tail
from nccl_logscan.follow.wording import said
from nccl_logscan.pipeline import Options
from nccl_logscan.report.wording import counted
from nccl_logscan.rulebook.rule import Rulebook

SETTLE = 60.0
"""Seconds. PyTorch's watchdog leaves up to 45 s of silence between its first words and the abort of which torchrun then
tells (fixtures/cases/lab, PyTorch 2.11), and torchrun gives workers that it stops 30 s."""
_QUICKEST, _SLOWEST = 0.25, 5.0
_ALERT = 1.0
_SEARCH = 2.0
_LONGEST_PAUSE = 60.0
_IDLE_SHARE, _BUSY_SHARE = 2_000, 50
"""How many times as long as looking takes it a watch waits: with thousands of logs, looking alone takes a while."""
_LAST_READING = 1.0
"""Seconds for what has come when the watch is stopped: Slurm and Kubernetes kill some seconds after they ask."""
_AFTER_EXIT, _AFTER_EXIT_AT_MOST = 2.0, 10.0
_LONGEST_READING = 2.0
_NAMED = 5
_STALLED = "no log grows any more"


@dataclass(frozen=True, slots=True)
class Watch:
    """When a watch ends, in seconds, besides when the job has failed or says that it is done.

    `settle`: how long the logs are still before a failure counts (patience.py tells it in full). `stalled`: without any
    further byte for so long, the job counts as hung. `timeout`: the watch takes so long at most. `pid`: a process of
    this machine, as srun or torchrun, with whose end the watch ends.
    """

    settle: float = SETTLE
    stalled: float | None = None
    timeout: float | None = None
    pid: int | None = None


def follow(
    paths: Sequence[str],
    rulebook: Rulebook,
    options: Options,
    watch: Watch,
    *,
    clock: Clock,
    tell: Callable[[str], None] = lambda _: None,
    stdin: int | None = None,
) -> ScanResult:
    """Read logs while they grow, and return the verdict once the job has failed or ended, or the watch has.

    Files that are not there yet are waited for. `tell` is called with a line on the beginning, the first sign of a
    failure and the end; `stdin` is the descriptor that the path `-` stands for.

    Raises:
        InputError: no line of a known kind came before the end.
    """
    _allow_many_files()
    with closing(Inputs(paths, options.limits, stdin)) as inputs:
        return _Watching(inputs, Job(rulebook, options, paths), watch, clock, tell).result()


class _Watching:
    def __init__(self, inputs: Inputs, job: Job, watch: Watch, clock: Clock, tell: Callable[[str], None]) -> None:
        self._inputs = inputs
        self._job = job
        self._watch = watch
        self._clock = clock
        self._tell = tell
        self._began = clock.now()
        self._patience = Patience(watch.settle, self._began)
        self._signs = Signs()
        self._look_took = 0.0
        self._pause = _QUICKEST
        self._search_at = self._began
        self._exited: float | None = None
        self._has_told_sign = False

    def result(self) -> ScanResult:
        """Watch to the end."""
        self._search()
        self._tell(self._greeting())
        self._job.read_packed(self._inputs.packed)
        while (why := self._round()) is None:
            self._clock.wait(self._until_next(), self._descriptors())
        self._tell(f"{why}; {self._extent()}")
        return self._conclude(stalled=why is _STALLED)

    # --- one round ------------------------------------------------------------------------------------------

    def _round(self) -> str | None:
        """Read what has come; return why the watch is over, None if it is not."""
        if self._clock.now() >= self._search_at:
            self._search()
        began = self._clock.now()
        grew = self._read(began + _LONGEST_READING)
        now = self._clock.now()
        if grew:
            self._signs = self._job.signs(self._tails)
        self._patience.note(now, self._signs, grew=grew)
        self._tell_sign()
        self._pause = 0.0 if now >= began + _LONGEST_READING else self._next_pause(grew=grew)
        return self._over(now)

    def _next_pause(self, *, grew: bool) -> float:
        if grew:
            return max(_QUICKEST, _BUSY_SHARE * self._look_took)
        slowest = _ALERT if self._patience.is_alert and self._patience.due() is not None else _SLOWEST
        slowest = max(slowest, min(_IDLE_SHARE * self._look_took, _LONGEST_PAUSE))
        return min(max(self._pause, _QUICKEST) * 1.5, slowest)

    def _search(self) -> None:
        began = self._clock.now()
        self._inputs.refresh()
        now = self._clock.now()
        self._search_at = now + min(max(_SEARCH, _IDLE_SHARE * (now - began)), _LONGEST_PAUSE)

    def _read(self, until: float) -> bool:
        """Read what has come, a block of each log in turn; return whether there was any."""
        growing = self._look()
        grew = False
        while growing and not self._clock.stopped and self._clock.now() < until:
            growing = [tail for tail in growing if self._read_block(tail)]
            grew = grew or bool(growing)
        return grew

    def _look(self) -> list[Tail]:
        began = self._clock.now()
        for tail in self._tails:
            tail.growth.look()
        self._look_took = self._clock.now() - began
        return list(self._tails)

    def _read_block(self, tail: Tail) -> bool:
        lines = tail.take()
        if lines:
            self._job.fold(tail, lines)
        return tail.grew

    def _over(self, now: float) -> str | None:
        watch, patience = self._watch, self._patience
        if self._clock.stopped:
            return "stopped"
        due = patience.due()
        if due is not None and now >= due:
            outlook = self._job.outlook(self._tails, lambda: self._clock.stopped)
            if outlook is None:
                patience.put_off(now)
            elif patience.take(now, outlook):
                return "the job has ended" if outlook is Outlook.FINISHED else "the job has failed"
        if watch.timeout is not None and now >= self._began + watch.timeout:
            return f"the watch has taken {said(watch.timeout)}"
        if watch.stalled is not None and now >= patience.still_since + watch.stalled:
            return _STALLED
        if self._tails and all(tail.growth.ended for tail in self._tails):
            return "the input has ended"
        return self._after_exit(now)

    def _after_exit(self, now: float) -> str | None:
        """A process that has gone may leave output with its launcher, or with another host, for a moment."""
        if self._watch.pid is None:
            return None
        if self._exited is None and not is_alive(self._watch.pid):
            self._exited = now
        if self._exited is None:
            return None
        heard = min(max(self._exited, self._patience.still_since), self._exited + _AFTER_EXIT_AT_MOST)
        return f"process {self._watch.pid} has ended" if now >= heard + _AFTER_EXIT else None

    # --- waiting ------------------------------------------------------------------------------------------------

    def _until_next(self) -> float:
        """Return for how long nothing need be done unless something comes."""
        now, watch = self._clock.now(), self._watch
        times = [now + self._pause, *self._ends()]
        if watch.pid is not None:
            times.append(now + _ALERT)
        return max(0.0, min(times) - now)

    def _ends(self) -> Iterator[float]:
        watch = self._watch
        due = self._patience.due()
        if due is not None:
            yield due
        if watch.timeout is not None:
            yield self._began + watch.timeout
        if watch.stalled is not None:
            yield self._patience.still_since + watch.stalled

    def _descriptors(self) -> list[int]:
        return [file for tail in self._tails if (file := tail.growth.waits_on) is not None]

    @property
    def _tails(self) -> Sequence[Tail]:
        return list(self._inputs.tails.values())

    # --- the end --------------------------------------------------------------------------------------------------

    def _conclude(self, *, stalled: bool) -> ScanResult:
        deadline = self._clock.now() + _LAST_READING
        stopped = self._clock.stopped
        unread = self._read_last(deadline)
        if not self._inputs.tails and not self._inputs.packed:
            raise InputError(
                f"{', '.join(self._inputs.missing)} never came",
                hint="check the path; a watch waits for what is not there",
            )
        result = self._job.conclude(self._tails, lambda: not stopped or self._clock.now() < deadline)
        if stalled:
            last = [f"{tail.name}:{tail.lines_read}" for tail in self._tails if tail.lines_read][:_NAMED]
            diagnosis = verdict_of_silence(result.diagnosis, said(self._watch.stalled or 0), last)
            result = replace(result, diagnosis=diagnosis)
        return replace(result, notes=(*result.notes, *self._notes(unread)))

    def _read_last(self, deadline: float) -> list[Tail]:
        """Read what has come since; return the logs of which that was not all."""
        self._search()
        growing = self._look()
        while growing and self._clock.now() < deadline:
            growing = [tail for tail in growing if self._read_block(tail)]
        return growing

    def _notes(self, unread: Sequence[Tail]) -> Iterator[str]:
        for tail in unread[:_NAMED]:
            yield f"{tail.name} was not read to its end before the watch was stopped"
        again = [tail for tail in self._tails if tail.growth.rewritten]
        for tail in again[:_NAMED]:
            times = counted(tail.growth.rewritten, "time")
            yield f"{tail.name} was replaced or truncated {times}: its lines count from the first that was read"

    # --- what is told on the way ------------------------------------------------------------------------------------

    def _greeting(self) -> str:
        waiting = ", ".join(self._inputs.missing[:_NAMED])
        logs = counted(len(self._inputs.tails) + len(self._inputs.packed), "log")
        return f"following {logs}" + (f"; waiting for {waiting}" if waiting else "")

    def _tell_sign(self) -> None:
        if self._patience.is_alert and not self._has_told_sign:
            self._has_told_sign = True
            self._tell(f"a sign of failure in {self._job.troubled}; waiting for what follows")

    def _extent(self) -> str:
        took = said(self._clock.now() - self._began)
        return f"{counted(self._job.lines, 'line')} of {counted(len(self._tails), 'log')} in {took}"


def _allow_many_files() -> None:
    """Open as many files as the system grants: each log that is followed stays open, so that renaming loses nothing."""
    with suppress(OSError, ValueError):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
