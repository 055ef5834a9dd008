from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.diagnosis.verdict import ScanResult
from nccl_logscan.pipeline import scan_text
from nccl_logscan.rulebook.load import builtin_rulebook, load_rulebook
from nccl_logscan.rulebook.rule import Rulebook


@pytest.fixture
def scan() -> Callable[..., ScanResult]:
    """Scan a text, or texts by name, with the built-in rules."""

    def run(log: str | Mapping[str, str], rulebook: Rulebook | None = None) -> ScanResult:
        return scan_text(log, rulebook or builtin_rulebook())

    return run


@pytest.fixture
def rules(tmp_path: Path) -> Callable[..., Rulebook]:
    """Make a rulebook of small rules: name → the lines under `match:` and what else differs from the usual."""

    def make(**matches: str | tuple[str, str]) -> Rulebook:
        for name, given in matches.items():
            match, extra = given if isinstance(given, tuple) else (given, "")
            path = tmp_path / "user_code" / f"{name}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(_rule(name, match, extra))
        return load_rulebook([tmp_path])

    return make


def _rule(name: str, match: str, extra: str) -> str:
    lines = {
        "role": "cause",
        "severity": "fatal",
        "strength": "80",
        "action": "inspect",
        "same_failure": "[]",
        "blames": "observer",
        "explains": "[]",
        "summary": f'"{name} happened"',
    }
    for line in filter(None, extra.split("\n")):
        key, _, value = line.partition(": ")
        lines[key] = value
    head = "\n".join(f"{key}: {value}" for key, value in lines.items())
    return (
        f"id: user_code/{name}\ntitle: {name}\n{head}\nmatch: {match}\nwhat: x\nwhy: x\n"
        "confirm: [{do: look}]\nremediation: [{do: mend}]\n"
        "references: [{title: x, url: 'https://example.org'}]\n"
        "examples:\n  hit: [{name: x, source: x, log: x}]\n  miss: [{name: x, log: y}]\n"
    )


def finding(result: ScanResult, rule_id: str) -> Finding:
    """The one finding of a rule."""
    [found] = [finding for finding in result.findings if finding.rule.id == rule_id]
    return found
