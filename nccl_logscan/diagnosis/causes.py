"""Which finding is the cause, and which only follow from it.

Three questions, in this order: what did the job live through (recovered), what explains what (the rules'
explains-edges), and which of the rest speaks most plainly and first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nccl_logscan.diagnosis.endings import Endings
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.matcher import explains
from nccl_logscan.taxonomy import Category, Role

# Findings within this many points of strength of each other are told apart by time rather than by strength.
BAND = 12
# Steps that must follow a fault before the job counts as having lived through it.
RECOVERY_STEPS = 3
# What is weaker than this and comes after the job said that it was done is the noise of processes that leave.
TEARDOWN = 25
# A fault this plain in precision or hardware stands although the job went on: the run's result is what failed.
_LASTING = frozenset({Category.MIXED_PRECISION_OVERFLOW})


@dataclass(frozen=True, slots=True)
class Ranking:
    """The outcome: `cause` (None: no finding can be one), its `consequences` in order, `rivals` by standing, and what
    was `recovered` from.
    """

    cause: Finding | None
    consequences: tuple[Finding, ...]
    rivals: tuple[Finding, ...]
    recovered: tuple[Finding, ...]


def rank_causes(findings: Iterable[Finding], endings: Endings) -> Ranking:
    """Choose the cause among findings."""
    relevant = [finding for finding in findings if finding.rule.role not in {Role.BENIGN, Role.CONTEXT}]
    recovered = [finding for finding in relevant if _recovered(finding, endings)]
    standing = [finding for finding in relevant if finding not in recovered]
    candidates = [finding for finding in standing if finding.rule.role is not Role.ECHO]
    unexplained = [finding for finding in candidates if not _explained(finding, candidates)]
    pool = unexplained or candidates
    if not pool:
        return Ranking(None, tuple(standing), (), tuple(recovered))
    cause = _plainest_first(pool)
    rivals = sorted((finding for finding in pool if finding is not cause), key=lambda finding: -finding.rule.strength)
    consequences = sorted((finding for finding in standing if finding is not cause), key=lambda finding: finding.order)
    return Ranking(cause, tuple(consequences), tuple(rivals), tuple(recovered))


def _recovered(finding: Finding, endings: Endings) -> bool:
    """Whether training went on after a fault as if nothing had been."""
    if finding.rule.category in _LASTING:
        return False
    if endings.went_on(finding.first.at.source, finding.last_order, RECOVERY_STEPS):
        return True
    return endings.finished and finding.rule.strength < TEARDOWN


def _explained(finding: Finding, candidates: list[Finding]) -> bool:
    """Whether another candidate's rule says that this one follows from it, and not the reverse too.

    Vague words do not explain plain ones away: the other must be at least about as strong.
    """
    return any(
        explains(other.rule.explains, finding.rule.id) and not explains(finding.rule.explains, other.rule.id)
        for other in candidates
        if other.rule.id != finding.rule.id and other.rule.strength >= finding.rule.strength - BAND
    )


def _plainest_first(pool: list[Finding]) -> Finding:
    top = max(finding.rule.strength for finding in pool)
    near_top = [finding for finding in pool if finding.rule.strength >= top - BAND]
    first = near_top[0]
    for finding in near_top[1:]:
        if _before(finding, first):
            first = finding
    return first


def _before(one: Finding, other: Finding) -> bool:
    """Whether `one` comes before `other` as far as that can be known; the plainer of two where it can't."""
    order = known_order(one, other)
    if order is not None:
        return order < 0
    return one.rule.strength > other.rule.strength


def known_order(one: Finding, other: Finding) -> int | None:
    """Return -1 or 1 where the order of two findings is known, else None.

    Two lines of one input are in the order of writing, near enough; lines of two inputs are ordered only by times of
    one clock.
    """
    if one.first.at == other.first.at:
        return None
    if one.first.at.source == other.first.at.source:
        return -1 if one.order < other.order else 1
    mine, its = one.first.when, other.first.when
    if mine is None or its is None or mine.clock != its.clock:
        return None
    if (mine.value.tzinfo is None) != (its.value.tzinfo is None) or mine.value == its.value:
        return None
    return -1 if mine.value < its.value else 1
