"""ReportView: the report contract as JSON-ready data. JSON, HTML and text are made from it and from nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.diagnosis.causes import explains
from nccl_logscan.diagnosis.findings import Evidence, Finding
from nccl_logscan.diagnosis.verdict import (
    Aligned,
    Cited,
    Communicator,
    Coverage,
    Diagnosis,
    Difference,
    Job,
    JudgedSetting,
    PlannedStep,
    RankStanding,
    ScannedInput,
    ScanResult,
    Setting,
    TimelineEntry,
    UnclaimedGroup,
)
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Instant, Position
from nccl_logscan.report.activity import activity_of
from nccl_logscan.report.bare_secrets import secrets_of, without
from nccl_logscan.report.figures import figures_of
from nccl_logscan.report.machines import links_of, machines_of
from nccl_logscan.report.redact import redact, redact_marked, redact_value, secrets_in
from nccl_logscan.report.spans import spans_of
from nccl_logscan.report.training import training_of
from nccl_logscan.rulebook.rule import Rule
from nccl_logscan.taxonomy import Role
from nccl_logscan.version import __version__

if TYPE_CHECKING:
    from nccl_logscan.classifier.score import Suggestion

ReportView: TypeAlias = dict[str, Any]

SCHEMA_VERSION = "1.0"
TEXT_LIMIT = 2_000
EVIDENCE_LIMIT = 30
CONTEXT_LIMIT = 10
CASCADE_LIMIT = 50
FINDINGS_LIMIT = 200
TIMELINE_LIMIT = 500
STANDINGS_LIMIT = 1_000
# Of how many ranks the last words are shown.
WORDS_LIMIT = 256
UNCLAIMED_LIMIT = 50
STEPS_LIMIT = 100
SETTINGS_LIMIT = 500
LINT_LIMIT = 200
# A diff is shown whole or not at all: half of one changes nothing.
DIFF_LIMIT = 16_384
INPUTS_LIMIT = 5_000
RANKS_LIMIT = 4_096
NAMES_LIMIT = 256

_STEP_KINDS = frozenset(kind.value for kind in Kind)

# File names that are not UTF-8 hold them (os.fsdecode); no encoding takes them.
_LONE_SURROGATE = deferred("[\ud800-\udfff]")
_IMPORTANCE = {Role.CAUSE: 0, Role.SYMPTOM: 1, Role.ECHO: 2, Role.CONTEXT: 3, Role.BENIGN: 4}


def build_view(result: ScanResult) -> ReportView:
    """Return the report of a scan by the contract, version 1.0.

    The same log gives the same view, but for `coverage.seconds` and `coverage.peak_rss_bytes`. Lists and texts are
    bounded and secrets are redacted; `omitted` says how many entries a bound left out.
    """
    diagnosis, job = result.diagnosis, result.job
    machines = machines_of(job.machines, diagnosis.culprit)
    view = {
        "schema_version": SCHEMA_VERSION,
        "tool": {
            "name": "nccl-logscan",
            "version": __version__,
            "rules_digest": result.rulebook_digest,
            "model_digest": result.model_digest,
        },
        "inputs": [_input(scanned) for scanned in result.inputs[:INPUTS_LIMIT]],
        "verdict": _verdict(diagnosis),
        "alternatives": [
            {"category": other.category.value, "confidence": _share(other.confidence), "why": other.why}
            for other in diagnosis.alternatives[:3]
        ],
        "cascade": _cascade(diagnosis),
        "findings": [_finding(finding) for finding in _shown(result.findings)],
        "timeline": [_moment(entry) for entry in _head_and_tail(result.timeline, TIMELINE_LIMIT)],
        "activity": activity_of(result.activity, diagnosis.culprit, job.ranks_silent),
        "training": training_of(result.training),
        "spans": spans_of(result.spans),
        "figures": figures_of(result.figures),
        "ranks": _standings(result),
        "machines": machines,
        "links": links_of(job.links),
        "remediation": [_step(step) for step in result.plan[:STEPS_LIMIT]],
        "config": {
            "lint": [_judged(setting) for setting in result.judged[:LINT_LIMIT]],
            "differs_between_hosts": [_difference(difference) for difference in _harmful_first(job.differences)],
            "seen": [_setting(setting) for setting in job.settings[:SETTINGS_LIMIT]],
        },
        "job": _job(job),
        "coverage": _coverage(result.coverage, result.notes),
        "unclaimed": [_unclaimed(group) for group in result.unclaimed[:UNCLAIMED_LIMIT]],
        "rules": {rule.id: rule_prose(rule) for rule in _rules(result)},
        "omitted": {**_omitted(result), "machines": _hosts_left_out(machines)},
    }
    secrets = set(secrets_of(result))
    cleaned: ReportView = without(_cleaned(view, secrets), secrets)
    return cleaned


class _Whole(str):
    """A text that is not cut."""

    __slots__ = ()


def _verdict(diagnosis: Diagnosis) -> dict[str, Any]:
    culprit = diagnosis.culprit
    return {
        "category": diagnosis.category.value,
        "family": diagnosis.category.family.value,
        "rule": diagnosis.finding.rule.id if diagnosis.finding else None,
        "basis": diagnosis.basis.value,
        "level": diagnosis.level.value,
        "confidence": _share(diagnosis.confidence),
        "headline": diagnosis.headline,
        "reasons": list(diagnosis.reasons),
        "culprit": {
            "rank": culprit.rank,
            "host": culprit.host,
            "pid": culprit.pid,
            "device": culprit.device,
            "adapter": culprit.adapter,
            "peer": culprit.peer,
            "process_group": culprit.process_group,
        },
        "evidence": [_cited(cited) for cited in diagnosis.evidence[:EVIDENCE_LIMIT]],
        "action": diagnosis.action.value,
        "unknowns": list(diagnosis.unknowns),
    }


def _cited(cited: Cited) -> dict[str, Any]:
    evidence = cited.evidence
    text, mark = redact_marked(evidence.text[: 2 * TEXT_LIMIT], evidence.highlight)
    shown = _cut(text)
    return {
        "file": evidence.at.source,
        "line": evidence.at.line,
        "byte_offset": evidence.at.offset,
        "text": shown,
        "role": cited.role,
        "time": _time(evidence.when),
        "rank": evidence.origin.rank,
        "host": evidence.origin.host,
        "highlight": [mark.start, min(mark.end, len(shown))] if mark and 0 <= mark.start < len(shown) else None,
        "before": list(evidence.before[-CONTEXT_LIMIT:]),
        "after": list(evidence.after[:CONTEXT_LIMIT]),
    }


def _cascade(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """Return what followed, each with the last symptom before it that explains it."""
    shown = diagnosis.consequences[:CASCADE_LIMIT]
    rules = list({finding.rule.id: finding.rule for finding in shown}.values())
    follows: dict[str, str | None] = {}
    for at, rule in enumerate(rules):
        before = (other.id for other in reversed(rules[:at]) if explains(other.explains, rule.id))
        follows[rule.id] = next(before, None)
    return [_consequence(finding, follows[finding.rule.id]) for finding in shown]


def _consequence(finding: Finding, follows: str | None) -> dict[str, Any]:
    return {
        "category": finding.rule.category.value,
        "rule": finding.rule.id,
        "title": finding.rule.title,
        "follows": follows,
        "ranks": list(finding.ranks[:RANKS_LIMIT]),
        "rank_count": len(finding.ranks),
        "count": finding.count,
        "first": _seen_at(finding.first),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule.id,
        "title": finding.rule.title,
        "category": finding.rule.category.value,
        "role": finding.rule.role.value,
        "severity": finding.rule.severity.value,
        "count": finding.count,
        "ranks": list(finding.ranks[:RANKS_LIMIT]),
        "rank_count": len(finding.ranks),
        "hosts": list(finding.hosts[:NAMES_LIMIT]),
        "host_count": len(finding.hosts),
        "first": _seen_at(finding.first),
        "last": _seen_at(finding.last),
        "samples": [
            {"file": sample.at.source, "line": sample.at.line, "text": sample.text} for sample in finding.samples
        ],
        "captures": {name: redact_value(name, value) for name, value in sorted(finding.captures.items())},
        "notes": list(finding.notes),
    }


def _moment(entry: TimelineEntry) -> dict[str, Any]:
    return {
        "time": _time(entry.when),
        "clock": entry.when.clock if entry.when else None,
        "aligned": _aligned(entry.aligned),
        "rank": entry.rank,
        "host": entry.host,
        "kind": entry.kind,
        "text": entry.text,
        "file": entry.at.source,
        "line": entry.at.line,
    }


def _standings(result: ScanResult) -> list[dict[str, Any]]:
    """Return where ranks stand, in order; of too many those that are blamed and those that few others stand like."""
    finding = result.diagnosis.finding
    blamed = {result.diagnosis.culprit.rank, *(finding.ranks if finding else ())}
    alike = Counter(map(_stands_at, result.standings))
    telling = sorted(
        enumerate(result.standings), key=lambda at: (at[1].rank not in blamed, alike[_stands_at(at[1])], at[0])
    )
    shown = telling[:STANDINGS_LIMIT]
    with_words = {place for place, _ in shown[:WORDS_LIMIT]}
    return [_standing(standing, with_words=place in with_words) for place, standing in sorted(shown, key=itemgetter(0))]


def _stands_at(standing: RankStanding) -> tuple[str | int | None, ...]:
    return standing.process_group, standing.last_enqueued, standing.last_completed, standing.waits_at


def _standing(standing: RankStanding, *, with_words: bool) -> dict[str, Any]:
    return {
        "rank": standing.rank,
        "host": standing.host,
        "process_group": standing.process_group,
        "last_enqueued": standing.last_enqueued,
        "last_completed": standing.last_completed,
        "waits_in": standing.waits_in,
        "waits_at": standing.waits_at,
        "recorded": standing.recorded,
        "last_words": _moment(standing.last_words) if standing.last_words and with_words else None,
    }


def _aligned(aligned: Aligned | None) -> dict[str, Any] | None:
    if aligned is None:
        return None
    return {
        "time": aligned.value.isoformat(timespec="milliseconds"),
        "clock": aligned.clock,
        "uncertainty": round(aligned.uncertainty, 3),
    }


def _step(step: PlannedStep) -> dict[str, Any]:
    return {
        "id": step.id,
        "title": step.title,
        "kind": step.kind if step.kind in _STEP_KINDS else Kind.HOST_COMMAND.value,
        "setting": step.setting,
        "from": redact_value(step.setting or "", step.present) if step.present is not None else None,
        "to": step.to,
        "where": _place(step.where) if step.where else None,
        "diff": _diff(step.diff),
        "why": step.why,
        "risk": step.risk,
        "do_not": step.do_not,
        "since": step.since,
        "until": step.until,
        "source": step.source,
        "command": step.command,
        "owner": step.owner,
        "effect": step.effect,
        "on": step.on,
        "because": step.because,
        "framework": step.framework,
        "unit": step.unit,
    }


def _judged(setting: JudgedSetting) -> dict[str, Any]:
    remark = setting.remark
    return {
        **_place(remark.at),
        "name": remark.name,
        "value": redact_value(remark.name, remark.value or ""),
        "problem": remark.problem,
        "advice": remark.advice,
        "check": remark.check.value,
        "severity": remark.severity.value,
        "source": remark.source,
        "command": remark.tells,
        "diff": _diff(setting.diff),
    }


def _diff(diff: str | None) -> str | None:
    return _Whole(diff) if diff is not None and len(diff) <= DIFF_LIMIT else None


def _job(job: Job) -> dict[str, Any]:
    return {
        "nccl_versions": list(job.nccl_versions[:NAMES_LIMIT]),
        "torch_versions": list(job.torch_versions[:NAMES_LIMIT]),
        "cuda_driver": list(job.cuda_driver[:NAMES_LIMIT]),
        "world_size": job.world_size,
        "hosts": list(job.hosts[:RANKS_LIMIT]),
        "ranks_seen": list(job.ranks_seen[:RANKS_LIMIT]),
        "ranks_silent": list(job.ranks_silent[:RANKS_LIMIT]),
        "communicators": [_communicator(communicator) for communicator in job.communicators[:NAMES_LIMIT]],
        "network": list(job.network[:NAMES_LIMIT]),
        "topology": {name: redact_value(name, value) for name, value in sorted(job.topology.items())[:NAMES_LIMIT]},
    }


def _communicator(communicator: Communicator) -> dict[str, Any]:
    return {
        "id": communicator.comm_id,
        "nranks": communicator.nranks,
        "started": list(communicator.started[:NAMES_LIMIT]),
        "started_count": len(communicator.started),
        "completed": list(communicator.completed[:NAMES_LIMIT]),
        "completed_count": len(communicator.completed),
    }


def _difference(difference: Difference) -> dict[str, Any]:
    # Most owners first: the odd one out stands last, where the eye looks for it.
    groups = sorted(difference.values.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return {
        "name": difference.name,
        "harmless": difference.harmless is not None,
        "why": difference.harmless,
        "values": [
            {"value": redact_value(difference.name, value), "who": list(who[:NAMES_LIMIT]), "who_count": len(who)}
            for value, who in groups[:NAMES_LIMIT]
        ],
    }


def _harmful_first(differences: Sequence[Difference]) -> list[Difference]:
    return sorted(differences, key=lambda difference: difference.harmless is not None)[:NAMES_LIMIT]


def _setting(setting: Setting) -> dict[str, Any]:
    return {
        "name": setting.name,
        "value": redact_value(setting.name, setting.value),
        "origin": setting.origin,
        **_place(setting.at),
    }


def _coverage(coverage: Coverage, notes: Sequence[str]) -> dict[str, Any]:
    return {
        "lines": coverage.lines,
        "bytes": coverage.bytes,
        "by_kind": dict(sorted(coverage.by_kind.items())),
        "unrecognised_nccl_lines": coverage.unrecognised_nccl_lines,
        "replaced_bytes": coverage.replaced_bytes,
        "truncated_lines": coverage.truncated_lines,
        "seconds": round(coverage.seconds, 6),
        "peak_rss_bytes": coverage.peak_rss_bytes,
        "notes": list(notes[:NAMES_LIMIT]),
    }


def _unclaimed(group: UnclaimedGroup) -> dict[str, Any]:
    return {
        "template": group.template,
        "count": group.count,
        "first": _place(group.first),
        "suggestion": None if group.suggestion is None else _suggestion(group.suggestion),
        "sample": group.sample,
    }


def _suggestion(suggestion: Suggestion) -> dict[str, Any]:
    return {
        "category": suggestion.category.value,
        "probability": _share(suggestion.probability),
        "words": list(suggestion.words),
    }


def _input(scanned: ScannedInput) -> dict[str, Any]:
    return {
        "name": scanned.name,
        "kind": scanned.kind,
        "bytes": scanned.bytes,
        "lines": scanned.lines,
        "note": scanned.note,
    }


def rule_prose(rule: Rule) -> dict[str, Any]:
    """Return what the report says of a rule itself."""
    return {
        "title": rule.title,
        "what": rule.what,
        "why": rule.why,
        "references": [{"title": reference.title, "url": reference.url} for reference in rule.references],
    }


def _rules(result: ScanResult) -> list[Rule]:
    """Return the rules whose prose a reader of this report needs: those of the verdict and of what followed."""
    deciding = [result.diagnosis.finding] if result.diagnosis.finding else []
    shown = {finding.rule.id: finding.rule for finding in [*deciding, *result.diagnosis.consequences[:CASCADE_LIMIT]]}
    because = (result.rules_used.get(step.because) for step in result.plan[:STEPS_LIMIT])
    shown |= {rule.id: rule for rule in because if rule is not None}
    return [shown[name] for name in sorted(shown)]


def _omitted(result: ScanResult) -> dict[str, int]:
    lengths = {
        "inputs": (len(result.inputs), INPUTS_LIMIT),
        "evidence": (len(result.diagnosis.evidence), EVIDENCE_LIMIT),
        "cascade": (len(result.diagnosis.consequences), CASCADE_LIMIT),
        "findings": (len(result.findings), FINDINGS_LIMIT),
        "timeline": (len(result.timeline), TIMELINE_LIMIT),
        "ranks": (len(result.standings), STANDINGS_LIMIT),
        "remediation": (len(result.plan), STEPS_LIMIT),
        "settings": (len(result.job.settings), SETTINGS_LIMIT),
        "lint": (len(result.judged), LINT_LIMIT),
        "unclaimed": (len(result.unclaimed), UNCLAIMED_LIMIT),
    }
    omitted = {name: max(0, length - limit) for name, (length, limit) in lengths.items()}
    return {
        **omitted,
        "spans": result.spans.left_out if result.spans is not None else 0,
        "figures": result.figures.left_out if result.figures is not None else 0,
    }


def _hosts_left_out(machines: Mapping[str, Any] | None) -> int:
    return machines["host_count"] - sum(row["host_count"] for row in machines["rows"]) if machines else 0


def _shown(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings to list, in the order of reading; where there are too many, benign ones go first."""
    weighty = sorted(findings, key=lambda finding: (_IMPORTANCE[finding.rule.role], *_reading_order(finding)))
    return sorted(weighty[:FINDINGS_LIMIT], key=_reading_order)


