"""How the job ended, as far as its log tells: progress, completion, exits."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import ClassVar

from nccl_logscan.diagnosis.excerpts import Site
from nccl_logscan.diagnosis.identity import Who, who
from nccl_logscan.events.model import (
    ElasticExit,
    Event,
    KernelOom,
    NcclInit,
    ProcessExit,
    ProcessSignal,
    PythonException,
    TrainEnd,
    TrainStep,
)

_LIMIT = 65_536
_STEPS = 64


@dataclass(slots=True)
class Endings:
    """Orders (positions in reading order) of the last signs of life, and every exit that was told.

    `steps` holds the last TrainStep of each sayer with its order, `ended` the sayers that said they were done.
    `step_orders` are the orders of the latest steps, by source.
    """

    steps: dict[Who, tuple[TrainStep, int]] = field(default_factory=dict)
    step_orders: dict[str, deque[int]] = field(default_factory=dict)
    ended: dict[Who, int] = field(default_factory=dict)
    destroyed: dict[Who, int] = field(default_factory=dict)
    aborted: dict[Who, int] = field(default_factory=dict)
    failures: list[tuple[Event, int]] = field(default_factory=list)
    exceptions: int = 0

    kinds: ClassVar[frozenset[str]] = frozenset(
        {
            "train.step",
            "train.end",
            "nccl.init",
            "elastic.exit",
            "process.exit",
            "process.signal",
            "kernel.oom",
            "python.exception",
        }
    )

    def feed(self, event: Event, site: Site) -> None:
        """Note an event."""
        order = site.order
        if isinstance(event, TrainStep):
            self._step(event, order)
        elif isinstance(event, TrainEnd):
            self._note(self.ended, event, order)
        elif isinstance(event, NcclInit):
            self._phase(event, order)
        elif isinstance(event, ElasticExit | ProcessExit | ProcessSignal | KernelOom):
            self._exit(event, order)
        elif isinstance(event, PythonException):
            self.exceptions += 1

    def _step(self, event: TrainStep, order: int) -> None:
        sayer = who(event)
        if sayer in self.steps or len(self.steps) < _LIMIT:
            self.steps[sayer] = (event, order)
        orders = self.step_orders.get(event.at.source)
        if orders is None:
            orders = self.step_orders[event.at.source] = deque(maxlen=_STEPS)
        orders.append(order)

    def _phase(self, event: NcclInit, order: int) -> None:
        if event.phase == "destroy":
            self._note(self.destroyed, event, order)
        elif event.phase == "abort":
            self._note(self.aborted, event, order)

    def _exit(self, event: Event, order: int) -> None:
        failed = getattr(event, "exit_code", 1) != 0
        if failed and len(self.failures) < _LIMIT:
            self.failures.append((event, order))

    @staticmethod
    def _note(orders: dict[Who, int], event: Event, order: int) -> None:
        sayer = who(event)
        if sayer in orders or len(orders) < _LIMIT:
            orders[sayer] = order

    @property
    def finished(self) -> bool:
        """Whether the job says that it ended well and nothing says otherwise."""
        return bool(self.ended) and not self.failures and self.exceptions == 0

    @property
    def wound_down(self) -> bool:
        """Whether communicators were destroyed in order, none aborted, and no process failed."""
        return bool(self.destroyed) and not self.aborted and not self.failures and self.exceptions == 0

    @property
    def progressed(self) -> bool:
        """Whether training steps were logged and no process failed."""
        return bool(self.steps) and not self.failures and self.exceptions == 0

    def went_on(self, source: str, order: int, steps: int) -> bool:
        """Whether the job went on after a point of a source as if nothing had been: to its end, or for some steps.

        A source without signs of life (a file of NCCL's alone) is judged by the job as a whole.
        """
        ended = [end for sayer, end in (*self.ended.items(), *self.destroyed.items()) if sayer.source == source]
        orders = self.step_orders.get(source)
        if not ended and orders is None:
            return self.finished or self.wound_down
        if ended and (self.finished or self.wound_down) and max(ended) > order:
            return True
        return orders is not None and self.progressed and sum(step > order for step in orders) >= steps
