"""Findings to one verdict: the cause, its consequences, how sure, and what stays unknown."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping

from nccl_logscan.diagnosis.causes import Ranking, known_order, rank_causes
from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.confidence import confidence_of, level_of
from nccl_logscan.diagnosis.culprit import find_culprit
from nccl_logscan.diagnosis.detectors import Detection
from nccl_logscan.diagnosis.endings import Endings
from nccl_logscan.diagnosis.findings import Evidence, Finding
from nccl_logscan.diagnosis.folding import evidence_of
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.scene import Scene
from nccl_logscan.diagnosis.verdict import Alternative, Cited, Culprit, Diagnosis
from nccl_logscan.rulebook.rule import Rule
from nccl_logscan.taxonomy import Action, Basis, Category, Level, Role

_EVIDENCE = 24
_CLOCKS = 3
_NOBODY = Culprit()
_FAILED = "Something failed, but this log does not say what."
_TORN = "No failure is in what could be read, but a log ends in the middle."
_UNCLEAR = "The log neither shows a failure nor says that the job went on."


def finding_of(detection: Detection, rule: Rule) -> Finding:
    """Return a detection as a finding of the rule that owns its words."""
    samples = tuple(evidence_of(excerpt) for excerpt in detection.excerpts)
    return Finding(
        rule=rule,
        kind=detection.detector,
        key=(),
        captures=detection.captures,
        count=detection.count,
        ranks=detection.ranks,
        hosts=detection.hosts,
        samples=samples,
        last=samples[-1],
        order=detection.order,
        last_order=detection.last_order,
        notes=detection.notes,
    )


def diagnose(scene: Scene, *, torn: bool = False, unexplained: bool = False) -> Diagnosis:
    """Return the verdict over all findings.

    `torn`: an input ended before its end, so that silence proves nothing; `unexplained`: exceptions were raised that no
    rule knows.
    """
    ranking = rank_causes(scene)
    if ranking.cause is None:
        return _without_cause(ranking, scene, torn=torn, unexplained=unexplained)
    cause = ranking.cause
    culprit = find_culprit(cause, scene)
    return Diagnosis(
        category=cause.rule.category,
        basis=Basis.DETECTOR if cause.rule.match.detector else Basis.RULE,
        level=level_of(ranking, scene.clocks),
        confidence=confidence_of(ranking),
        headline=headline(cause, culprit),
        reasons=(*_reasons(ranking, scene.clocks), *_earlier_attempts(ranking, scene.endings)),
        culprit=culprit,
        evidence=_evidence(ranking, scene.findings),
        action=cause.rule.action,
        finding=cause,
        consequences=ranking.consequences,
        alternatives=_alternatives(ranking),
        unknowns=tuple(_unknowns(ranking, culprit, scene.identity)),
    )


def headline(cause: Finding, culprit: Culprit) -> str:
    """Return the rule's summary with this log's names; its title where a name is missing."""
    said = (fill(cause.rule.summary, facts_of(cause, culprit)) or cause.rule.title).strip()
    return said[:1].upper() + said[1:]


def facts_of(cause: Finding, culprit: Culprit) -> dict[str, str]:
    """Return every name a summary or command may use: captures, and the culprit's fields where known."""
    fields = {name: getattr(culprit, name) for name in Culprit.__match_args__}
    known = {name: str(value) for name, value in fields.items() if value is not None}
    return known | dict(cause.captures) | {"count": str(cause.count)}


def fill(template: str, values: Mapping[str, str]) -> str | None:
    """Fill `{name}` placeholders; None if one has no value."""
    names = [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]
    if any(name not in values for name in names):
        return None
    return template.format_map(values)


_FINISHED = ("the job finished.", "The job says that it finished.")
_STEPPED = (
    "training made progress to the end of the log.",
    "The log shows steps and no failure; it names no end.",
)
_AT_REST = (
    "no rank waited in a collective when the flight recorders were written out.",
    "Every rank left a dump, and all calls in them are completed.",
)


def _without_cause(ranking: Ranking, scene: Scene, *, torn: bool, unexplained: bool) -> Diagnosis:
    endings = scene.endings
    failed = bool(ranking.consequences or endings.failed or unexplained)
    troubled = failed and not endings.finished
    alive = endings.stepped or (endings.said_end and not endings.aborted) or endings.finished
    if troubled or torn or not (alive or scene.recordings.at_rest):
        return _unknown(ranking, torn=torn, failed=failed)
    benign = [finding for finding in scene.findings if finding.rule.role is Role.BENIGN]
    well, said = _FINISHED if endings.finished else _STEPPED if alive else _AT_REST
    return Diagnosis(
        category=Category.NONE,
        basis=Basis.NONE,
        level=Level.ESTABLISHED if endings.finished else Level.LIKELY,
        confidence=0.97 if endings.finished else 0.75,
        headline=f"Nothing failed: {well}",
        reasons=(said, *_benign_reasons(benign), *_recovered_reasons(ranking)),
        culprit=_NOBODY,
        evidence=_cited(benign[:6], "context") + _cited(ranking.recovered[:6], "context"),
        action=Action.NONE,
        finding=None,
        consequences=(),
        alternatives=(),
    )


def _unknown(ranking: Ranking, *, torn: bool, failed: bool) -> Diagnosis:
    what = _FAILED if failed else _TORN if torn else _UNCLEAR
    return Diagnosis(
        category=Category.UNKNOWN,
        basis=Basis.NONE,
        level=Level.NONE,
        confidence=0.0,
        headline=what,
        reasons=("Only lines that follow from other failures were found.",) if ranking.consequences else (),
        culprit=_NOBODY,
        evidence=_cited(ranking.consequences[:12], "symptom"),
        action=Action.INSPECT,
        finding=None,
        consequences=ranking.consequences,
        alternatives=(),
        unknowns=("Scan the logs of all ranks, with NCCL_DEBUG=INFO set for the job.",),
    )


