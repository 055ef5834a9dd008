"""The sources of labelled messages: rules, cases, catalogues of formats, collected texts and harmless lines.

What was decided by reading lies, with reasons and sources, in fixtures/labelled: weak_labels.yaml, formats.yaml,
reviewed.yaml and collected/.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from labelled_model import Labelled

from nccl_logscan.diagnosis.findings import Finding
from nccl_logscan.errors import InputError
from nccl_logscan.events.mask import template
from nccl_logscan.events.model import Event, file_of
from nccl_logscan.events.tokenise import Tokeniser
from nccl_logscan.lines import Peeler
from nccl_logscan.pipeline import scan, scan_text
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.rulebook.rule import Rule, Rulebook
from nccl_logscan.sources import Kind, kind_of, open_sources
from nccl_logscan.sources.line_source import LineSource, TextSource
from nccl_logscan.taxonomy import Category, Role

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
FOLDER = FIXTURES / "labelled"
_FORMATS = FIXTURES / "catalogue" / "nccl_formats.jsonl.gz"
_TORCH_FORMATS = FOLDER / "torch_formats.jsonl"

_NONE = Category.NONE.value
_HARMLESS = frozenset({Role.BENIGN, Role.CONTEXT})
_WARNINGS = frozenset({"nccl.warn", "nccl.attn", "cuda.error", "python.exception", "python.warning"})
_SEVERE = frozenset({"W", "E", "F"})
_COURSE = frozenset({"train.step"})
_FRIGHTENING = re.compile(
    r"warn|error|fail|deprecat|unable|could ?n[o']t|cannot|not found|not supported|retry|time[d -]?out|disabl|ignor"
    r"|invalid|missing|skipp",
    re.IGNORECASE,
)
_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class WeakLabel:
    """A reviewed row: formats of `files`, or of any, that hold `words` (both expressions) are taken for `category`."""

    category: str
    words: re.Pattern[str]
    files: re.Pattern[str] | None

    def fits(self, text: str, file: str) -> bool:
        """Return whether the row speaks of a text that stands in `file` ("": not known)."""
        return self.words.search(text) is not None and (self.files is None or self.files.search(file) is not None)


@dataclass(frozen=True, slots=True)
class Table:
    """fixtures/labelled/weak_labels.yaml and formats.yaml.

    `left_out` and `kept`: the rules that are symptoms, echoes or context, whose messages say too little, or enough.
    `torch` and `nccl`: categories by the ids of PyTorch's messages, and of NCCL's formats that no row fits.
    """

    left_out: frozenset[str]
    kept: frozenset[str]
    rows: Sequence[WeakLabel]
    torch: Mapping[str, str]
    nccl: Mapping[str, str]

    def category_of(self, text: str, file: str = "") -> str | None:
        """Return what the rows take a text for; None where none fits or they do not agree."""
        found = {row.category for row in self.rows if row.fits(text, file)}
        return found.pop() if len(found) == 1 else None

    def label_of(self, rule: Rule) -> str | None:
        """Return what a rule's messages are taken for; None where they are left out."""
        if rule.id in self.left_out or rule.category == Category.UNKNOWN:
            return None
        if rule.role in _HARMLESS:
            return _NONE
        if rule.role == Role.CAUSE or rule.id in self.kept:
            return rule.category.value
        return None


def read_table() -> Table:
    """Read the reviewed decisions. Raises ValueError where a rule that needs one has none."""
    plain = _plain("weak_labels.yaml")
    rows = [
        WeakLabel(Category(row["category"]).value, re.compile(row["words"]), _pattern(row.get("files")))
        for row in plain["formats"]
    ]
    torch = {name: Category(row["category"]).value for row in plain["torch"] for name in row["ids"]}
    table = Table(
        left_out=frozenset(row["rule"] for row in plain["rules"] if not row["keep"]),
        kept=frozenset(row["rule"] for row in plain["rules"] if row["keep"]),
        rows=rows,
        torch=torch,
        nccl={name: Category(told).value for name, told in _plain("formats.yaml").items()},
    )
    decided = table.left_out | table.kept
    undecided = [one.id for one in builtin_rulebook().rules.values() if _is_doubtful(one) and one.id not in decided]
    if undecided:
        raise ValueError(f"weak_labels.yaml does not say whether to keep {', '.join(sorted(undecided))}")
    return table


def read_reviews() -> Mapping[str, str | None]:
    """Return what readers made of templates: a category; None where the text teaches nothing."""
    rows = _plain("reviewed.yaml")
    return {row["template"]: None if row["to"] == "drop" else Category(row["to"]).value for row in rows}


def _plain(name: str) -> Any:
    return yaml.safe_load((FOLDER / name).read_text("utf-8"))


def _pattern(expression: str | None) -> re.Pattern[str] | None:
    return None if expression is None else re.compile(expression)


def _is_doubtful(rule: Rule) -> bool:
    if rule.category == Category.UNKNOWN or rule.match.detector:
        return False
    return rule.role in {Role.SYMPTOM, Role.ECHO, Role.CONTEXT}


