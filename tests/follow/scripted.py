"""A clock under which a watch takes no time, and the real jobs to watch."""

from __future__ import annotations

from pathlib import Path

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
LATEST = 100_000.0


class ScriptedClock:
    """A clock that stands still but in `wait`, where what was arranged for that time is done."""

    def __init__(self):
        self.stopped = False
        self.time = 0.0
        self.waits = 0
        self.arranged = []

    def at(self, time, act, *arguments):
        self.arranged.append((time, len(self.arranged), act, arguments))
        self.arranged.sort()

    def stop(self):
        self.stopped = True

    def now(self):
        return self.time

    def wait(self, seconds, files=()):  # noqa: ARG002 - it waits for no pipe
        assert self.time < LATEST, "the watch does not end"
        self.waits += 1
        until = self.time + seconds
        while self.arranged and self.arranged[0][0] <= until and not self.stopped:
            time, _, act, arguments = self.arranged.pop(0)
            self.time = max(self.time, time)
            act(*arguments)
        if not self.stopped:
            self.time = until
