"""Loss scales and losses over time: a normal search, a collapse, a floor, NaN.

A dynamic scaler starts high and halves on overflow until steps succeed; some skips at the start and a rare pair later
are how it works (torch.amp.GradScaler starts at 2^16: torch 2.11, torch/amp/grad_scaler.py). It is a failure where the
scale falls to where it no longer scales (1 and below), where every step is skipped to the end (told by
overflows or by the progress line's own counter), or where the loss itself is NaN. A scale of 1 alone says nothing: with
bfloat16 it is printed as 1 at every step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from nccl_logscan.diagnosis.detectors.detection import Detection, captured, excerpt_of
from nccl_logscan.diagnosis.excerpts import Excerpt, Site
from nccl_logscan.diagnosis.heed import Heed
from nccl_logscan.diagnosis.sayer import Who, who
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.events.model import Event, LossScale, TrainStep
from nccl_logscan.records import dataclass, field

_LIMIT = 4_096
_FLOOR = 1.0
_FALL = 2.0**8
_LONG_RUN = 16
# Lines in a row on which every step was skipped and the scale did not fall. Scalers keep it for a few overflows
# (hysteresis, 2 in Megatron and DeepSpeed), and where it is above 1 it may have started there.
_STUCK_AT_FLOOR = 2
_STUCK_ABOVE = 8


@dataclass(slots=True)
class _Scaler:
    """One sayer's loss scale over time."""

    highest: float = 0.0
    lowest: float = math.inf
    latest: float | None = None
    overflows: int = 0
    run: int = 0
    longest_run: int = 0
    steps_since: int = 0
    order: int = 0
    last_order: int = 0
    at_minimum: bool = False
    gave_up: bool = False
    step: int | None = None
    skipped: int | None = None
    stuck: int = 0
    first: list[Excerpt] = field(default_factory=list)
    last: Excerpt | None = None
    lowest_at: Excerpt | None = None

    @property
    def at_floor(self) -> bool:
        """Whether the latest scale no longer scales."""
        return self.latest is not None and self.latest <= _FLOOR

    def note(self, scale: float | None) -> bool:
        """Take in a scale; return whether it is lower than the one before."""
        if scale is None or not math.isfinite(scale) or scale < 0:
            return False
        fell = self.latest is not None and scale < self.latest
        self.latest = scale
        self.highest = max(self.highest, scale)
        self.lowest = min(self.lowest, scale)
        return fell

    def skips(self, event: TrainStep) -> int:
        """Take in a step's counters; return how many steps were skipped since the line before, if all were.

        At the floor half of them will do: a scaler that still overflows there has nowhere to go.
        """
        step, skipped = self.step, self.skipped
        self.step = event.step
        if event.skipped is not None:
            self.skipped = event.skipped
        lately = event.skipped_lately
        if lately is None and event.skipped is not None and skipped is not None:
            lately = event.skipped - skipped
        if event.step is None or not lately:
            return 0
        if step is None:
            # Megatron prints no loss where no step counted.
            return lately if event.loss is None and event.skipped_lately else 0
        share = 2 if self.at_floor else 1
        return lately if share * lately >= event.step - step > 0 else 0


class LossScales:
    """Tells the search from the collapse."""

    names: ClassVar[tuple[str, ...]] = ("loss-scale-search", "loss-scale-collapse", "loss-scale-floor")
    kinds: ClassVar[frozenset[str]] = frozenset({"scaler.overflow", "train.step"})

    def __init__(self) -> None:
        self._scalers: dict[Who, _Scaler] = {}

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: every scale and every count of skipped steps, since it is their course that tells."""
        assert isinstance(event, TrainStep)
        told = (event.loss_scale, event.skipped, event.skipped_lately)
        return Heed.SAYER if all(number is None for number in told) else Heed.LINE

    def feed(self, event: Event, site: Site) -> None:
        """Take in an overflow or a step."""
        if isinstance(event, LossScale):
            self._overflow(event, site)
        elif isinstance(event, TrainStep):
            self._step(event, site)

    def _scaler(self, event: Event) -> _Scaler | None:
        sayer = who(event)
        if sayer not in self._scalers:
            if len(self._scalers) >= _LIMIT:
                return None
            self._scalers[sayer] = _Scaler()
        return self._scalers[sayer]

    def _overflow(self, event: LossScale, site: Site) -> None:
        scaler = self._scaler(event)
        if scaler is None:
            return
        scaler.note(event.scale_before)
        scaler.note(event.scale_after)
        scaler.at_minimum = scaler.at_minimum or event.at_minimum
        scaler.gave_up = scaler.gave_up or event.gave_up
        self._count(scaler, event, site, event.repeated)

    def _step(self, event: TrainStep, site: Site) -> None:
        scaler = self._scaler(event)
        if scaler is None:
            return
        fell, skipped = scaler.note(event.loss_scale), scaler.skips(event)
        scaler.stuck = scaler.stuck + 1 if skipped and not fell else 0
        if fell or skipped:
            self._count(scaler, event, site, max(1, skipped))
        elif event.loss is None or math.isfinite(event.loss):
            scaler.steps_since += 1
            scaler.run = 0

    @staticmethod
    def _count(scaler: _Scaler, event: Event, site: Site, times: int) -> None:
        scaler.order = scaler.order or site.order
        scaler.last_order = site.order
        scaler.overflows += times
        scaler.run += times
        scaler.longest_run = max(scaler.longest_run, scaler.run)
        scaler.steps_since = 0
        excerpt = excerpt_of(event, site)
        if len(scaler.first) < 2:
            scaler.first.append(excerpt)
        if scaler.latest is not None and scaler.latest <= scaler.lowest:
            scaler.lowest_at = excerpt
        scaler.last = excerpt

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield the worst state over all sayers, once."""
        overflowed = {sayer: scaler for sayer, scaler in self._scalers.items() if scaler.overflows}
        if not overflowed:
            return
        states = {sayer: _state(scaler) for sayer, scaler in overflowed.items()}
        worst = min(states.values(), key=_ORDER.index)
        sayers = [sayer for sayer, state in states.items() if state == worst]
        scalers = [overflowed[sayer] for sayer in sayers]
        deepest = min(scalers, key=lambda scaler: scaler.lowest)
        cited = [*deepest.first, *filter(None, (deepest.lowest_at, deepest.last))]
        ranks = [scene.identity.rank_of(sayer) for sayer in sayers]
        yield Detection(
            worst,
            tuple({excerpt.at: excerpt for excerpt in cited}.values()),
            min(scaler.order for scaler in scalers),
            max(scaler.last_order for scaler in scalers),
            {
                "overflows": str(sum(scaler.overflows for scaler in scalers)),
                "from": _number(deepest.highest),
                "to": _number(deepest.lowest if math.isfinite(deepest.lowest) else 0.0),
            },
            tuple(rank for rank in ranks if rank is not None),
            count=sum(scaler.overflows for scaler in scalers),
        )


