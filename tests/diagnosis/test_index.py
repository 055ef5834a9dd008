"""The index leaves out a rule only where it cannot match."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.diagnosis import index as index_module
from nccl_logscan.diagnosis.index import RuleIndex
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.rulebook.rule import Pattern, Wording, asking_of

RULES = tuple(rule for rule in builtin_rulebook().rules.values() if rule.match.events)
INDEX = RuleIndex([asking_of(rule) for rule in RULES])


@pytest.fixture(scope="module", autouse=True, params=[0, 1 << 30], ids=["by an automaton", "one by one"])
def few(request):
    """How many messages an index looks through without an automaton."""
    usual = index_module._FEW
    index_module._FEW = request.param
    yield
    index_module._FEW = usual


def rule_asking(*patterns):
    match = dataclasses.replace(RULES[0].match, wordings=tuple(Wording(pattern) for pattern in patterns))
    return dataclasses.replace(RULES[0], match=match)


def matching(rules, message):
    return [
        rule.id
        for rule in rules
        if not rule.match.wordings or any(wording.pattern.may_match(message) for wording in rule.match.wordings)
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_is_a_candidate_for_each_of_its_examples(rule):
    for hit in rule.hits:
        for line in hit.log.splitlines():
            kept = {*INDEX.candidates(line)}
            assert kept >= set(matching(RULES, line))


@given(st.text(max_size=80), st.sampled_from(RULES), st.text(max_size=40), st.booleans())
def test_no_text_around_a_literal_hides_the_rule(before, rule, after, upper):
    for wording in rule.match.wordings:
        for literal in wording.pattern.literals:
            message = before + (literal.upper() if upper else literal) + after
            kept = {*INDEX.candidates(message)}
            assert kept >= set(matching(RULES, message))


def test_candidates_come_in_the_order_of_the_rules():
    message = " ".join(literal for rule in RULES[:40] for literal in _literals(rule))

    places = {rule.id: place for place, rule in enumerate(RULES)}
    found = [places[rule] for rule in INDEX.candidates(message)]
    assert len(found) > 5
    assert found == sorted(found)


def _literals(rule):
    return (literal for wording in rule.match.wordings for literal in wording.pattern.literals)


def test_a_line_that_no_rule_speaks_of_leaves_few_candidates():
    line = "2026-11-30 05:40:53,542 | INFO | trainer:49 - tokens 1048576"

    assert len(list(INDEX.candidates(line))) < len(RULES) / 10


@pytest.mark.parametrize(
    "pattern",
    [Pattern("a.c"), Pattern("x")],
    ids=["none is proved", "no literal"],
)
def test_a_rule_without_a_literal_to_look_up_is_always_a_candidate(pattern):
    index = RuleIndex([asking_of(rule_asking(pattern))])

    assert len(list(index.candidates("nothing of it"))) == 1


@pytest.mark.parametrize("literal", ["ab", "grün", "LOUD"])
def test_a_rule_is_a_candidate_where_its_literal_is(literal):
    index = RuleIndex([asking_of(rule_asking(Pattern(literal, (literal,))))])

    assert len(index.candidates(f"some {literal} words")) == 1
    assert index.candidates("other words") == []


def test_a_rule_is_found_by_each_of_its_wordings():
    index = RuleIndex(
        [asking_of(rule_asking(Pattern("first words", ("first words",)), Pattern("Second", ("Second",))))]
    )

    assert len(list(index.candidates("the first words"))) == 1
    assert len(list(index.candidates("a Second time"))) == 1
    assert list(index.candidates("neither of them")) == []


def test_letters_that_lower_case_changes_do_not_hide_a_rule():
    index = RuleIndex([asking_of(rule_asking(Pattern("(?i)kelvin", ("kelvin",), folded=True)))])

    assert len(list(index.candidates("\u212aELVIN"))) == 1


@pytest.mark.parametrize("rule", RULES[::9], ids=lambda rule: rule.id)
def test_the_automaton_finds_what_one_look_after_the_other_finds(rule, monkeypatch):
    for line in (line for hit in rule.hits for line in hit.log.splitlines()):
        monkeypatch.setattr(index_module, "_FEW", 0)
        by_automaton = INDEX.look(line)
        monkeypatch.setattr(index_module, "_FEW", 1 << 30)
        assert INDEX.look(line) == by_automaton