def _reading_order(finding: Finding) -> tuple[int, str, tuple[str, ...]]:
    return finding.order, finding.rule.id, finding.key


def _head_and_tail(entries: Sequence[TimelineEntry], limit: int) -> list[TimelineEntry]:
    """Return the first three fifths and the last two fifths of the limit: how it began and how it ended."""
    if len(entries) <= limit:
        return list(entries)
    head = limit * 3 // 5
    return [*entries[:head], *entries[head - limit :]]


def place_of(at: Mapping[str, Any]) -> str:
    """Return `file:line` of an entry of the view; of an input without lines its name."""
    return f"{at['file']}:{at['line']}" if at["line"] else str(at["file"])


def _seen_at(evidence: Evidence) -> dict[str, Any]:
    return {**_place(evidence.at), "time": _time(evidence.when)}


def _place(at: Position) -> dict[str, Any]:
    return {"file": at.source, "line": at.line}


def _time(when: Instant | None) -> str | None:
    return when.value.isoformat() if when else None


def _share(confidence: float) -> float:
    return round(min(1.0, max(0.0, confidence)), 4)


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"


def _cleaned_text(text: str, secrets: set[str]) -> str:
    text = text[: 2 * TEXT_LIMIT]
    redacted = redact(text)
    if redacted != text:
        secrets.update(secrets_in(text))
    shown = _cut(redacted)
    return shown if shown.isascii() else _LONE_SURROGATE.sub("\ufffd", shown)


@lru_cache(maxsize=256)  # a view has the same names over and over
def _cleaned_name(name: str) -> str:
    return _cleaned_text(name, set())


def _cleaned(part: Any, secrets: set[str]) -> Any:
    """Return the same with every text redacted, cut, and encodable in UTF-8; add to `secrets` what was taken out."""
    if isinstance(part, _Whole):
        return part if part.isascii() else _LONE_SURROGATE.sub("\ufffd", part)
    if isinstance(part, str):
        return _cleaned_text(part, secrets)
    if isinstance(part, Mapping):
        return {_cleaned_name(name): _cleaned(value, secrets) for name, value in part.items()}
    if isinstance(part, list):
        return [_cleaned(entry, secrets) for entry in part]
    return part
