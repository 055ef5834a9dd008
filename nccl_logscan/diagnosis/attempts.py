"""Attempts: torchelastic starts all processes anew after a failure and gives each attempt folders of its own.

What an attempt said before the job was started again is no evidence of how the next one went.
"""

from __future__ import annotations

from collections.abc import Iterable

from nccl_logscan.diagnosis.places import attempt_in_name


class Attempts:
    """The attempts among a job's inputs, by the inputs' names. An input of no attempt, as the launcher's own log, is
    taken for one of the last.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: list[str] = []
        self.last = 0
        for name in names:
            self.learn(name)

    def learn(self, name: str) -> None:
        """Take in the name of a further input."""
        self._names.append(name)
        self.last = max(self.last, attempt_in_name(name) or 0)

    def of(self, name: str) -> int:
        """Return which attempt an input is of."""
        attempt = attempt_in_name(name)
        return self.last if attempt is None else attempt

    def before(self, attempt: int) -> frozenset[str]:
        """Return the inputs of attempts before one."""
        return frozenset(name for name in self._names if self.of(name) < attempt)

    def latest_with(self, telling: Iterable[str]) -> int:
        """Return the last attempt of which one of some inputs is, by its own name; the last of all if none is."""
        return max((at for name in telling if (at := attempt_in_name(name)) is not None), default=self.last)