def all_sources(table: Table) -> Iterator[Labelled]:
    """Yield the labelled messages of every source, those of one template as often as they come."""
    rulebook = builtin_rulebook()
    yield from from_rules(table, rulebook)
    yield from from_cases(table, rulebook)
    yield from from_lines()
    yield from from_nccl_formats(table)
    yield from from_torch_formats(table)
    yield from from_collected()


# --- rules -------------------------------------------------------------------------------------------------


def from_rules(table: Table, rulebook: Rulebook) -> Iterator[Labelled]:
    """Yield what rules take of their own examples."""
    for rule in rulebook.rules.values():
        category = table.label_of(rule)
        if category is None:
            continue
        for example in rule.hits:
            logs = {"log": example.log} if isinstance(example.log, str) else example.log
            texts = {name: text for name, text in logs.items() if kind_of(text.encode(), name) == Kind.TEXT}
            try:
                findings = scan_text(example.log, rulebook).findings
            except InputError:
                continue
            events = _events_by_line(TextSource(name, text) for name, text in texts.items())
            for finding in findings:
                if finding.rule.id == rule.id:
                    for event in _taken(rule, events, finding):
                        yield from _made(event, category, f"rule:{rule.id}", "rule", example.source)


_ByLine = Mapping[tuple[str, int], Sequence[Event]]


def _events_by_line(sources: Iterable[LineSource]) -> _ByLine:
    events: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for source in sources:
        for event in events_in(source):
            events[event.at.source, event.at.line].append(event)
    return events


def events_in(source: LineSource) -> Iterator[Event]:
    """Yield the events of a log."""
    peeler, tokeniser = Peeler(), Tokeniser()
    for raw in source.lines():
        for line in peeler.peel(raw):
            yield from tokeniser.read(line)
    for line in peeler.finish():
        yield from tokeniser.read(line)
    yield from tokeniser.finish()


def _taken(rule: Rule, events: _ByLine, finding: Finding) -> Iterator[Event]:
    """Yield the events that a rule can have taken, of the lines that its finding shows."""
    for sample in finding.samples:
        for event in events.get((sample.at.source, sample.at.line), ()):
            if event.kind in rule.match.events and _is_worded(rule, event.message):
                yield event


def _is_worded(rule: Rule, message: str) -> bool:
    patterns = [wording.pattern for wording in rule.match.wordings]
    return not patterns or any(pattern.search(message) is not None for pattern in patterns)


def _made(event: Event, category: str, scenario: str, origin: str, source: str) -> Iterator[Labelled]:
    """Yield an event as a labelled message, unless it says too little or its mask does not mask itself."""
    text = template(event.message)
    if len(text) >= _SHORTEST and template(text) == text:
        source = " ".join(source.split())
        yield Labelled(text, category, (scenario,), event.kind, origin, source, file_of(event).removeprefix("src/"))


# --- cases -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Job:
    """The logs of a labelled case."""

    id: str
    category: str
    source: str
    files: Sequence[str]
    events: _ByLine

    def said(self, event: Event, category: str) -> Iterator[Labelled]:
        """Yield an event of the job as a message of that category."""
        origin = "healthy" if self.category == _NONE else "case"
        yield from _made(event, category, f"case:{self.id}", origin, self.source)


def from_cases(table: Table, rulebook: Rulebook) -> Iterator[Labelled]:
    """Yield what rules take of the labelled cases, what rows take of the rest, and what healthy jobs warn of."""
    for job in _jobs():
        if job.category == _NONE:
            for event in _warnings(job.events):
                yield from job.said(event, _NONE)
        else:
            yield from _of_failed(table, rulebook, job)


def _jobs() -> Iterator[_Job]:
    for label in sorted((FIXTURES / "cases").rglob("case.yaml")):
        case = yaml.safe_load(label.read_text("utf-8"))
        files = [str(path) for path in sorted(label.parent.rglob("*.log"))]
        if files:
            source = f"{label.parent.relative_to(FIXTURES.parent)}: {case.get('url') or case['origin']}"
            events = _events_by_line(one for one in open_sources(files) if one.kind == Kind.TEXT)
            yield _Job(case["id"], case["category"], source, files, events)


def _of_failed(table: Table, rulebook: Rulebook, job: _Job) -> Iterator[Labelled]:
    result = scan(job.files, rulebook)
    for finding in result.findings:
        rule = finding.rule
        category = table.label_of(rule)
        if category is None or (rule.match.fallback and category != job.category):
            continue
        for event in _taken(rule, job.events, finding):
            yield from job.said(event, category)
    for group in result.unclaimed:
        for event in job.events.get((group.first.source, group.first.line), ()):
            if template(event.message) == group.template and table.category_of(event.message) == job.category:
                yield from job.said(event, job.category)


def _warnings(events: _ByLine) -> Iterator[Event]:
    for told in events.values():
        for event in told:
            is_severe = event.kind in _WARNINGS or getattr(event, "severity", None) in _SEVERE
            if is_severe or (event.kind not in _COURSE and _FRIGHTENING.search(event.message)):
                yield event


