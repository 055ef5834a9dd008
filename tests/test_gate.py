"""A gate lets every text through that one of its expressions matches."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nccl_logscan.events import dialects
from nccl_logscan.events.dialects import c10, torch_elastic, torch_process_group
from nccl_logscan.expressions import deferred, flags_of
from nccl_logscan.gate import SHIPPED, Gate, key_of, proof_of
from nccl_logscan.lines import tear
from nccl_logscan.literals import required_literals
from nccl_logscan.report import redact

MODULES = [
    *(
        importlib.import_module(f"{dialects.__name__}.{module.name}")
        for module in pkgutil.iter_modules(dialects.__path__)
    ),
    redact,
]
GATES = [
    pytest.param(value, id=f"{module.__name__.rpartition('.')[2]}.{name}")
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, Gate)
]


def texts_of(expression, **options):
    """Texts that an expression matches; hypothesis asks for one that is compiled."""
    return st.from_regex(re.compile(expression.pattern, flags_of(expression)), **options)


SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large, HealthCheck.large_base_example]


@pytest.mark.parametrize("gate", GATES)
@settings(deadline=None, max_examples=60, suppress_health_check=SLOW)
@given(data=st.data())
def test_a_text_that_an_expression_matches_passes_its_gate(gate, data):
    expression = data.draw(st.sampled_from(gate._expressions))
    text = data.draw(texts_of(expression))

    if expression.search(text):
        assert gate.admits(text)
        assert gate.search(text) is not None


def test_only_texts_that_hold_a_literal_pass():
    gate = Gate(re.compile(r"\d+ foo"), re.compile("bar|baz"))

    assert [gate.admits(text) for text in ("a foo", "bar", "b", "")] == [True, True, False, False]


def test_the_first_expression_in_order_is_found_though_a_later_one_stands_earlier_in_the_text():
    many = [re.compile(f"none{number}") for number in range(30)]
    for expressions in ([re.compile("two"), re.compile("one")], [re.compile("two"), *many, re.compile("one")]):
        assert Gate(*expressions).search("one two")[0] == "two"


def test_every_gate_in_use_is_known_and_says_what_it_lets_through():
    gate = Gate(re.compile("FOO bar|Baz"), re.compile("(?i)Quux"))
    assert gate in Gate.known()
    assert gate.needed == (("baz", "foo bar", "quux"), True)

    before = len(Gate.known())
    del gate
    assert len(Gate.known()) == before - 1


def test_a_literal_without_a_match_is_no_match():
    assert Gate(re.compile(r"foo\d")).search("foox") is None


@pytest.mark.parametrize("flags", [re.IGNORECASE, 0])
def test_letters_whose_case_is_ignored_pass_in_any_case(flags):
    gate = Gate(re.compile("disk failed" if flags else "(?i:disk failed)", flags))

    for text in (
        "DISK FAILED",
        "Disk Failed",
        "D\u0131sk failed",
        "di\u017fk failed",
        "DIS\u212a FAILED",
        "größe: DISK failed",
    ):
        assert gate.search(text), text
    assert not gate.admits("größe: disk full")


def test_half_a_surrogate_pair_does_not_raise():
    gate = Gate(*(re.compile(f"word{number}") for number in range(30)))

    assert gate.search("\ud800 word3")[0] == "word3"
    assert gate.search("\ud800") is None


@pytest.mark.parametrize("expression", [r"\d+", "foo|[xy]", "(?:foo)?", "(?i)größe"])
def test_an_expression_without_a_proved_literal_is_refused(expression):
    with pytest.raises(ValueError, match="no literal"):
        Gate(re.compile(expression))


def test_flags_given_to_the_compiler_count():
    assert required_literals("Foo", re.IGNORECASE) == (("foo",), True)
    assert required_literals("foo (?mi:Bar baz)") == (("foo bar baz",), True)


# --- Gates that are still written by hand, since the joint of an alternative and what follows is not proved ----


@pytest.mark.parametrize("name", ["_TAG", "_MPI_TAG", "_C10", "_LOGGED", "_ELASTIC", "_SLURM"])
@settings(deadline=None, max_examples=100, suppress_health_check=SLOW)
@given(data=st.data())
def test_a_line_with_the_head_of_another_in_it_is_looked_at(name, data):
    mark = getattr(tear, name)
    text = "loss 0.1 " + data.draw(texts_of(mark, fullmatch=True)) + "rest"

    assert tear.may_be_torn(text)
    if mark in dict(tear._MARKS).values():
        assert next(literal for literal, expression in tear._MARKS if expression is mark) in text


@settings(deadline=None, max_examples=100, suppress_health_check=SLOW)
@given(text=st.one_of(texts_of(c10._BRACKETED), texts_of(c10._GLOG)))
def test_a_head_of_c10_passes_its_literals(text):
    assert "pp:" in text or ".h:" in text or ".cu" in text


@settings(deadline=None, max_examples=100, suppress_health_check=SLOW)
@given(text=st.one_of(texts_of(torch_elastic._FAILED), texts_of(torch_elastic._CLOSING)))
def test_what_an_agent_of_torchrun_says_passes_its_literals(text):
    assert "failed (exitcode: " in text or "closing signal SIG" in text or "via signal SIG" in text


@settings(deadline=None, max_examples=100, suppress_health_check=SLOW)
@given(text=texts_of(torch_process_group._MISSED))
def test_a_missed_barrier_passes_its_literals(text):
    assert "monitoredBarrier" in text
    assert any(words in text for words in torch_process_group._BARRIER)


def test_a_shipped_proof_is_that_of_its_expression():
    shipped = json.loads(SHIPPED.read_text("utf-8"))
    assert len(shipped) > 100
    for key, (texts, folded) in shipped.items():
        flags, _, pattern = key.partition(" ")
        expression = deferred(pattern, int(flags))
        assert key_of(expression) == key
        assert proof_of(expression) == (tuple(texts), folded)


def test_a_gate_whose_expressions_no_file_has_proofs_for_is_proved_anew():
    gate = Gate(re.compile("never shipped [0-9]+ times"))
    assert gate.admits("never shipped 12 times")
    assert not gate.admits("ever shipped")