def _benign_reasons(benign: list[Finding]) -> Iterable[str]:
    if benign:
        lines = sum(finding.count for finding in benign)
        seem = "lines look like errors and are" if lines != 1 else "line looks like an error and is"
        yield f"{lines} {seem} known to be harmless."


def _recovered_reasons(ranking: Ranking) -> Iterable[str]:
    for finding in ranking.recovered[:3]:
        yield f"{finding.rule.title} ({finding.first.at}), but the job went on."


def _earlier_attempts(ranking: Ranking, endings: Endings) -> Iterable[str]:
    """Say what ended the attempts before, as far as their findings tell."""
    earlier = [finding for finding in ranking.recovered if endings.is_superseded(finding.first.at.source)]
    for finding in sorted(earlier, key=lambda finding: -finding.rule.strength)[:1]:
        yield f"An earlier attempt failed and the job was started again: {finding.rule.title} ({finding.first.at})."


def _reasons(ranking: Ranking, clocks: Clocks) -> Iterable[str]:
    cause = ranking.cause
    assert cause is not None
    who = f" ({_ranks(cause.ranks)})" if cause.ranks else ""
    times = "" if cause.count == 1 or cause.rule.match.detector else f", {cause.count} times"
    yield f"{cause.rule.title}{who}{times}; see {cause.first.at}."
    yield from cause.notes
    followers = [finding for finding in ranking.consequences if finding.rule.category != cause.rule.category]
    orders = {known_order(cause, finding, clocks) for finding in followers}
    lines = sum(finding.count for finding in followers)
    if followers and orders == {-1}:
        trouble = (
            "one line of other trouble; it follows" if lines == 1 else f"{lines} lines of other trouble; they follow"
        )
        yield f"It comes before {trouble} from it."
    elif followers and None in orders:
        others = "one other line" if lines == 1 else f"{lines} other lines"
        yield f"It explains {others}; the order in time is not certain: the log has no common clock."
    elif followers:
        others = "one other line, which was" if lines == 1 else f"{lines} other lines, some of which were"
        yield f"It explains {others} written earlier."
    yield from _clocks_apart(cause, followers, clocks)
    if cause.rule.role is Role.SYMPTOM:
        yield "It is a symptom: nothing in the log says what led to it."


def _clocks_apart(cause: Finding, others: list[Finding], clocks: Clocks) -> Iterable[str]:
    """Say by how much clocks differ that the order of the cause and its consequences rests on."""
    instants = [finding.first.when for finding in others] + [sample.when for sample in cause.samples[1:]]
    first = cause.first.when
    if first is not None:
        said = (clocks.statement(first, when) for when in instants if when is not None)
        yield from list(dict.fromkeys(sentence for sentence in said if sentence is not None))[:_CLOCKS]


def _ranks(ranks: tuple[int, ...]) -> str:
    shown = ", ".join(str(rank) for rank in ranks[:6])
    return (
        ("rank " if len(ranks) == 1 else "ranks ") + shown + (f" and {len(ranks) - 6} more" if len(ranks) > 6 else "")
    )


def _evidence(ranking: Ranking, findings: tuple[Finding, ...]) -> tuple[Cited, ...]:
    assert ranking.cause is not None
    context = [finding for finding in findings if finding.rule.role is Role.CONTEXT]
    plain = sorted(ranking.consequences, key=lambda finding: (-finding.rule.strength, finding.order))
    cited = _cited([ranking.cause], "cause", each=5) + _cited(plain, "symptom", each=2) + _cited(context[:3], "context")
    cited_first: dict[tuple[str, int], Cited] = {}
    for item in cited:
        cited_first.setdefault((item.evidence.at.source, item.evidence.at.line), item)
    return tuple(cited_first.values())[:_EVIDENCE]


def _cited(findings: Iterable[Finding], role: str, each: int = 1) -> tuple[Cited, ...]:
    return tuple(Cited(sample, role) for finding in findings for sample in _telling(finding, each))


def _telling(finding: Finding, each: int) -> tuple[Evidence, ...]:
    return finding.samples[:each]


def _alternatives(ranking: Ranking) -> tuple[Alternative, ...]:
    assert ranking.cause is not None
    seen = {ranking.cause.rule.category}
    alternatives = []
    for rival in ranking.rivals:
        if rival.rule.category in seen:
            continue
        seen.add(rival.rule.category)
        share = round(rival.rule.strength / 100 * (1 - confidence_of(ranking)), 2)
        alternatives.append(Alternative(rival.rule.category, share, f"{rival.rule.title} ({rival.first.at})"))
    return tuple(alternatives[:3])


def _unknowns(ranking: Ranking, culprit: Culprit, identity: Identity) -> Iterable[str]:
    cause = ranking.cause
    assert cause is not None
    if culprit.rank is None and cause.rule.blames != "none":
        yield "Which rank it began on: the log does not tie the line to a rank."
    if culprit.host is None:
        yield "Which host it was: no line of the cause names one."
    silent = identity.absent(identity.ranks)
    if silent:
        yield f"{len(silent)} of {identity.world_size} ranks wrote nothing into these files ({_ranks(silent)})."
    if cause.rule.role is Role.SYMPTOM:
        yield "What led to it: the other ranks' logs, the hosts' kernel logs and the scheduler's messages would tell."
