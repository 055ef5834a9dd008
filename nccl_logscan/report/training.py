"""The course of training as the view has it: JSON-ready, numbers that JSON has not as words."""

from __future__ import annotations

import math
from typing import Any

from nccl_logscan.diagnosis.training import Point, Training, TrainingPart


def training_of(training: Training | None) -> dict[str, Any] | None:
    """Return the view's `training`."""
    if training is None:
        return None
    return {
        "parts": [_part(part) for part in training.parts],
        "overflows": training.overflows,
        "skipped": training.skipped,
    }


def _part(part: TrainingPart) -> dict[str, Any]:
    return {
        "attempt": part.attempt,
        "rank": part.rank,
        "file": part.points[0].at.source,
        "is_choice": part.is_choice,
        "points": [_point(point) for point in part.points],
    }


def _point(point: Point) -> dict[str, Any]:
    return {
        "line": point.at.line,
        "step": point.step,
        "loss": _number(point.loss),
        "loss_scale": _number(point.loss_scale),
        "grad_norm": _number(point.grad_norm),
        "skipped": point.skipped,
        "overflow": point.overflow,
    }


def _number(number: float | None) -> float | str | None:
    """Return a number, and of one that JSON has no word for its name."""
    if number is None or math.isfinite(number):
        return number
    if math.isnan(number):
        return "nan"
    return "inf" if number > 0 else "-inf"
