from __future__ import annotations

from rule_folders import write_rule

from nccl_logscan.rulebook.lint import lint
from nccl_logscan.rulebook.read import read_folders


def linted(folder, *, detectors=()):
    reading = read_folders([folder])
    assert not reading.problems
    return [
        problem.message for problem in lint(reading.files, ids=reading.ids, groups=reading.groups, detectors=detectors)
    ]


def test_a_sound_rule_has_no_problem(tmp_path):
    write_rule(tmp_path, "infiniband/a")

    assert linted(tmp_path) == []


def test_a_circle_of_causes_is_told_once_with_its_way(tmp_path):
    write_rule(tmp_path, "infiniband/a", explains=["infiniband/b"])
    write_rule(tmp_path, "infiniband/b", explains=["infiniband/c"])
    write_rule(tmp_path, "infiniband/c", explains=["infiniband/a"])

    way = "infiniband/a -> infiniband/b -> infiniband/c -> infiniband/a"
    assert linted(tmp_path) == [f"explains: goes in a circle: {way}; decide which of them is the cause"]


def test_two_causes_of_one_effect_are_no_circle(tmp_path):
    write_rule(tmp_path, "infiniband/a", explains=["infiniband/c", "infiniband/b"])
    write_rule(tmp_path, "infiniband/b", explains=["infiniband/c"])
    write_rule(tmp_path, "infiniband/c")

    assert linted(tmp_path) == []


def test_a_whole_category_may_be_explained_before_it_has_a_rule(tmp_path):
    write_rule(tmp_path, "infiniband/a", explains=["process_death/*"])

    assert linted(tmp_path) == []


def test_a_former_id_may_not_be_another_rules_id(tmp_path):
    write_rule(tmp_path, "infiniband/a", formerly=["infiniband/b"])
    write_rule(tmp_path, "infiniband/b")

    assert linted(tmp_path) == ["formerly[0]: 'infiniband/b' is the id of a rule that still exists"]


def test_a_harmless_line_is_benign_or_context(tmp_path):
    write_rule(tmp_path, "none/a")

    assert linted(tmp_path) == ["role: a rule of category none is benign or context, not cause"]


def test_a_broad_kind_without_a_wording_must_be_a_fallback(tmp_path):
    changes = {"same_failure": [], "summary": "something failed", "examples": {"hit": [], "miss": []}}
    write_rule(tmp_path, "unknown/a", match={"event": "nccl.warn"}, **changes)
    write_rule(tmp_path, "unknown/b", match={"event": "nccl.warn", "fallback": True}, **changes)

    assert [message for message in linted(tmp_path) if "claims every" in message] == [
        "match: claims every nccl.warn; give `wordings`, narrow it by `where`, or make it a `fallback`"
    ]


def test_what_a_detector_captures_is_known_only_to_its_examples(tmp_path):
    write_rule(tmp_path, "infiniband/a", match={"detector": "seen"}, summary="{anything}", same_failure=["anything"])

    assert linted(tmp_path, detectors={"seen"}) == []


def test_names_that_the_scan_knows_need_no_capture(tmp_path):
    write_rule(
        tmp_path, "infiniband/a", summary="{host} {rank} {pid} {device} {adapter} {peer} {process_group} {count}"
    )

    assert linted(tmp_path) == []


def test_a_group_that_no_rule_is_in_explains_nothing(tmp_path):
    write_rule(tmp_path, "infiniband/a", explains=["group:wating"])
    write_rule(tmp_path, "infiniband/b", groups=["waiting"])

    problem = (
        "explains[0]: no rule is in 'group:wating'; did you mean 'waiting'?; add the name to the `groups` of a rule"
    )
    assert linted(tmp_path) == [problem]


def test_a_group_may_be_named_before_the_file_that_is_in_it(tmp_path):
    write_rule(tmp_path, "infiniband/a", explains=["group:waiting"])
    write_rule(tmp_path, "infiniband/b", groups=["waiting"])

    assert linted(tmp_path) == []


def test_a_stand_in_in_a_command_is_a_redirection(tmp_path):
    steps = [{"do": "Look.", "run": "ps -p <pid>"}, {"do": "Compare.", "run": "diff <(sort a) - <<EOF\nx\nEOF"}]
    write_rule(tmp_path, "infiniband/a", confirm=steps)

    message = "'<pid>' is a redirection to a shell; write a {placeholder}, or say it in `do`"
    assert linted(tmp_path) == [f"confirm[0].run: {message}"]