def from_lines() -> Iterator[Labelled]:
    """Yield the warnings of Python among the lines on which the tokeniser is tested."""
    for path in sorted((FIXTURES / "lines").glob("*.yaml")):
        plain = yaml.safe_load(path.read_text("utf-8"))
        events = plain.get("events", ()) if isinstance(plain, dict) else ()
        given = [one["text"] for one in events if "text" in one]
        for event in _events_of(given):
            if event.kind == "python.warning":
                yield from _made(event, _NONE, f"lines:{path.stem}", "healthy", f"fixtures/lines/{path.name}")


def _events_of(texts: Iterable[str]) -> Iterator[Event]:
    for text in texts:
        yield from events_in(TextSource("log", text))


# --- catalogues --------------------------------------------------------------------------------------------


def from_nccl_formats(table: Table) -> Iterator[Labelled]:
    """Yield NCCL's WARN formats of which a row or a reader is sure, filled with plausible values."""
    with gzip.open(_FORMATS, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        text = row["format"].strip()
        if row["level"] != "WARN" or "{" in text:
            continue
        category = table.category_of(text, row["file"]) or table.nccl.get(row["id"])
        if category is not None:
            head = f"{row['file'].rpartition(':')[2]}:7 NCCL WARN {filled(text)}"
            source = f"fixtures/catalogue/nccl_formats.jsonl.gz: {row['id']}, {row['scope']} {row['first']}"
            for event in _first(f"n07:4242:4242 [3] {head}"):
                yield from _made(event, category, f"catalogue:{row['file']}", "catalogue", source)


def from_torch_formats(table: Table) -> Iterator[Labelled]:
    """Yield PyTorch's messages that rows name by their ids, filled with plausible values."""
    for line in _TORCH_FORMATS.read_text("utf-8").splitlines():
        row = json.loads(line)
        text = re.sub(r"\{[^{}]*\}", "7", row["format"].replace("{logPrefix}", ""))
        head = "RuntimeError: " if row["level"].startswith("EXC") else ""
        if row["level"] in {"ERROR", "WARNING"}:
            head = f"[{row['level'][0]}1130 20:43:49.220411903 {row['source'].rpartition('/')[2]}:632] "
        for event in _first(head + text):
            yield from _made(
                event, table.torch[row["id"]], f"catalogue:{row['source']}", "catalogue", f"PyTorch {row['source']}"
            )


def _first(text: str) -> Iterator[Event]:
    """Yield the first event of a text."""
    yield from [event for event in events_in(TextSource("log", text)) if event.message][:1]


_DIRECTIVE = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d+)?(?:\.\d+)?(?P<size>hh|h|ll|l|z|j|t)?(?P<kind>[diuxXpsgfcm%])"
)
_STRINGS: tuple[tuple[str, str], ...] = (
    (
        r"(?:error|failed|ERROR)[ :,.]*(?:with error )?$|RC: %?\w*, Error: $|strerror: $|errno \d+ ?\($",
        "Invalid argument",
    ),
    (r"(?:peer|remote peer|[Cc]onnect(?:ed)? to|address|socket to|from) $", "10.0.0.5<40231>"),
    (r"(?:NET/IB ?: |device(?:=| )|hca |dev )$", "mlx5_0"),
    (r"(?:file|open|path of|map|extend|segment|mmap of|directory) $", "/dev/shm/nccl-a1B2c3"),  # noqa: S108 - a value to mask
    (r"(?:Coll|collective|function) $", "AllReduce"),
    (r"(?:datatype|type) $", "float16"),
)


def filled(text: str) -> str:
    """Return a printf format with each directive replaced by a value that could stand there.

    >>> filled("Call to recv from %s failed : %s after %d bytes")
    'Call to recv from 10.0.0.5<40231> failed : Invalid argument after 3 bytes'
    """
    made, end = "", 0
    for found in _DIRECTIVE.finditer(text):
        made += text[end : found.start()]
        made += _value(found, made)
        end = found.end()
    return made + text[end:]


def _value(found: re.Match[str], before: str) -> str:
    kind = found["kind"]
    if kind == "%":
        return "%"
    if kind == "s":
        if before[-1:].isalnum():  # a suffix, mostly empty
            return ""
        return next((value for tail, value in _STRINGS if re.search(tail, before)), "name")
    if kind in "xX":
        return "7f3a5c00" if before.endswith("0x") else "0x7f3a5c00"
    plain: Mapping[str, str] = {"p": "0x7f3a5c001200", "c": "x", "m": "Invalid argument", "f": "0.5", "g": "0.5"}
    return plain.get(kind, "3")


# --- collected ---------------------------------------------------------------------------------------------


def from_collected() -> Iterator[Labelled]:
    """Yield the texts that the files of fixtures/labelled/collected hold, as the layers below the rules read them."""
    files = sorted((FOLDER / "collected").glob("*.yaml"))
    for row in (row for path in files for row in _plain(f"collected/{path.name}")):
        category = Category(row["category"]).value
        for text in row["texts"]:
            for event in _first(text):
                yield from _made(event, category, f"collected:{row['program']}", "collected", row["source"])
