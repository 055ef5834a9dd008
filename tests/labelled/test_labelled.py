"""The labelled messages in fixtures/labelled: what must hold of them whatever they are built from."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from nccl_logscan.events.mask import template
from nccl_logscan.taxonomy import Category

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))

from labelled_model import Labelled, settled  # noqa: E402 - tools is no package
from labelled_sources import filled  # noqa: E402

MESSAGES = [json.loads(line) for line in (ROOT / "fixtures/labelled/messages.jsonl").read_text("utf-8").splitlines()]
KEYS = {"template", "category", "scenarios", "kind", "origin", "source", "file"}
ORIGINS = {"rule", "case", "healthy", "collected", "catalogue"}
PRIVATE = re.compile(
    r"hf_[A-Za-z0-9]{20}|ghp_[A-Za-z0-9]{20}|AKIA[0-9A-Z]{12}|eyJ[A-Za-z0-9_-]{20}|[\w.]+@[\w-]+\.(?:com|edu|org|net)\b"
    r"|/home/(?!u/|user/|USER)[a-z]\w+|password\s*[=:]\s*\S|BEGIN [A-Z ]*PRIVATE KEY"
)


def test_each_line_says_all_that_the_card_promises():
    assert all(set(message) == KEYS for message in MESSAGES)
    assert {message["origin"] for message in MESSAGES} == ORIGINS


def test_categories_are_of_the_contract_and_never_unknown():
    assert {message["category"] for message in MESSAGES} == set(Category) - {Category.UNKNOWN}


def test_templates_are_sorted_and_unique():
    texts = [message["template"] for message in MESSAGES]
    assert texts == sorted(set(texts))


def test_templates_are_their_own_masks():
    assert [text for text in (message["template"] for message in MESSAGES) if template(text) != text] == []


@pytest.mark.parametrize("key", ["template", "kind", "source"])
def test_nothing_is_empty(key):
    assert all(message[key].strip() for message in MESSAGES)


def test_each_message_has_scenarios():
    assert all(message["scenarios"] and all(message["scenarios"]) for message in MESSAGES)
    assert all(message["scenarios"] == sorted(set(message["scenarios"])) for message in MESSAGES)


def test_each_category_has_enough():
    counts = Counter(message["category"] for message in MESSAGES)
    assert min(counts.values()) >= 90
    assert counts["none"] >= 400


def test_nothing_private_is_in_it():
    assert [text for text in (message["template"] for message in MESSAGES) if PRIVATE.search(text)] == []


# --- how it is built ----------------------------------------------------------------------------------------


def told(category, origin, scenario="rule:a"):
    return Labelled("Out of paper", category, (scenario,), "log.text", origin, "a printer")


def test_the_surest_source_names_the_category():
    messages, conflicts = settled([told("gpu_oom", "catalogue"), told("host_oom", "rule")])
    assert [message.category for message in messages] == ["host_oom"]
    assert conflicts[0].kept == "host_oom"


def test_what_the_surest_sources_do_not_agree_on_is_left_out():
    messages, conflicts = settled([told("gpu_oom", "rule"), told("host_oom", "rule"), told("gpu_oom", "case")])
    assert not messages
    assert (conflicts[0].categories, conflicts[0].kept) == (("gpu_oom", "host_oom"), None)


def test_what_a_reader_said_holds_over_every_source():
    messages, _ = settled([told("gpu_oom", "rule")], {"Out of paper": "host_oom"})
    assert [message.category for message in messages] == ["host_oom"]
    assert settled([told("gpu_oom", "rule")], {"Out of paper": None})[0] == []


def test_every_review_is_of_a_message_that_some_source_has():
    rows = yaml.safe_load((ROOT / "fixtures/labelled/reviewed.yaml").read_text("utf-8"))
    kept = {message["template"]: message["category"] for message in MESSAGES}
    assert [row["template"] for row in rows if kept.get(row["template"], "drop") != row["to"]] == []


def test_scenarios_of_all_that_agree_are_kept():
    messages, _ = settled([told("gpu_oom", "case", "case:b"), told("gpu_oom", "rule"), told("none", "collected", "x")])
    assert [(message.origin, message.scenarios) for message in messages] == [("rule", ("case:b", "rule:a"))]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Call to bind failed : %s", "Call to bind failed : Invalid argument"),
        ("rank %d buffer %p size %zu, 100%%", "rank 3 buffer 0x7f3a5c001200 size 3, 100%"),
        ("NET/IB : %s:%d Got async event", "NET/IB : mlx5_0:3 Got async event"),
        ("offset (0x%lx)", "offset (0x7f3a5c00)"),
    ],
)
def test_formats_are_filled_with_what_could_stand_there(text, made):
    assert filled(text) == made
