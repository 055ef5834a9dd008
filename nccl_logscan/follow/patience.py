"""When a job counts as failed, and not merely as one that complains: what a watch waits for, in seconds.

A line that tells of a failure is not yet one: the job may go on, and other ranks and the launcher have their say within
the next seconds. So after a sign of failure the logs must fall still, or must go on for long without a step; and what a
scan would say then decides. How long that is depends on how much is known:

    settle / 3     a launcher has said that a process failed
    settle         a rule knows the failure, and calls it fatal
    10 * settle    it is one that a job may survive, that no line names but many together show, or that no rule knows;
                   or torchrun says that it starts the job again; or the logs do not fall still, but no step is made

A job whose steps are far apart is still between them as well: nothing counts as stillness that is shorter than twice
the longest of the latest pauses between steps, unless a launcher has spoken.
"""

from __future__ import annotations

from collections import deque

from nccl_logscan.follow.job import Outlook, Signs

_PAUSES = 8
_LONG = 10.0
_SHORT = 1 / 3
_AGAIN = 600.0
"""Seconds between looks where there is no sign: what a scan says may rest on lines of which none is one by itself."""


class Patience:
    """Told with `note` what each reading of the logs found; `due` says when to look, `take` what a look has found."""

    def __init__(self, settle: float, now: float) -> None:
        self._settle = settle
        self._signs = Signs()
        self._grew = now
        self._trouble_since: float | None = None
        self._stepped: float | None = None
        self._pauses: deque[float] = deque(maxlen=_PAUSES)
        self._looked = float("-inf"), self._signs
        self._outlook = Outlook.OPEN
        self._not_before = now

    @property
    def still_since(self) -> float:
        """When a log grew last."""
        return self._grew

    @property
    def is_alert(self) -> bool:
        """Whether there is a sign of failure after which no step was made."""
        return self._trouble_since is not None

    def note(self, now: float, signs: Signs, *, grew: bool) -> None:
        """Take in what the logs say after they were read; `grew`: a log had further bytes."""
        if signs.step > self._signs.step:
            if self._stepped is not None:
                self._pauses.append(now - self._stepped)
            self._stepped = now
        if signs.trouble <= signs.step:
            self._trouble_since = None
        elif signs.trouble > self._signs.trouble and self._trouble_since is None:
            self._trouble_since = now
        if grew:
            self._grew = now
            self._outlook = Outlook.OPEN
        self._signs = signs

    def due(self) -> float | None:
        """Return from when on a look is due if nothing more comes; None if none is."""
        due = self._due()
        return due if due is None else max(due, self._not_before)

    def _due(self) -> float | None:
        if self._outlook is Outlook.DOUBTFUL:
            return self._grew + _LONG * self._settle
        looked_at, seen = self._looked
        if self._grew <= looked_at:
            return None
        still = self._grew + self._stillness()
        if self._trouble_since is not None:
            return min(still, max(self._trouble_since, looked_at) + self._longest())
        is_news = self._signs.trouble > seen.trouble or self._signs.end > seen.end or self._signs.held
        return still if is_news else max(still, looked_at + _AGAIN)

    def put_off(self, now: float) -> None:
        """Look again a while later: it could not be done now."""
        self._not_before = now + self._settle

    def take(self, now: float, outlook: Outlook) -> bool:
        """Take in what a look has found; return whether the watch is over."""
        waited_long = self._outlook is outlook is Outlook.DOUBTFUL
        self._looked = now, self._signs
        self._outlook = outlook
        is_still = now - self._grew >= self._stillness()
        if outlook is Outlook.FINISHED:
            return is_still
        return outlook is Outlook.FAILED or waited_long

    def _stillness(self) -> float:
        """How long the logs must have been still."""
        signs = self._signs
        if signs.restart > signs.exit:
            return _LONG * self._settle
        if signs.exit > max(signs.step, signs.restart):
            return _SHORT * self._settle
        if signs.end > max(signs.step, signs.trouble):
            return self._settle
        return max(self._settle, 2 * max(self._pauses, default=0.0))

    def _longest(self) -> float:
        """How long the logs may go on without a step after a sign of failure."""
        return max(_LONG * self._settle, self._stillness())
