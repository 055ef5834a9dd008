"""A report that can be posted in public: the view with stand-ins for hosts, addresses, people, paths and jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from nccl_logscan.expressions import deferred
from nccl_logscan.report.stand_ins import Marked, StandIns
from nccl_logscan.report.view import ReportView
from nccl_logscan.rulebook.load import builtin_rulebook

_NAMES = {
    "host": ("host", "hosts"),
    "ip": ("IP address", "IP addresses"),
    "guid": ("GUID", "GUIDs"),
    "mac": ("MAC address", "MAC addresses"),
    "user": ("user", "users"),
    "email": ("e-mail address", "e-mail addresses"),
    "path": ("folder", "folders"),
    "file": ("file name", "file names"),
    "job": ("job", "jobs"),
    "pod": ("pod", "pods"),
    "container": ("container", "containers"),
}
# Fields that hold words of this program's own, of the catalogue's or of the rules'.
_OWN_PARTS = frozenset({"schema_version", "tool", "rules", "omitted", "redacted"})
_OWN_FIELDS = frozenset(
    {
        "action", "basis", "because", "by_kind", "category", "check", "edges", "effect", "family", "follows",
        "framework", "id", "kind", "level", "origin", "owner", "risk", "role", "rule", "setting", "severity", "since",
        "source", "time", "unit", "until", "nccl_versions", "torch_versions", "cuda_driver", "waits_in", "words",
    }
)  # fmt: skip
_HOST_FIELDS = frozenset({"host", "hosts", "clock", "who"})
_FILE_FIELDS = frozenset({"file"})
_ADVICE_FIELDS = frozenset({"title", "why", "to", "command", "on", "advice", "problem"})
_WORD = deferred(r"(?<![\w.])[A-Za-z]{2,}(?![\w=])")
_SAID_OF_A_RANK = deferred(r"((?:rank|ranks) [\d, -]{1,60} on )(\S{1,255})")
_WORDS_OF_LOGS = """
a all an and any are as at be been before began but by call came can cannot code comes connection could did do
does each end ended error errors every exit failed failure first for found from gave get given go had has have
help host hosts how if in info into is it its job known last left library line lines log logs made make may
more most nccl no node not nothing of on one only or other others out over part peer process processes program
put rank ranks read reads same saw say says seen set side signal so started step still system than that the
their then there they this time to told torch trace train training two up use used version wait waiting waits
warn warning was watchdog were what when where which while who why will with without worker workers wrote yet
you
"""


def public_view(view: ReportView) -> tuple[ReportView, dict[str, int]]:
    """Return the report with stand-ins for all that tells of a site, and how many things of each kind were replaced.

    The same thing has the same stand-in (`host-1`) in the whole report. `redacted` of the view has the counts, and a
    note of its coverage says them. A report that is public already is returned as it is, with no counts.
    """
    stand_ins = StandIns(_own_words(view))
    _learn(view, stand_ins)
    public = {name: part if name in _OWN_PARTS else _public(part, name, stand_ins) for name, part in view.items()}
    counts = stand_ins.counts
    earlier: Mapping[str, int] = view.get("redacted", {})
    if "redacted" in view and not counts:
        return public, {}
    public["redacted"] = {
        name: counts.get(name, 0) + earlier.get(name, 0) for name in _NAMES if {name} & {*counts, *earlier}
    }
    coverage = public["coverage"]
    public["coverage"] = {**coverage, "notes": [*coverage.get("notes", ()), redaction_said(public["redacted"])]}
    return public, counts


def redaction_said(counts: Mapping[str, int]) -> str:
    """Return in a sentence what was replaced."""
    listed = [f"{count:,} {_NAMES[kind][count != 1]}" for kind, count in counts.items()]
    if not listed:
        return "Nothing had to be replaced for publication."
    few = [", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed
    return f"Replaced for publication: {' and '.join(few)}. Look through the report before you post it."


def _own_words(view: ReportView) -> frozenset[str]:
    """Return the words that rules and reports are written with, as they are written."""
    own = (word for text, _ in _texts(view["rules"], "rules") for word in _words(text))
    return _words_of_rules() | frozenset(own)


@lru_cache(maxsize=1)
def _words_of_rules() -> frozenset[str]:
    words = set(_WORDS_OF_LOGS.split())
    for rule in builtin_rulebook().rules.values():
        steps = (step.do for step in rule.remediation)
        for text in (rule.id, rule.title, rule.summary, rule.what, rule.why, *steps):
            words.update(_words(text))
    return frozenset(words)


def _words(text: str) -> Iterator[str]:
    """Yield each word of a text as it is written; one that begins a sentence as within one."""
    for word in _WORD.findall(text):
        yield word
        if word.istitle():
            yield word.lower()


def _learn(view: ReportView, stand_ins: StandIns) -> None:
    for part in ("job", "verdict", "ranks", "findings", "timeline", "activity", "machines", "spans", "figures"):
        for text, field in _texts(view.get(part), part):
            if field in {"host", "hosts"}:
                stand_ins.know("host", text)
    for source in view["inputs"]:
        stand_ins.know_file(source["name"])
    for part, values in view.items():
        if part in _OWN_PARTS:
            continue
        for text, field in _texts(values, part):
            stand_ins.reserve(text)
            if field not in _OWN_FIELDS:
                stand_ins.learn(text)
    for setting in (*view["config"]["seen"], *view["config"]["lint"]):
        stand_ins.learn(f"{setting['name']}={setting['value']}")


def _texts(part: Any, field: str) -> Iterator[tuple[str, str]]:
    """Yield each text with the field that it is in."""
    if isinstance(part, str):
        yield part, field
    elif isinstance(part, Mapping):
        for name, value in part.items():
            yield from _texts(value, name)
    elif isinstance(part, list):
        for entry in part:
            yield from _texts(entry, field)


def _public(part: Any, field: str, stand_ins: StandIns) -> Any:
    if isinstance(part, Mapping):
        return _public_record(part, field, stand_ins)
    if isinstance(part, list):
        return [_public(entry, field, stand_ins) for entry in part]
    return _public_text(part, field, stand_ins) if isinstance(part, str) else part


def _public_record(record: Mapping[str, Any], field: str, stand_ins: StandIns) -> dict[str, Any]:
    public = {
        name: value
        if (name in _OWN_FIELDS and field != "captures") or (name == "title" and "rule" in record)
        else _public(value, name, stand_ins)
        for name, value in record.items()
    }
    if field == "inputs":
        public["name"] = stand_ins.of_file(record["name"])
    if record.get("highlight"):
        shown = stand_ins.of_text(Marked(record["text"], tuple(record["highlight"])))
        public["text"], public["highlight"] = shown.text, list(shown.columns)
    return public


def _public_text(text: str, field: str, stand_ins: StandIns) -> str:
    if field in _FILE_FIELDS:
        return stand_ins.of_file(text)
    if field in _HOST_FIELDS:
        said = _SAID_OF_A_RANK.fullmatch(text)
        return said[1] + stand_ins.of_name(said[2]) if said else stand_ins.of_name(text)
    return stand_ins.of_text(Marked(text), is_advice=field in _ADVICE_FIELDS).text
