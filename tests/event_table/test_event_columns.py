"""The columns follow from the types of events, and the page tells each of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from nccl_logscan.event_table.columns import COLUMNS, OWN_FIELDS, REQUIRED
from nccl_logscan.event_table.docs import COMMAND, events_docs
from nccl_logscan.event_table.meanings import MEANINGS
from nccl_logscan.events.model import EVENT_TYPES, Event
from nccl_logscan.position import Origin

NAMES = [column.name for column in COLUMNS]
SHARED = {field.name for field in dataclasses.fields(Event)}


def test_the_page_is_fresh():
    page = Path(__file__).parents[2] / "docs" / "events.md"
    assert page.read_text("utf-8") == events_docs(), f"run: {COMMAND}"


def test_no_two_columns_have_one_name():
    assert len(set(NAMES)) == len(NAMES)


def test_every_column_has_a_meaning_and_every_meaning_a_column():
    assert set(MEANINGS) == set(NAMES)
    assert all(column.meaning.text for column in COLUMNS)


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_every_field_of_an_event_has_a_column(kind):
    own = {field.name for field in dataclasses.fields(EVENT_TYPES[kind])} - SHARED

    assert {field.name for field in OWN_FIELDS[kind]} == own
    assert {field.column for field in OWN_FIELDS[kind]} <= set(NAMES)


def test_everything_about_who_wrote_a_line_has_a_column():
    assert {field.name for field in dataclasses.fields(Origin)} <= set(NAMES)


def test_a_field_that_is_called_like_a_column_of_every_row_is_another_column():
    of_init = {field.name: field.column for field in OWN_FIELDS["nccl.init"]}

    assert of_init["rank"] == "nccl_init_rank"
    assert of_init["nranks"] == "nranks"


def test_a_call_site_is_a_column_for_each_of_its_parts():
    assert [field.column for field in OWN_FIELDS["nccl.warn"]] == ["site_file", "site_line", "site_function"]


def test_the_columns_that_are_never_null_are_columns():
    assert set(NAMES) >= REQUIRED
