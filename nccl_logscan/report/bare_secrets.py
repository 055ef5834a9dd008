"""Secrets that stand bare in one place of a report and behind their name in another: `API_KEY=x`, then `x` alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.report.redact import REDACTED, named_secret, secrets_in

_MOST = 256
"""Secrets that are looked for; a log that names more is of something else."""


def secrets_of(result: ScanResult) -> Iterator[str]:
    """Yield what a scan's evidence and named values hold of secrets."""
    texts = [cited.evidence.text for cited in result.diagnosis.evidence]
    for finding in result.findings:
        texts += [sample.text for sample in finding.samples]
    for text in texts:
        yield from secrets_in(text)
    for name, value in _named(result):
        yield from named_secret(name, value)


def _named(result: ScanResult) -> Iterator[tuple[str, str]]:
    for finding in result.findings:
        yield from finding.captures.items()
    for setting in result.job.settings:
        yield setting.name, setting.value
    for difference in result.job.differences:
        for value in difference.values:
            yield difference.name, value
    for judged in result.judged:
        yield judged.remark.name, judged.remark.value or ""


def without(view: Any, secrets: Iterable[str]) -> Any:
    """Return a view with each of these secrets replaced wherever it stands; a diff that holds one is left out."""
    longest_first = sorted(set(secrets), key=lambda secret: (-len(secret), secret))[:_MOST]
    if not longest_first:
        return view
    return _without(view, re.compile("|".join(map(re.escape, longest_first))))


def _without(part: Any, secrets: re.Pattern[str]) -> Any:
    if isinstance(part, str):
        return secrets.sub(REDACTED, part)
    if isinstance(part, Mapping):
        cleaned = {secrets.sub(REDACTED, name): _without(value, secrets) for name, value in part.items()}
        if cleaned.get("diff") != part.get("diff"):
            cleaned["diff"] = None
        return cleaned
    if isinstance(part, list):
        return [_without(entry, secrets) for entry in part]
    return part
