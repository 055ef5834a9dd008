"""The report as Markdown: short, complete, and nothing of a log acts in it."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_reading import must_hold_nothing_that_acts, tokens_of

from nccl_logscan.pipeline import Options, scan
from nccl_logscan.report.markdown import render_markdown
from nccl_logscan.report.markdown_text import code, excerpt, fence, inline, prose
from nccl_logscan.report.public import public_view
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook

FIXTURES = Path(__file__).parents[2] / "fixtures"
CASES = ["lab/m8-timeout-rank5", "field/net002", "lab/mix-2.18.3-2.21.5", "lab/sigkill", "lab/m8-healthy"]
HOSTILE = (
    "![x](http://evil.example/x.png) [y](javascript:alert(1)) <script>alert(1)</script> <b onclick=x> &lt;i&gt; "
    "@octocat @org/team #123 GH-12 org/repo#7 org/repo@deadbeef1 0123abcdef0123abcdef0123abcdef0123abcdef "
    "https://evil.example www.evil.example mail@evil.example :boom: !42 ~label $1 `code` ``` ````` *b* **b** _i_ __b__ "
    "~~s~~ | a | b | $$x$$ [^1] [ ] - [x] \\ \\@me 'q' \"w\" ::error::x ##[group]"
)


def view_of(name, configs=()):
    return build_view(scan([str(FIXTURES / "cases" / name)], builtin_rulebook(), Options(configs=configs)))


@pytest.fixture(scope="module")
def parsed():
    return tokens_of


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_short_and_says_what_matters(name, parsed):
    view = view_of(name)
    text = render_markdown(view)

    assert len(text.encode()) < 20_000
    must_hold_nothing_that_acts(parsed(text))
    assert view["verdict"]["headline"].split()[0] in text.split("\n")[2]
    assert "read " in text.splitlines()[-1]


def test_every_part_is_there(sample_result, parsed):
    text = render_markdown(build_view(sample_result))
    tokens = parsed(text)

    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    assert headings == [
        "FAILED: `infiniband`", "Why", "What to do", "What not to do", "Settings that are wrong", "Evidence",
        "What is not known", "What would tell more",
    ]  # fmt: skip
    fences = {token.info: token.content for token in tokens if token.type == "fence"}
    assert "-export NCCL_TIMEOUT=1800\n" in fences["diff"]
    assert "perfquery -x --Ca mlx5_3 1\n" in fences["sh"]
    assert "41877: node-17:2311:2401 [3] transport/net_ib.cc:1298 NCCL WARN" in fences["text"]
    assert "<summary>What followed from it (2)</summary>" in text
    assert "- **Where:** rank 11 · host node-17 · GPU 3 · adapter mlx5_3" in text


def test_a_diff_is_whole_in_its_fence(parsed):
    config = str(FIXTURES / "launch" / "ds-overflow" / "ds_config.json")
    view = view_of("lab/ds-overflow/driver.log", configs=(config,))
    [diff] = [token.content for token in parsed(render_markdown(view)) if token.info == "diff"]

    assert diff in [step["diff"] for step in view["remediation"]]


def test_a_diff_that_would_not_be_itself_or_is_long_is_left_out(sample_result):
    for diff in (
        "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n ::error::b\n",
        "--- a/x\n+++ b/x\n" + "+a\n" * 3_000,
        "-\x1b[2J\n",
    ):
        view = build_view(sample_result)
        view["remediation"][2]["diff"] = diff
        assert "The change as a diff is long or holds characters that this form cannot show" in render_markdown(view)


def test_a_healthy_job_is_told_in_a_few_lines():
    text = render_markdown(view_of("lab/m8-healthy/driver.log"))

    assert text.startswith("## HEALTHY: no failure found\n")
    assert "What to do" not in text


def test_an_unclear_job_shows_the_lines_that_no_rule_knew(unknown_result):
    text = render_markdown(build_view(unknown_result))

    assert text.startswith("## UNCLEAR: `unknown`\n")
    assert "### Warnings and errors that no rule knew\n\n```text\nlogs/train-7431.log:500: NET/X : strange" in text


@pytest.mark.parametrize("name", ["huge_result", "hostile_result"])
def test_no_result_is_long_or_acts(name, request, parsed):
    text = render_markdown(build_view(request.getfixturevalue(name)))

    assert len(text.encode()) < 60_000
    must_hold_nothing_that_acts(parsed(text))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    assert not re.search(r"(?m)^\s*::[a-z]|##\[", text)


def hostile_view(result, text):
    """A view in which a log has said `text` wherever it can."""

    def poisoned(part, name=""):
        if isinstance(part, dict):
            return {key: poisoned(value, key) for key, value in part.items()}
        if isinstance(part, list):
            return [poisoned(entry, name) for entry in part]
        closed = {"category", "level", "effect", "owner", "severity", "kind", "role", "because", "family"}
        return text if isinstance(part, str) and name not in closed else part

    view = build_view(result)
    return {**poisoned(view), "tool": view["tool"]}


@pytest.mark.parametrize("word", HOSTILE.split())
def test_no_word_acts_wherever_it_stands(word, sample_result, parsed):
    for text in (word, f"{word} after", f"before {word}", f"({word})", f'"{word},"', f"\n{word}\n\n    {word}"):
        must_hold_nothing_that_acts(parsed(render_markdown(hostile_view(sample_result, text))))


def test_a_hostile_line_is_shown_as_it_is(parsed):
    for shown in (inline(HOSTILE, 9_999), f"- {inline(HOSTILE, 9_999)}"):
        said = "".join(token.content for token in parsed(shown) if token.type in {"text", "code_inline"})
        assert said == HOSTILE
    [block] = [token for token in parsed(fence(HOSTILE, "text")) if token.type == "fence"]
    assert block.content == f"{HOSTILE}\n"


@given(st.text(st.sampled_from("`a *_[](){}<>#@!:.-+=~|\\\"'1\n\t&$^é"), max_size=60))
def test_any_text_is_text(text):
    parser = MarkdownIt("gfm-like")
    for document in (inline(text, 500), prose(text), f"- {inline(text, 500)}", f"**{inline(text, 500)}**", code(text)):
        tokens = [child for token in parser.parse(document) for child in (token, *(token.children or ()))]
        must_hold_nothing_that_acts(tokens)
        assert "heading_open" not in {token.type for token in tokens}
        assert [token.type for token in tokens].count("list_item_open") == document.startswith("- ")


@given(st.text(st.sampled_from("`~ a\n\t>-"), max_size=60))
def test_nothing_ends_a_fence(text):
    block, *others = MarkdownIt("gfm-like").parse(fence(text, "text"))
    assert (block.type, others) == ("fence", [])


def test_an_address_in_evidence_stays_as_it_is_and_a_command_of_a_runner_does_not():
    view = view_of("field/net002")
    view["verdict"]["evidence"][1] |= {"line": 0, "text": "::error::mine ##[group]x"}
    text = render_markdown(view)

    assert "localGid ::ffff:26.41.9.183" in text
    assert "\n: :error::mine # #[group]x\n" in text


def test_plain_prose_stays_plain():
    prose = "Rank 5's last call was all_reduce (number 26 of group 0); 72% sure, see logs/a.log:786. Wait! Or train.py?"

    assert inline(prose, 500) == prose


def test_a_mark_that_a_quote_makes_a_reference_is_code():
    assert inline('wait!" !"12" (done!)', 500) == '`wait!"` `!"12`" (done!)'


def test_what_begins_a_line_is_no_list():
    assert inline("1. first", 99) == "`1.` first"
    assert inline("- first", 99) == "`-` first"


def test_a_long_line_is_shown_around_what_matched():
    line = "a" * 900 + "ERROR" + "b" * 900

    assert "ERROR" in excerpt(line, [900, 905], 300)
    assert len(excerpt(line, [900, 905], 300)) <= 301
    assert excerpt(line, None, 300) == "a" * 299 + "…"


def test_a_public_report_names_no_host(sample_result):
    view, _ = public_view(build_view(sample_result))

    assert "node-17" not in render_markdown(view)


def test_a_word_that_a_rule_has_in_backticks_is_code_and_no_other_markup_of_it_acts(parsed):
    text = prose("Set `NCCL_DEBUG` (`INFO`), `<b>x</b>`.\n\nNot `a b` <b>c</b> **d** [e](https://f.example)")

    assert text.startswith("Set `NCCL_DEBUG` (`INFO`), `<b>x</b>`.\n\nNot ")
    must_hold_nothing_that_acts(parsed(text))
