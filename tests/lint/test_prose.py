"""What lint decides, it decides by the catalogue's fields; the words in it are for people."""

import ast
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

import nccl_logscan
from nccl_logscan.catalogue.load import Catalogue, catalogue
from nccl_logscan.catalogue.model import Fate, Kind, Option
from nccl_logscan.lint import job

VERSIONS = ({}, {"verl": "0.5.0"}, {"verl": "0.7.1"}, {"verl": "0.9.0"}, {"openrlhf": "0.8.0"})
OPTIONS = [option for option in catalogue().options if option.kind is not Kind.ENV and (option.fate or option.until)]
LAUNCHERS = {
    "verl": "python3 -m verl.trainer.main_ppo",
    "openrlhf": "python3 -m openrlhf.cli.train_ppo_ray",
    "megatron-lm": "torchrun pretrain_gpt.py",
}


class Reworded(Catalogue):
    """The catalogue with other words in place of its sentences."""

    words = ""

    def options_called(self, name: str, framework: str | None = None) -> tuple[Option, ...]:
        found = super().options_called(name, framework)
        return tuple(
            dataclasses.replace(option, effect=self.words, risk=self.words, note=self.words) for option in found
        )


@pytest.mark.parametrize(
    "words", ["", "It aborts and is rejected: it fails, stops, raises.", "DEAD KEY: still present, unread."]
)
def test_other_words_in_the_catalogue_change_no_decision(words, monkeypatch, lint_script):
    said = [list(decided(lint_script, versions)) for versions in VERSIONS]
    assert any(said)

    reworded = type("Said", (Reworded,), {"words": words})(catalogue().variables)
    monkeypatch.setattr(job, "catalogue", lambda: reworded)
    job._options.cache_clear()
    try:
        assert [list(decided(lint_script, versions)) for versions in VERSIONS] == said
    finally:
        job._options.cache_clear()


def decided(lint_script, versions) -> Iterator[tuple[object, ...]]:
    """What lint says of each key that a version takes no more, the sentence left out."""
    for option in OPTIONS:
        launcher = LAUNCHERS.get(option.framework, f"python3 -m {option.framework}")
        for name in option.names:
            argument = f"{name}=1" if option.kind is Kind.YAML_KEY else f"{name} 1"
            for remark in lint_script(f"{launcher} {argument}", **versions):
                yield option.id, remark.check, remark.severity, remark.name, remark.advice, remark.fix, remark.tells


def test_a_fate_is_of_the_versions_that_the_entry_names():
    for option in catalogue().options:
        # What was never taken has no version from which on.
        assert option.fate is not Fate.ABORTS or not (option.since or option.until), option.id
        assert option.afterwards is None or (option.until and option.fate is None), option.id


PROSE = {"effect", "risk", "note", "meaning"}
ASKS = {"search", "match", "fullmatch", "findall", "finditer", "startswith", "endswith", "partition", "index", "find"}
PACKAGE = Path(nccl_logscan.__file__).parent
MODULES = sorted(path for part in ("catalogue", "lint", "remedy", "advise") for path in (PACKAGE / part).rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_code_looks_for_words_in_the_catalogue_s_sentences(path):
    assert [node.lineno for node in ast.walk(ast.parse(path.read_text("utf-8"))) if asks_prose(node)] == []


@pytest.mark.parametrize(
    ("code", "asks"),
    [
        ("_ABORTS.search(f'{option.effect} {option.risk}')", True),
        ("option.note.startswith('DEAD')", True),
        ("'refused' in option.effect", True),
        ("step.effect in {'fix', 'workaround'}", False),
        ("f'{name}: {option.effect}'", False),
    ],
)
def test_a_search_for_words_is_told_from_a_sentence_that_is_shown(code, asks):
    assert any(map(asks_prose, ast.walk(ast.parse(code)))) is asks


def asks_prose(node: ast.AST) -> bool:
    """Whether an expression looks for something in a sentence."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ASKS:
        return holds_prose(node)
    is_in = isinstance(node, ast.Compare) and any(isinstance(each, ast.In | ast.NotIn) for each in node.ops)
    return is_in and any(map(holds_prose, node.comparators))


def holds_prose(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr in PROSE for each in ast.walk(node))