_ORDER = ("loss-scale-floor", "loss-scale-collapse", "loss-scale-search")


def _state(scaler: _Scaler) -> str:
    if scaler.gave_up or scaler.at_minimum or _is_stuck(scaler):
        return "loss-scale-floor"
    if scaler.lowest <= _FLOOR and scaler.overflows >= 2 and scaler.steps_since == 0:
        return "loss-scale-collapse"
    fell = scaler.lowest > 0 and scaler.highest / scaler.lowest >= _FALL
    if scaler.lowest <= _FLOOR and (fell or scaler.lowest < _FLOOR) and scaler.overflows >= 3:
        return "loss-scale-collapse"
    if scaler.longest_run >= _LONG_RUN and scaler.steps_since == 0:
        return "loss-scale-collapse"
    return "loss-scale-search"


def _is_stuck(scaler: _Scaler) -> bool:
    """Whether every step is skipped to the end while the scale stays, which is then its minimum."""
    return scaler.stuck >= (_STUCK_AT_FLOOR if scaler.at_floor else _STUCK_ABOVE)


def _number(value: float) -> str:
    return f"{value:g}"


@dataclass(slots=True)
class _Losses:
    """One sayer's losses: the current run of bad ones, and what came before."""

    bad_run: int = 0
    bad_total: int = 0
    bad_grads: int = 0
    good: int = 0
    order: int = 0
    last_order: int = 0
    step: int | None = None
    what: str = "NaN"
    excerpts: list[Excerpt] = field(default_factory=list)


class Losses:
    """Finds a loss that turned NaN or infinite and stayed so."""

    names: ClassVar[tuple[str, ...]] = ("loss-not-finite", "gradients-not-finite")
    kinds: ClassVar[frozenset[str]] = frozenset({"train.step"})

    def __init__(self) -> None:
        self._losses: dict[Who, _Losses] = {}

    def heeds(self, event: Event) -> Heed:
        """See `Heed`: every loss that is no number."""
        assert isinstance(event, TrainStep)
        numbers = (number for number in (event.loss, event.grad_norm) if number is not None)
        return Heed.SAYER if all(map(math.isfinite, numbers)) else Heed.LINE

    def feed(self, event: Event, site: Site) -> None:
        """Take in a step."""
        assert isinstance(event, TrainStep)
        sayer = who(event)
        losses = self._losses.get(sayer)
        if losses is None:
            if len(self._losses) >= _LIMIT:
                return
            losses = self._losses[sayer] = _Losses()
        bad_loss = event.loss is not None and not math.isfinite(event.loss)
        bad_grad = event.grad_norm is not None and math.isnan(event.grad_norm)
        if bad_loss or bad_grad:
            self._bad(losses, event, site, bad_loss=bad_loss)
        elif event.loss is not None:
            losses.good += 1
            losses.bad_run = losses.bad_grads = 0

    @staticmethod
    def _bad(losses: _Losses, event: TrainStep, site: Site, *, bad_loss: bool) -> None:
        if losses.bad_run + losses.bad_grads == 0:
            losses.order, losses.step = site.order, event.step
            losses.excerpts.clear()
            if event.loss is not None and math.isinf(event.loss):
                losses.what = "infinite"
        losses.bad_run += bad_loss
        losses.bad_grads += not bad_loss
        losses.bad_total += 1
        losses.last_order = site.order
        if len(losses.excerpts) < 3:
            losses.excerpts.append(excerpt_of(event, site))

    def conclude(self, scene: Scene) -> Iterator[Detection]:
        """Yield a lasting NaN in the loss, else one in the gradients alone.

        The loss that a job prints is commonly that of all ranks, printed by one of them: a rank is named only where it
        alone prints NaN while others print numbers.
        """
        lasting = {sayer: losses for sayer, losses in self._losses.items() if losses.bad_run}
        name = "loss-not-finite"
        if not lasting:
            lasting = {sayer: losses for sayer, losses in self._losses.items() if losses.bad_grads >= 5}
            name = "gradients-not-finite"
        if not lasting:
            return
        first_sayer, first = min(lasting.items(), key=lambda item: item[1].order)
        finite = any(losses.good for sayer, losses in self._losses.items() if sayer not in lasting)
        rank = scene.identity.rank_of(first_sayer) if finite and len(lasting) == 1 else None
        yield Detection(
            name,
            tuple(first.excerpts),
            first.order,
            max(losses.last_order for losses in lasting.values()),
            captured(what=first.what, step=first.step, rank=rank),
            (rank,) if rank is not None else (),
            count=sum(losses.bad_total for losses in lasting.values()),
        )
