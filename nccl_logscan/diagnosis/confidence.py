"""How sure a verdict is: a level in words and a number meant as a frequency.

The numbers by strength were set so that the bands of the calibration table in reports/accuracy.md hold, and a little
lower, since logs that nobody has seen are judged less well; rivals of another category take some away.
"""

from __future__ import annotations

from nccl_logscan.diagnosis.causes import BAND, Ranking, known_order
from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.taxonomy import Level

_BY_STRENGTH = ((90, 0.96), (75, 0.92), (55, 0.85), (35, 0.72), (15, 0.60), (0, 0.40))
_RIVAL = 0.85


def confidence_of(ranking: Ranking) -> float:
    """Return the probability that the cause's category is right, 0 to 1."""
    cause = ranking.cause
    if cause is None:
        return 0.0
    sure = next(share for strength, share in _BY_STRENGTH if cause.rule.strength >= strength)
    if any(_rivals(cause, rival) for rival in ranking.rivals):
        sure *= _RIVAL
    return round(sure, 2)


def level_of(ranking: Ranking, clocks: Clocks) -> Level:
    """Return the level in words."""
    cause = ranking.cause
    if cause is None:
        return Level.NONE
    if cause.rule.strength < 35:
        return Level.SUGGESTED
    later = [known_order(cause, finding, clocks) for finding in ranking.consequences]
    if cause.rule.strength >= 75 and all(order == -1 for order in later):
        return Level.ESTABLISHED
    if cause.rule.strength >= 90:
        return Level.ESTABLISHED
    return Level.LIKELY


def _rivals(cause: Finding, other: Finding) -> bool:
    return other.rule.category != cause.rule.category and other.rule.strength >= cause.rule.strength - BAND
