"""Whatever a log, a dump, a configuration, a rule or a name holds: in no output does it act on who reads that."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pyte
import pytest
import yaml
from contents import CONTENTS
from jsonschema import Draft202012Validator
from markdown_reading import must_hold_nothing_that_acts, tokens_of
from poisoned_job import poisoned, site_rules
from produced import produced
from prometheus_client.parser import text_string_to_metric_families

from nccl_logscan.rulebook.load import rulebook_with

TESTS = Path(__file__).parents[1]
BENIGN = "zz harmless"
TRACES = Draft202012Validator(json.loads((TESTS / "report" / "trace_event.schema.json").read_text("utf-8")))
MARKS = {name: f"mark-{number}" for number, name in enumerate(CONTENTS)}


@pytest.fixture(scope="module")
def outputs_of(tmp_path_factory):
    """Give the outputs about jobs with a content, or with a harmless one where it is None."""
    folder = tmp_path_factory.mktemp("hostile")
    site_rules(folder / "rules", {"benign": BENIGN, **{MARKS[name]: content for name, content in CONTENTS.items()}})
    rulebook = rulebook_with([folder / "rules"])
    made: dict[str | None, dict[str, list[bytes]]] = {}

    def outputs_of(name):
        if name not in made:
            content, mark = (BENIGN, "benign") if name is None else (CONTENTS[name], MARKS[name])
            made[name] = produced(poisoned(folder / mark, content, mark), rulebook)
        return made[name]

    return outputs_of


# --- what no text may hold -----------------------------------------------------------------------------------

# Letters that are never seen, and in which a text may be hidden, though Unicode calls them letters or marks.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_COMMANDS = {
    "GitHub": re.compile(r"(?m)^\s*::[a-zA-Z][\w-]*.*::|##\["),
    "Azure": re.compile(r"(?i)##vso\["),
    "TeamCity": re.compile(r"##teamcity\["),
    "GitLab": re.compile(r"section_(?:start|end):\d+:[^\r\n]*\r\x1b\[0K"),
}


def must_act_on_nobody(text: str) -> None:
    acting = {f"U+{ord(letter):04X}" for letter in set(text) if _acts(letter)}
    assert not acting
    assert not _UNSEEN.search(text)
    for system, command in _COMMANDS.items():
        assert not command.search(text), system


def _acts(letter: str) -> bool:
    return letter not in "\n\t" and unicodedata.category(letter) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


# --- each output by a reader of its own ----------------------------------------------------------------------


class _Page(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.shapes: set[tuple[str, frozenset[str]]] = set()
        self.leads_to: set[str] = set()
        self.feed(source)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.shapes.add((tag, frozenset(name for name, _ in attrs)))
        self.leads_to |= {value for name, value in attrs if name in {"href", "src", "xlink:href"}}


def page(text, outputs_of):
    """It is made of the elements and the attributes of which a harmless log's page is, and leads nowhere else."""
    must_act_on_nobody(text)
    read, harmless = _Page(text), [_Page(sent.decode()) for sent in outputs_of(None)["html"]]
    assert read.shapes <= set(chain(*(each.shapes for each in harmless))) | _RARE
    assert all(
        place.startswith(("#", "https://")) and "zz" not in place.partition("nvidia")[0] for place in read.leads_to
    )


_RARE = {("mark", frozenset()), ("span", frozenset({"class"}))}


def lines(text, _outputs_of):
    must_act_on_nobody(text)


def verdict(text, _outputs_of):
    """A line that begins with a verdict is the first alone: all else stands under a label or indented."""
    must_act_on_nobody(text)
    assert [number for number, line in enumerate(text.split("\n")) if re.match("FAILED|UNCLEAR|HEALTHY", line)] == [0]


def terminal(text, _outputs_of):
    """Nothing but our colours reaches a terminal, and it shows what a pipe gets."""
    must_act_on_nobody(_COLOUR.sub("", text))
    screen = pyte.Screen(120, 500)
    pyte.Stream(screen).feed(text.replace("\n", "\r\n"))
    assert screen.title == screen.icon_name == ""
    assert screen.display[0].startswith(("FAILED", "UNCLEAR"))


def bar(text, _outputs_of):
    assert "\x1b]" not in text
    must_act_on_nobody(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text))


def document(text, _outputs_of):
    """JSON in ASCII, of which no text holds half a character."""
    must_act_on_nobody(text)
    assert text.isascii()
    json.dumps(json.loads(text), ensure_ascii=False).encode()


def sarif(text, outputs_of):
    document(text, outputs_of)
    [run] = json.loads(text)["runs"]
    for result in run["results"]:
        assert all(link.isdigit() for link in re.findall(r"\]\(([^)]*)\)", result["message"]["text"]))
    for rule in run["tool"]["driver"]["rules"]:
        must_hold_nothing_that_acts(tokens_of(rule["help"]["markdown"]))
        assert rule.get("helpUri", "https://").startswith("https://")


