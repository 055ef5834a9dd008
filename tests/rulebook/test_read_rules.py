from __future__ import annotations

import dataclasses
import time
from pathlib import Path

import pytest
from rule_folders import write_rule

from nccl_logscan.errors import InputError, RulebookError
from nccl_logscan.events.model import EVENT_TYPES
from nccl_logscan.rulebook.find import MAX_BYTES
from nccl_logscan.rulebook.load import load_rulebook
from nccl_logscan.rulebook.read import fields_of, read_folders
from nccl_logscan.rulebook.where import builtin_rules
from nccl_logscan.taxonomy import Category, Role


def messages(folders):
    with pytest.raises(RulebookError) as caught:
        load_rulebook(folders)
    return [problem.render().split("\n")[0] for problem in caught.value.problems]


def test_a_folder_of_rules_becomes_a_rulebook_in_the_order_of_ids(tmp_path):
    write_rule(tmp_path, "user_code/b")
    write_rule(tmp_path, "infiniband/z")
    write_rule(tmp_path, "infiniband/a")

    rulebook = load_rulebook([tmp_path])

    assert list(rulebook.rules) == ["infiniband/a", "infiniband/z", "user_code/b"]
    rule = rulebook.rules["infiniband/a"]
    assert (rule.category, rule.role) == (Category.INFINIBAND, Role.CAUSE)
    assert rule.defined_at == f"{tmp_path}/infiniband/a.yaml:1"


def test_a_wording_carries_the_literal_that_the_matcher_looks_for(tmp_path):
    write_rule(tmp_path, "infiniband/a")

    [wording] = load_rulebook([tmp_path]).rules["infiniband/a"].match.wordings

    assert wording.pattern.literals == (": Got completion from peer ",)


def test_all_mistakes_of_all_files_are_told_in_file_order(tmp_path):
    write_rule(tmp_path, "infiniband/b", severity="bad", role="bad")
    write_rule(tmp_path, "infiniband/a", strength=999)

    told = messages([tmp_path])

    assert [Path(line.split(":")[0]).name for line in told] == ["a.yaml", "b.yaml", "b.yaml"]


def test_one_value_or_a_list_is_the_same_question(tmp_path):
    near = {"event": "nccl.info", "message": "x", "within_lines": 3}
    single = {"event": "nccl.warn", "wordings": [{"message": "foo"}], "near": near, "not_followed_by": near}
    listed = {**single, "event": ["nccl.warn"], "near": [near], "not_followed_by": [near]}
    write_rule(tmp_path, "infiniband/a", match=single)
    write_rule(tmp_path, "infiniband/b", match=listed)

    rules = load_rulebook([tmp_path]).rules

    assert rules["infiniband/a"].match == rules["infiniband/b"].match


@pytest.mark.parametrize(
    ("written", "values", "low", "high"),
    [
        (3, (3,), None, None),
        ({"in": [3, None]}, (3, None), None, None),
        ({"at_least": 2}, (), 2, None),
        ({"at_least": 2, "at_most": 5}, (), 2, 5),
    ],
)
def test_a_condition_is_a_value_a_list_or_bounds(tmp_path, written, values, low, high):
    match = {"event": "nccl.init", "where": {"rank": written}}
    write_rule(tmp_path, "infiniband/a", match=match)

    test = load_rulebook([tmp_path]).rules["infiniband/a"].match.where["rank"]

    assert (test.values, test.at_least, test.at_most) == (values, low, high)


def test_a_rule_of_a_site_may_not_take_a_built_in_id(tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    write_rule(ours, "infiniband/a")
    write_rule(theirs, "infiniband/a")

    [told] = messages([ours, theirs])

    assert told.startswith(f"{theirs}/infiniband/a.yaml:1:5: id: 'infiniband/a' is taken by {ours}")


@pytest.mark.parametrize("name", ["rule.yaml", "infiniband/rule.yml"])
def test_a_rule_in_a_place_where_it_would_be_overlooked_is_told(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("id: x\n")

    [told] = messages([tmp_path])

    assert told.startswith(f"{path}:1:1: ")


def test_a_folder_that_is_no_category_is_told_with_the_nearest(tmp_path):
    write_rule(tmp_path, "infiniban/a")

    [told] = messages([tmp_path])

    assert "'infiniban' is no category; did you mean 'infiniband'?" in told


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path):
    path = write_rule(tmp_path, "infiniband/a")
    path.write_bytes(b"id: infiniband/a\ntitle: \xff\n")

    assert messages([tmp_path]) == [f"{path}:2:8: is not UTF-8 text"]


def test_a_huge_file_is_told_and_not_parsed(tmp_path):
    path = write_rule(tmp_path, "infiniband/a")
    path.write_bytes(b"# " + b"x" * (2 * MAX_BYTES))

    [told] = messages([tmp_path])

    assert "longer than" in told


def test_a_missing_folder_is_an_error_of_input(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        load_rulebook([tmp_path / "absent"])


def test_the_digest_tells_contents_and_ids_and_nothing_else(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        write_rule(folder, "infiniband/a")
    assert read_folders([first]).digest == read_folders([second]).digest

    write_rule(second, "infiniband/a", strength=74)
    assert read_folders([first]).digest != read_folders([second]).digest


def test_a_broken_file_still_lends_its_id_to_those_that_name_it(tmp_path):
    write_rule(tmp_path, "infiniband/a", severity="bad")

    assert read_folders([tmp_path]).ids == {"infiniband/a"}


@pytest.mark.parametrize("kind", sorted(EVENT_TYPES))
def test_every_scalar_field_of_every_event_can_be_asked_for(kind):
    own = {field.name for field in dataclasses.fields(EVENT_TYPES[kind])} - {
        *("at", "origin", "when", "message", "repeated", "site", "ranks", "devices", "missing_ranks")
    }

    assert own == {name for name in fields_of(kind) if not name.startswith("site.")}


def test_two_hundred_rules_are_read_in_a_second(tmp_path):
    for number in range(200):
        write_rule(tmp_path, f"infiniband/r{number}")
    started = time.process_time()

    read_folders([tmp_path])

    assert time.process_time() - started < 2


def test_the_built_in_rules_are_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert (builtin_rules() / "README.md").is_file()


def test_a_group_stands_for_its_rules_where_a_scan_looks_and_for_itself_where_a_person_reads(tmp_path):
    write_rule(tmp_path, "infiniband/a", groups=["waiting"], explains=["group:waiting", "unknown/*"])
    write_rule(tmp_path, "infiniband/b", groups=["waiting"])
    write_rule(tmp_path, "infiniband/c")
    reading = read_folders([tmp_path])

    assert reading.rulebook.rules["infiniband/a"].explains == ("infiniband/b", "unknown/*")
    assert reading.written["infiniband/a"].explains == ("group:waiting", "unknown/*")


def test_a_rule_of_a_second_folder_joins_a_group_of_the_first(tmp_path):
    write_rule(tmp_path / "ours", "infiniband/a", explains=["group:waiting"])
    write_rule(tmp_path / "theirs", "infiniband/b", groups=["waiting"])

    rules = read_folders([tmp_path / "ours", tmp_path / "theirs"]).rulebook.rules
    assert rules["infiniband/a"].explains == ("infiniband/b",)
