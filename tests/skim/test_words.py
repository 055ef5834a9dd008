"""Every line that means something holds what the skim asks of it before it takes it for text without meaning."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import yaml
from cases import ALL

from nccl_logscan.digits import RUN
from nccl_logscan.lines import Peeler
from nccl_logscan.pipeline import Run
from nccl_logscan.position import Position
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.skim.asking import Askers
from nccl_logscan.skim.plain import PlainSkimmer
from nccl_logscan.skim.told import LONGEST, Answer
from nccl_logscan.sources.raw import RawLine

FIXTURES = Path(__file__).parents[2] / "fixtures" / "lines"
BOOK = builtin_rulebook()
# A kernel's line that no rule knows, and what is left of a line of NCCL's without its head.
_HARMLESS = {"[12345.678901] EXT4-fs (sda2): mounted filesystem with ordered data mode.", "WARN -> INFO"}


@cache
def askers():
    run = Run(BOOK)
    return Askers(run.matcher, run.listeners)


def taken_for_text(line):
    """Whether a line that is more than text would be taken for that behind its own prefix, or as one without."""
    peeler = Peeler()
    peeler.peel(RawLine(Position("", 1, 0), line))
    asker = askers().of(peeler)
    part = line.encode("utf-8", "replace")
    shape = RUN.sub("", line).encode("utf-8", "replace")
    answer = asker(part, shape)
    if answer.folds and not answer.group and asker.tallies[answer.tally] == "log.text":
        return False
    read = Peeler().peel(RawLine(Position("", 1, 0), line))
    said = read[0].text if len(read) == 1 else line
    start = line.rfind(said) if said else -1
    prefixes = {b"", RUN.sub("", line[:start]).encode("utf-8", "replace")} if start > 0 else {b""}
    return any(_is_text_behind(prefix, part, asker) for prefix in prefixes)


def _is_text_behind(prefix, part, asker):
    """Skim a line of which the prefix is known; return whether nobody was asked about it."""
    asked = []

    def ask(text, shape):
        if text != part:
            return Answer(folds=True, tally=1, sayer=1, prefix=len(prefix))
        asked.append(shape)
        return Answer()

    skimmer = PlainSkimmer()
    skimmer.learn_needs(asker.needs)
    teaching = prefix + b"nothing"
    buffer = bytearray(teaching + b"\n" + part + b"\n")
    skimmer.skim(buffer, 0, len(buffer), len(buffer), base=0, segment=0, ask=ask)
    return not asked


def all_that_mean(texts):
    """The lines, one of each shape, that would be taken for text without meaning and are more."""
    known = {}
    for text in texts:
        for line in text.split("\n"):
            if len(line) < LONGEST // 4 and "\0" not in line and "\r" not in line.rstrip("\r"):
                known.setdefault(RUN.sub("", line), line.rstrip("\r"))
    return {line for line in known.values() if line not in _HARMLESS and taken_for_text(line)}


def test_the_lines_of_the_cases():
    assert all_that_mean(text for case in ALL for text in case.texts().values()) == set()


def test_the_examples_of_the_rules():
    examples = (example.log for rule in BOOK.rules.values() for example in (*rule.hits, *rule.misses))
    logs = ([log] if isinstance(log, str) else log.values() for log in examples)
    assert all_that_mean(text for log in logs for text in log) == set()


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in sorted(FIXTURES.glob("*.yaml"))])
def test_the_wordings_of_the_dialects(path):
    assert all_that_mean(_texts_in(yaml.safe_load(path.read_text("utf-8")))) == set()


def _texts_in(document):
    if isinstance(document, dict):
        if isinstance(document.get("text"), str):
            yield document["text"]
        for value in document.values():
            yield from _texts_in(value)
    elif isinstance(document, list):
        for value in document:
            yield from [value] if isinstance(value, str) else _texts_in(value)
