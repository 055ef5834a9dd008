from __future__ import annotations

import dataclasses
import re

import pytest
from rule_folders import write_rule

from nccl_logscan.rulebook.docs import MADE_BY, code, pages, prose
from nccl_logscan.rulebook.load import load_rulebook
from nccl_logscan.rulebook.rule import Step


@pytest.fixture
def rule(tmp_path):
    write_rule(tmp_path, "infiniband/a")
    return load_rulebook([tmp_path]).rules["infiniband/a"]


def test_every_page_says_which_command_made_it(rule):
    assert all(text.startswith(MADE_BY) for text in pages([rule]).values())


def test_a_category_has_a_page_and_the_index_a_link_to_it(rule):
    written = pages([rule])

    assert set(written) == {"README.md", "infiniband.md"}
    assert "[infiniband](infiniband.md)" in written["README.md"]


def test_a_page_holds_all_that_is_known_of_a_failure(rule):
    text = pages([rule])["infiniband.md"]

    for part in (
        rule.title,
        rule.id,
        rule.what,
        rule.why,
        rule.match.wordings[0].pattern.text,
        "vendor err 249",
        "ibstat",
    ):
        assert part in text
    assert re.search(r"NCCL &gt;=2\.10, &lt;2\.20: `NET/IB", text)


def test_what_not_to_do_stands_apart_from_what_to_do(rule):
    harmful = dataclasses.replace(rule, remediation=(Step("Mend it."), Step("Look away.", do_not=True)))

    text = pages([harmful])["infiniband.md"]

    assert (
        text.index("**What to do**")
        < text.index("Mend it.")
        < text.index("**What not to do**")
        < text.index("Look away.")
    )


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a <script> & b", "a &lt;script&gt; &amp; b"),
        ("*bold* [x](y) | #1", r"\*bold\* \[x\](y) \| \#1"),
        ("NCCL_IB_HCA and _this_", r"NCCL_IB_HCA and \_this\_"),
        ("see `<x> | *y*` here", "see `<x> | *y*` here"),
        ("one ` alone <", r"one \` alone &lt;"),
        ("two\n  lines", "two lines"),
    ],
)
def test_prose_stands_for_itself(text, markdown):
    assert prose(text) == markdown


@pytest.mark.parametrize(
    ("text", "markdown"), [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("a``b`", "``` a``b` ```")]
)
def test_code_may_hold_backticks(text, markdown):
    assert code(text) == markdown


def test_a_command_cannot_leave_its_block(rule):
    step = Step("Do it.", run="echo '```'\n# heading")
    text = pages([dataclasses.replace(rule, remediation=(step,))])["infiniband.md"]

    assert "  ````sh\n  echo '```'\n  # heading\n  ````" in text


def test_a_group_is_listed_in_the_index_and_linked_where_it_is_named(rule):
    grouped = dataclasses.replace(rule, groups=("waiting",), explains=("group:waiting",))
    written = pages([grouped])

    assert '<a id="waiting"></a>`waiting`: [`infiniband/a`](infiniband.md#a)' in written["README.md"]
    assert "[`waiting`](README.md#waiting)" in written["infiniband.md"]
