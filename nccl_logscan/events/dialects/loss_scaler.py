"""Loss scalers: steps skipped for an overflow, scales lowered, scales that can go no lower.

Wordings of apex, DeepSpeed (0.3 to 0.18), fairseq, Megatron, mmcv, ColossalAI, Paddle, MindSpore, and what training
programs print around torch.amp.GradScaler, which logs nothing itself. A scale that grows is no event.
"""

from __future__ import annotations

import re

from nccl_logscan.events.model import LossScale, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.lines.model import LogLine

_NUMBER = r"(?:\d{1,20}(?:\.\d{0,20})?(?:[eE][-+]?\d{1,4})?)"

_EXHAUSTED = deferred(
    r"Current loss scale already at minimum|[Mm]inimum loss scale reached"
    rf"|loss scale:? {_NUMBER} (?:is )?below (?:the )?min",
)
_OVERFLOW = deferred(
    r"overflow(?:s|ed)?[ ,!.:]{1,4}\s{0,4}(?:rank \d+ ?)?(?:skip|reduc|decreas|lower|halv|back|downscal|ignor"
    r"|setting|attempted"
    r"|detected|occur|current loss scale)"
    r"|overflow! |overflow detected|overflow(?: cond)?: true|grad overflow on iteration"
    r"|found (?:an? )?(?:overflow|infs?|nans?)\b(?! in local)"
    r"|(?:inf|nan)s? (?:(?:or|and|/) ?(?:inf|nan)s? )?(?:detected|found|encountered)"
    r"|(?:reduc|decreas|lower|halv|downscal|drop)(?:ing|ed|es|e)? (?:the )?(?:dynamic |grad |amp |fp16 |current )?"
    r"(?:loss |grad )?scal(?:e|er|ing)\b"
    r"|grad ?scaler scale|scale factor decreased",
    re.IGNORECASE,
)
_SCALES = deferred(
    rf"scale(?:r scale)?(?: from)?\s{{0,4}}[:=]?\s{{0,4}}(?P<first>{_NUMBER})"
    rf"(?:\s{{0,4}}(?:,|->|=>|→|to:?|reducing to|decrease to:?|decreased to|reduced to"
    rf"|lowered to)\s{{0,4}}){{1,3}}(?P<second>{_NUMBER})",
    re.IGNORECASE,
)
_BEFORE = deferred(
    rf"(?:attempted loss scale|current (?:loss )?scale(?: is)?):?\s{{0,4}}(?P<value>{_NUMBER})",
    re.IGNORECASE,
)
_AFTER = deferred(
    rf"scal(?:e|er|ing)(?: factor)?(?: \w{{1,12}})? ?(?:to:?|=|:|->|is now|now)(?: to)?\s{{0,4}}(?P<value>{_NUMBER})",
    re.IGNORECASE,
)
_NEW_VALUE = deferred(rf"New value:\s{{0,4}}(?P<value>{_NUMBER})")
_TIMES = deferred(rf"decrease to: ?{_NUMBER} ?\* ?(?P<factor>{_NUMBER})")
_STEP = deferred(r"\b(?:step|iteration|iter|num_updates)[ :=#\[]{1,8}(?P<step>\d{1,12})\b")
_GROWS = deferred(
    r"(?:increas|doubl|rais|grow)(?:ing|ed|es) (?:the )?(?:\w{1,12} )?(?:loss )?scale|overflow(?: cond)?: false",
    re.IGNORECASE,
)

_GATE = Gate(_EXHAUSTED, _OVERFLOW)

_PROGRESS_COUNTERS = ("number of skipped iterations", "number of nan iterations")
_FRAMEWORKS = (
    ("[deepspeed]", "deepspeed"),
    ("[deepscale]", "deepspeed"),
    ("Current loss scale already at minimum", "deepspeed"),
    ("dynamic loss scale from", "deepspeed"),
    ("Grad overflow on iteration", "deepspeed"),
    ("loss scaler", "apex"),
    ("OVERFLOW! Skipping step. Attempted", "apex"),
    ("fairseq", "fairseq"),
    ("overflow detected, setting", "fairseq"),
    ("overflow detected, ignoring", "fairseq"),
    ("Minimum loss scale reached", "fairseq"),
    ("Check overflow, downscale", "mmcv"),
    ("Found overflow. Skip step", "colossalai"),
    ("Found inf or nan, current scale", "paddle"),
    ("overflow cond", "mindspore"),
    ("rad scaler", "torch"),
    ("GradScaler", "torch"),
    ("grad_scaler", "torch"),
)


def read(line: LogLine) -> LossScale | None:
    """Return a skipped step, a lowered scale or a scale at its floor; None for any other line."""
    text = line.text
    if not _GATE.admits(text):
        return None
    exhausted = _EXHAUSTED.search(text)
    if exhausted is None and not _is_overflow(text):
        return None
    before, after = _scales(text)
    step = _STEP.search(text)
    return LossScale(
        **told_by(line, text),
        framework=_framework(text),
        scale_before=before,
        scale_after=after,
        at_minimum=exhausted is not None or _stays_at_one(text, before, after),
        gave_up=exhausted is not None,
        step=int(step["step"]) if step else None,
    )


def _is_overflow(text: str) -> bool:
    if any(counter in text for counter in _PROGRESS_COUNTERS) or _OVERFLOW.search(text) is None:
        return False
    if _GROWS.search(text):
        return False
    return _speaks_of_training(text)


def _speaks_of_training(text: str) -> bool:
    """Whether an overflow is one of gradients: integers, stacks, buffers and HTML boxes overflow too.

    Of a line with neither a scale nor an overflow only a skipped step tells that a scaler wrote it.
    """
    lowered = text.lower()
    if "scal" not in lowered and "overflow" not in lowered:
        return "skip" in lowered
    return "scale" in lowered or "grad" in lowered or "skip" in lowered or "[deep" in lowered


def _scales(text: str) -> tuple[float | None, float | None]:
    """Return the scale before and after, as far as the line says them."""
    if times := _TIMES.search(text):
        before = _value(_BEFORE.search(text))
        return before, before * float(times["factor"]) if before is not None else None
    if both := _SCALES.search(text):
        return float(both["first"]), float(both["second"])
    before = _value(_BEFORE.search(text))
    if before is not None:
        # With hysteresis left, DeepSpeed skips the step and keeps the scale (fp16/loss_scaler.py, 0.9 on).
        return before, before if "hysteresis" in text else None
    return None, _value(_AFTER.search(text) or _NEW_VALUE.search(text))


def _value(match: re.Match[str] | None) -> float | None:
    return float(match["value"]) if match else None


def _stays_at_one(text: str, before: float | None, after: float | None) -> bool:
    """Whether the scale was not lowered because 1, DeepSpeed's default floor, is reached."""
    return before is not None and before == after and before <= 1 and "hysteresis" not in text


def _framework(text: str) -> str:
    for words, framework in _FRAMEWORKS:
        if words in text:
            return framework
    return "unknown"