def code_quality(text, outputs_of):
    document(text, outputs_of)
    for issue in json.loads(text):
        assert not issue["location"]["path"].startswith("/")


def junit(text, _outputs_of):
    must_act_on_nobody(text)
    suites = ET.fromstring(text)  # noqa: S314 - our own
    assert [element.tag for element in suites.iter()] == ["testsuites", "testsuite", "testcase", "failure"]


def markdown(text, _outputs_of):
    must_act_on_nobody(text)
    must_hold_nothing_that_acts(tokens_of(text))


def annotation(text, _outputs_of):
    """A command is a line, and none but ours."""
    for command in text.splitlines():
        assert re.match(r"::(?:error|warning|notice) [\w=,.%-]", command)
        must_act_on_nobody(command.lstrip(":"))


def metrics(text, _outputs_of):
    must_act_on_nobody(text)
    families = {family.name: family.samples for family in text_string_to_metric_families(text)}
    assert [(sample.labels, sample.value) for sample in families["nccl_logscan_failed"]] == [({}, 1)]
    assert len(families["nccl_logscan_verdict"]) > 10


def trace(text, outputs_of):
    """JSON of the trace format; in the names that Perfetto shows all letters are seen. No runner reads these."""
    document(text, outputs_of)
    read = json.loads(text)
    TRACES.validate(read)
    shown = json.dumps(read, ensure_ascii=False)
    assert not {letter for letter in shown if _acts(letter)}
    assert not _UNSEEN.search(shown)


_FORMULA = re.compile(r"\s*[=+\-@\uff0b\uff0d\uff1d\uff20]|[\t\r]")


def table(text, _outputs_of):
    """No cell of text begins as a formula, and each row has a cell a column."""
    header, *rows = list(csv.reader(io.StringIO(text, newline="")))
    numbers = {"step", "loss", "grad_norm"}
    assert rows
    for row in rows:
        assert len(row) == len(header)
        for name, cell in zip(header, row, strict=True):
            assert not _FORMULA.match(cell) or name in numbers or re.fullmatch(r"-?[\d.einf]+", cell), (name, cell)


def printed_table(text, outputs_of):
    must_act_on_nobody(text)
    table(text, outputs_of)


def json_lines(text, _outputs_of):
    must_act_on_nobody(text)
    for line in text.splitlines():
        json.dumps(json.loads(line), ensure_ascii=False).encode()


def parquet(sent, _outputs_of):
    assert pl.read_parquet(io.BytesIO(sent)).height


def drafts(text, _outputs_of):
    """YAML, of which every document is a rule."""
    must_act_on_nobody(text)
    for draft in yaml.safe_load_all(text):
        assert {"id", "title", "match", "examples"} <= draft.keys()


def plain_names(text, _outputs_of):
    """What names we choose: letters, digits, dashes and dots below our folder."""
    assert all(re.fullmatch(r"[\w/.-]*", name) and ".." not in name for name in text.splitlines())


def draft_places(text, outputs_of):
    must_act_on_nobody(text)
    plain_names(text, outputs_of)


OUTPUTS: dict[str, Callable[..., None]] = {
    "html": page,
    "redacted": page,
    "json": document,
    "text": verdict,
    "verdict": verdict,
    "terminal": terminal,
    "markdown": markdown,
    "step summary": markdown,
    "sarif": sarif,
    "junit": junit,
    "github": annotation,
    "gitlab": code_quality,
    "openmetrics": metrics,
    "trace": trace,
    "names of reports": plain_names,
    "csv file": table,
    "printed csv": printed_table,
    "jsonl file": json_lines,
    "printed jsonl": json_lines,
    "parquet file": parquet,
    "show": lines,
    "explain": lines,
    "suggest": drafts,
    "suggest's names": draft_places,
    "advise": lines,
    "lint as text": lines,
    "lint as json": document,
    "lint as sarif": sarif,
    "lint as github": annotation,
    "lint's diff": lines,
    "messages": lines,
    "progress": bar,
}
SELDOM = {"openmetrics", "progress", "suggest", "suggest's names", "lint's diff", "advise", "names of reports"}
"""Outputs that few of the contents reach, for they leave out what they cannot show, or show little of a log."""


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_no_content_acts_in_any_output(outputs_of, output, content):
    for sent in outputs_of(content)[output]:
        OUTPUTS[output](sent if output == "parquet file" else sent.decode(), outputs_of)


@pytest.mark.parametrize("content", CONTENTS)
def test_the_content_is_in_the_outputs_that_the_matrix_looks_at(outputs_of, content):
    silent = {output for output, sent in outputs_of(content).items() if not any(b"zz" in each for each in sent)}

    assert silent <= SELDOM
    assert outputs_of(content).keys() == OUTPUTS.keys()


def test_each_output_is_reached_by_some_content(outputs_of):
    reached = {output for name in CONTENTS for output, sent in outputs_of(name).items() if b"zz" in b"".join(sent)}

    assert reached == OUTPUTS.keys()
