"""A group of lines that no rule knows gives a rule file, whatever its lines hold."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.diagnosis.verdict import UnclaimedGroup
from nccl_logscan.drafting.draft import Line, as_yaml, draft
from nccl_logscan.drafting.suggest import suggest
from nccl_logscan.drafting.yaml_text import block, expression_scalar, quoted
from nccl_logscan.events.mask import template
from nccl_logscan.pipeline import scan_text
from nccl_logscan.position import Position
from nccl_logscan.records import replace
from nccl_logscan.report.redact import redact
from nccl_logscan.rulebook.find import RuleSource
from nccl_logscan.rulebook.lint import lint
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.rulebook.read import RuleFile, read_rule
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.taxonomy import Category

SAID = {"what": "It broke.", "why": "It is old.", "reference": ("Its manual", "https://example.org/manual")}
MISS = Line("node-1:1:1 [0] NCCL INFO Channel 00/02 : 0 1", "made up")


def group(message, count=2, kind="nccl.warn", line=None):
    whole = f"node-1:10:11 [0] misc/socket.cc:49 NCCL WARN {message}" if line is None else line
    return UnclaimedGroup(template(message), count, Position("train.log", 7, 0), message[:500], kind, whole)


def read(whole):
    return read_rule(RuleSource(f"{whole.id}.yaml", whole.id, as_yaml(whole).encode()))


def surrogates_replaced(text):
    return text.encode("utf-8", "replace").decode()


# --- texts as YAML -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [quoted, expression_scalar, lambda text: block(text, " " * 4)])
@given(text=st.text() | st.text(st.sampled_from("#[]:{}&*!|>'\"%@`-? \t\r\n\x1b\x85\u2028\u202e\ufeffa")))
def test_a_text_comes_back_as_it_was(form, text):
    document = f"- key: {form(text)}\n- after\n"

    [held, after] = yaml.safe_load(document)

    assert held["key"].removesuffix("\n") == surrogates_replaced(text).removesuffix("\n")
    assert after == "after"


@given(st.text())
def test_nothing_that_acts_on_a_terminal_is_written(text):
    for form in (quoted(text), expression_scalar(text), block(text, "    ")):
        assert form.replace("\n", "").isprintable()


@pytest.mark.parametrize("text", ["##[error]x", "::error::x"])
def test_a_ci_runner_finds_no_command(text):
    for form in (quoted(text), block(text, "  ")):
        assert "##[" not in form
        assert not re.search(r"(?m)^\W*::", form)


# --- a draft -------------------------------------------------------------------------------------------------


def test_a_draft_of_a_known_category_holds_once_it_is_completed():
    begun = draft(group("NET/X : strange thing 5 of peer 10.0.0.3<1>"), Category.INFINIBAND)

    file = read(replace(begun, miss=MISS, **SAID))

    assert isinstance(file, RuleFile)
    assert file.rule.id == "infiniband/net-x-strange-thing-of-peer"
    assert lint([file], ids=(), groups=(), detectors=()) == ()
    assert file.rule.hits[0].source == "from train.log, line 7"
    assert file.rule.hits[0].captures == {"peer": "10.0.0.3<1>"}


def test_a_draft_of_a_harmless_line_passes_as_one():
    file = read(replace(draft(group("NET/X : strange thing"), Category.NONE), miss=MISS, **SAID))

    assert lint([file], ids=(), groups=(), detectors=()) == ()


def test_what_is_left_to_say_is_marked_and_all_that_is_missing():
    begun = draft(group("NET/X : strange thing"), None)

    problems = read(begun)
    lines = as_yaml(begun).split("\n")

    assert {problem.message.partition(":")[0] for problem in problems} == {"what", "why"}
    assert all("# say: " in lines[problem.line - 1] for problem in problems)
    marked = {line.partition(":")[0] for line in lines if "# say: " in line}
    assert marked == {"id", "what", "why", "references"}


def test_a_name_that_is_taken_gets_a_number():
    assert draft(group("strange thing"), None, {"strange-thing", "strange-thing-2"}).slug == "strange-thing-3"


@given(st.text(max_size=200), st.sets(st.text("a-", max_size=3)))
def test_a_name_is_one_that_a_rule_may_have(message, taken):
    begun = draft(group(message), None, taken)

    if begun is not None:
        assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", begun.slug)
        assert len(begun.slug) <= 60
        assert begun.slug not in taken


def test_a_long_name_stays_within_its_bound_with_its_number():
    name = draft(group("word " * 40), None).slug

    again = draft(group("word " * 40), None, {name}).slug

    assert again != name
    assert len(again) <= 60


@given(st.text(max_size=600).filter(lambda text: len(text) < 500), st.text(max_size=80), st.text(max_size=40))
def test_whatever_a_log_holds_its_draft_reads_back(message, line, name):
    seen = replace(group(message, line=line or "x"), first=Position(name, 3, 0))
    begun = draft(seen, Category.UNKNOWN)
    if begun is None or not line.strip():
        return

    file = read(replace(begun, miss=Line(line, "x"), **SAID))

    assert isinstance(file, RuleFile), file
    assert file.rule.hits[0].log.removesuffix("\n") == surrogates_replaced(redact(line)).removesuffix("\n")
    assert file.rule.misses[0].log.removesuffix("\n") == surrogates_replaced(line).removesuffix("\n")
    assert file.rule.match.wordings[0].pattern.text == begun.worded.expression


def test_a_secret_is_nowhere_in_a_draft():
    text = as_yaml(draft(group("login failed with password=hunter22 at the door"), None))

    assert "hunter22" not in text
    assert "[redacted]" in text


@given(st.integers(0, 2100), st.sampled_from([" ", "-", "x/"]))
def test_a_secret_that_is_cut_in_two_is_nowhere_in_a_draft(before, filling):
    shown = "hf_Abcdefghij0123456789"
    message = f"strange {(filling * before)[:before]} {shown} and more" + " x" * 100
    line = f"node-1:10:11 [0] misc/socket.cc:49 NCCL WARN {message}"[:2000]

    text = as_yaml(draft(group(message, line=line), None))

    assert "hf_" not in text
    assert "Abcd" not in text


# --- tried out by scans --------------------------------------------------------------------------------------


def suggested(log, rulebook=None, **how):
    rulebook = rulebook or builtin_rulebook()
    result = scan_text(log, rulebook)
    wanted = {"least": 1, "limit": 20, "reopened": list, **how}
    return suggest(result, rulebook, **wanted)


def warned(message, number=1):
    return f"node-1:10:{number} [0] misc/socket.cc:49 NCCL WARN {message}\n"


def test_each_draft_fires_on_its_line_and_is_silent_on_its_near_miss():
    log = warned("Frobnicated queue 5") + warned("Frobnicated queue list 5") + warned("quite other")

    found = suggested(log)

    assert len(found.drafts) == 3
    assert all(one.fires and one.also == () for one in found.drafts)
    assert found.drafts[0].miss.text.endswith("Frobnicated queue list 5")


def test_a_line_that_is_read_otherwise_when_alone_is_marked():
    result = scan_text(warned("strange thing"), builtin_rulebook())
    [seen] = result.unclaimed
    passed_long_ago = replace(result, unclaimed=(replace(seen, line=None),))

    [found] = suggest(passed_long_ago, builtin_rulebook(), least=1, limit=1, reopened=list).drafts

    assert not found.fires
    assert "# say: the whole line and those around it" in as_yaml(found)


def test_a_near_miss_is_no_line_that_the_rule_is_for_as_well():
    found = suggested(warned("Frobnicated queue") + warned("Frobnicated queue and another thing"))

    first = next(one for one in found.drafts if one.slug == "frobnicated-queue")
    assert not first.miss.text.endswith("another thing")


def test_groups_are_left_out_by_their_number_and_by_their_lines():
    log = warned("first thing") * 3 + warned("second thing") * 2 + warned("third thing") + warned("12")

    found = suggested(log, least=2, limit=1)

    assert [(one.slug, one.count) for one in found.drafts] == [("first-thing", 3)]
    assert (found.rare, found.wordless, found.beyond) == (2, 0, 1)
    assert suggested(log).wordless == 1


def test_an_exception_is_drafted_by_its_kind():
    log = (
        "Traceback (most recent call last):\n"
        '  File "/work/train.py", line 5, in <module>\n'
        "    main()\n"
        "frobnicator.errors.OddError: the frobnicator 7 is odd\n"
    )

    [found] = suggested(log, Rulebook({}, "")).drafts

    assert (found.kind, found.fires) == ("python.exception", True)
    assert found.hit.text == "frobnicator.errors.OddError: the frobnicator 7 is odd"
