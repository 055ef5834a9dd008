"""Which finding is the cause, and which only follow from it.

Three questions, in this order: what did the job live through (recovered), what explains what (the rules'
explains-edges), and which of the rest speaks most plainly and first.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Collection
from functools import lru_cache

from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.deaths import fallen
from nccl_logscan.diagnosis.detectors.hang import Hang
from nccl_logscan.diagnosis.endings import Endings
from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass
from nccl_logscan.taxonomy import Action, Category, Role

# Findings within this many points of strength of each other are told apart by time rather than by strength.
BAND = 12
# New steps that must follow a fault before the job counts as having lived through it; more of them after a fault that
# ends processes, since other ranks and late buffers say a few.
RECOVERY_STEPS = 5
CERTAIN_STEPS = 20
# From this strength on a line of NCCL, CUDA or the kernel is a fault that a process does not live through.
PLAIN = 70
# What is weaker than this and comes after the job said that it was done is the noise of processes that leave.
TEARDOWN = 25
# Faults that stand although the job went on, since the run's result is what failed.
_LASTING = frozenset({Category.MIXED_PRECISION_OVERFLOW})
# What the standings of all ranks prove of a hang.
_HANGS = frozenset(Hang.names)
_WATCHDOG = _HANGS | {"torch.watchdog-timeout"}
_TOLD_TO_END = "told-to-end"
_EXITS = frozenset({"elastic.exit", "process.exit"})
_RAISED = frozenset({"python.exception"})
_OF_THE_LIBRARY = frozenset(
    {
        "nccl.warn",
        "nccl.last-error",
        "nccl.attn",
        "cuda.error",
        "kernel.xid",
        "torch.process-group",
        "torch.mismatch",
        "transfers-one-end",
        "transfers-one-adapter",
        "transfers-undecided",
        "ports-down-together",
    }
)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The outcome: `cause` (None: no finding can be one), its `consequences` in order, `rivals` by standing (what else
    may be the cause, or a second one), and what was `recovered` from.
    """

    cause: Finding | None
    consequences: tuple[Finding, ...]
    rivals: tuple[Finding, ...]
    recovered: tuple[Finding, ...]


def rank_causes(scene: Scene) -> Ranking:
    """Choose the cause among findings."""
    endings, clocks = scene.endings, scene.clocks
    relevant = [finding for finding in scene.findings if finding.rule.role not in {Role.BENIGN, Role.CONTEXT}]
    recovered = tuple(finding for finding in relevant if _recovered(finding, endings))
    lived_through = set(map(id, recovered))
    standing = [finding for finding in relevant if id(finding) not in lived_through]
    candidates = [finding for finding in standing if finding.rule.role is not Role.ECHO]
    lost = fallen(candidates, scene.identity, lambda one, other: known_order(one, other, clocks))
    firsts = [finding for finding in candidates if id(finding) not in lost]
    unexplained = [finding for finding in firsts if not _explained(finding, firsts, clocks)]
    pool = unexplained or candidates
    if not pool:
        return Ranking(None, tuple(standing), (), recovered)
    cause = _plainest_first(pool, clocks)
    consequences = _consequences(cause, standing, lost)
    followed = {id(cause), *map(id, consequences)}
    rivals = [finding for finding in candidates if id(finding) not in followed]
    rivals.sort(key=lambda finding: -finding.rule.strength)
    return Ranking(cause, consequences, tuple(rivals), recovered)


def _consequences(cause: Finding, standing: list[Finding], lost: Collection[int]) -> tuple[Finding, ...]:
    """What follows from the cause: symptoms and echoes, what died out with a process (`lost`), and what the rules'
    edges lead to, step by step.
    """
    following = {
        id(finding): finding
        for finding in standing
        if finding is not cause and (finding.rule.role in {Role.SYMPTOM, Role.ECHO} or id(finding) in lost)
    }
    reached = [cause]
    while reached:
        source = reached.pop()
        for finding in standing:
            if finding is cause or finding.rule.role is not Role.CAUSE or id(finding) in following:
                continue
            if explains(source.rule.explains, finding.rule.id):
                following[id(finding)] = finding
                reached.append(finding)
    return tuple(sorted(following.values(), key=lambda finding: finding.order))


_WILD = deferred(r"[*?[]")


@lru_cache(maxsize=65_536)
def explains(globs: tuple[str, ...], rule_id: str) -> bool:
    """Return whether one of a rule's `explains` entries names `rule_id`."""
    # Of an entry without a wildcard no expression is made.
    return any(
        rule_id == glob or (_WILD.search(glob) is not None and fnmatch.fnmatchcase(rule_id, glob)) for glob in globs
    )


def _recovered(finding: Finding, endings: Endings) -> bool:
    """Whether the job went on after a fault as if nothing had been: to its end, or for so many steps that it did."""
    if endings.is_superseded(finding.first.at.source):
        return True
    if finding.rule.category in _LASTING:
        return False
    source, order = finding.first.at.source, finding.last_order
    if finding.kind in _RAISED:
        ended = endings.told_after(source, order, finding.ranks)
    else:
        ended = endings.ended_after(source, order)
    steps = endings.new_steps_after(source, order)
    restarted = endings.restarted_after(source, order)
    outside = _TOLD_TO_END in finding.rule.groups or _asks_for_a_restart(finding)
    if outside and _was_started_again(finding, endings):
        return True
    if restarted and (ended or steps >= RECOVERY_STEPS):
        return True
    if _ends_processes(finding):
        return steps >= CERTAIN_STEPS and not (finding.kind in _WATCHDOG and endings.begins_after(source, order))
    return _lived_on(finding, endings, steps, ended=ended)


def _asks_for_a_restart(finding: Finding) -> bool:
    """Whether the job was ended by no fault of its own, as by a preemption."""
    return finding.rule.category is Category.PROCESS_DEATH and finding.rule.action is Action.RESTART


def _was_started_again(finding: Finding, endings: Endings) -> bool:
    """Whether a job that was told to end was launched anew after it, and was not told again."""
    source = finding.first.at.source
    told = finding.last_order if finding.last.at.source == source else finding.order
    if endings.restarted_after(source, told):
        return True
    return endings.was_of_an_earlier_attempt(finding.last.at.source, finding.last_order)


def _lived_on(finding: Finding, endings: Endings, steps: int, *, ended: bool) -> bool:
    """Whether a process is seen to live on after a fault that need not end it.

    Where training stood still from the fault on, the end that somebody tells is no proof against a plain fault.
    """
    source, order = finding.first.at.source, finding.last_order
    if steps == 0 and _is_plain(finding) and endings.stepped_before(source, order):
        return False
    if finding.kind in _RAISED and steps < CERTAIN_STEPS:
        steps = endings.new_steps_after(source, order, finding.ranks)
    if ended or steps >= RECOVERY_STEPS:
        return True
    return endings.finished and _is_noise_of_leaving(finding)


def _ends_processes(finding: Finding) -> bool:
    """Whether processes do not live on after such a fault, as they do after an exception that was caught."""
    if finding.kind in _WATCHDOG:
        return True
    return finding.kind in _OF_THE_LIBRARY and _is_plain(finding)


def _is_plain(finding: Finding) -> bool:
    if finding.kind in _EXITS:
        return finding.rule.strength >= TEARDOWN
    return finding.rule.role is Role.CAUSE and finding.rule.strength >= PLAIN


def _is_noise_of_leaving(finding: Finding) -> bool:
    """Whether it is what processes say, or schedulers of them, when a job that ended well is cleared away."""
    return finding.rule.strength < TEARDOWN or finding.rule.category is Category.PROCESS_DEATH


def _explained(finding: Finding, candidates: list[Finding], clocks: Clocks) -> bool:
    """Whether another candidate's rule says that this one follows from it, and not the reverse too.

    Vague words do not explain plain ones away: the other must be at least about as strong. But a job that hangs is
    ended by somebody, whatever words that is told in, unless it is known to have been ended first.
    """
    return any(
        explains(other.rule.explains, finding.rule.id) and not explains(finding.rule.explains, other.rule.id)
        for other in candidates
        if other.rule.id != finding.rule.id
        and (other.rule.strength >= finding.rule.strength - BAND or _hung_until_ended(other, finding, clocks))
    )


def _hung_until_ended(hang: Finding, end: Finding, clocks: Clocks) -> bool:
    if hang.kind not in _HANGS or _TOLD_TO_END not in end.rule.groups:
        return False
    return known_order(end, hang, clocks) != -1


def _plainest_first(pool: list[Finding], clocks: Clocks) -> Finding:
    top = max(finding.rule.strength for finding in pool)
    near_top = [finding for finding in pool if finding.rule.strength >= top - BAND]
    first = near_top[0]
    for finding in near_top[1:]:
        if _before(finding, first, clocks):
            first = finding
    return first


def _before(one: Finding, other: Finding, clocks: Clocks) -> bool:
    """Whether `one` comes before `other` as far as that can be known; the plainer of two where it can't."""
    order = known_order(one, other, clocks)
    if order is not None:
        return order < 0
    return one.rule.strength > other.rule.strength


def known_order(one: Finding, other: Finding, clocks: Clocks) -> int | None:
    """Return -1 or 1 where the order of two findings is known, else None.

    Two lines of one input are in the order of writing, near enough; lines of two inputs are ordered only by times of
    one clock, or of two that are aligned well enough for it.
    """
    if one.first.at == other.first.at:
        return None
    if one.first.at.source == other.first.at.source:
        return -1 if one.order < other.order else 1
    mine, its = one.first.when, other.first.when
    return None if mine is None or its is None else clocks.order(mine, its)
