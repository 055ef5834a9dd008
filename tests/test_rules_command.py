from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from nccl_logscan.cli import main
from nccl_logscan.cli import rules as command

GALLERY = Path(__file__).parents[1] / "fixtures" / "broken-rules"


def write_rule(folder, rule_id, text):
    path = folder / f"{rule_id}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("infiniband/broken", rule_id), "utf-8")


@pytest.fixture(autouse=True)
def built_in(tmp_path, monkeypatch):
    """Two rules in place of the built-in ones: these tests are about the command."""
    folder = tmp_path / "rules"
    sound = (GALLERY / "sound.yaml").read_text("utf-8")
    write_rule(folder, "infiniband/retry-exceeded", sound)
    write_rule(folder, "roce_config/retry-exceeded", sound.replace("NET/IB", "NET/ROCE"))
    monkeypatch.setattr(command, "builtin_rules", lambda: folder)
    return folder


@pytest.fixture
def own_rules(tmp_path):
    """A site's folder with one sound rule."""
    folder = tmp_path / "own"
    write_rule(folder, "infiniband/broken", (GALLERY / "sound.yaml").read_text("utf-8").replace("NET/IB", "MY-NET"))
    return folder


def test_a_sound_rule_of_a_site_is_proved(own_rules, capsys):
    assert main(["rules", "check", "infiniband/broken", "--rules", str(own_rules)]) == 0
    assert capsys.readouterr().out == "1 rule and 2 examples hold\n"


def test_every_mistake_is_shown_and_the_exit_code_is_four(own_rules, capsys):
    shutil.copy(GALLERY / "several-mistakes" / "rule.yaml", own_rules / "infiniband" / "broken.yaml")

    assert main(["rules", "check", "infiniband/broken", "--rules", str(own_rules)]) == 4

    shown = capsys.readouterr().err
    assert "severity: should be fatal, degraded or notice, not 'bad'" in shown
    assert "error: 5 mistakes in the rules" in shown


def test_the_list_names_each_rule_once(own_rules, capsys):
    assert main(["rules", "list", "--rules", str(own_rules)]) == 0

    ids = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert ids == sorted(set(ids))
    assert "infiniband/broken" in ids


def test_the_list_of_one_category_as_json(own_rules, capsys):
    assert main(["rules", "list", "--format", "json", "--category", "infiniband", "--rules", str(own_rules)]) == 0

    rules = json.loads(capsys.readouterr().out)
    assert {rule["family"] for rule in rules} == {"network"}
    assert next(rule for rule in rules if rule["id"] == "infiniband/broken")["strength"] == 75


def test_a_rule_is_shown_with_what_to_do(own_rules, capsys):
    assert main(["rules", "show", "infiniband/broken", "--rules", str(own_rules)]) == 0

    shown = capsys.readouterr().out
    assert "A send was retried until the adapter gave up" in shown
    assert "- Replace the cable. (cluster-admin, fix)" in shown


def test_a_site_rule_cannot_act_on_the_terminal(own_rules, capsys):
    path = own_rules / "infiniband" / "broken.yaml"
    path.write_text(path.read_text("utf-8").replace("title: A send", r'title: "\e[31mA send"' + " #"), "utf-8")

    main(["rules", "show", "infiniband/broken", "--rules", str(own_rules)])
    main(["rules", "list", "--rules", str(own_rules)])

    assert "\x1b" not in capsys.readouterr().out


def test_a_rule_and_the_name_of_its_folder_begin_no_line_and_hold_no_command(tmp_path, capsys):
    folder = tmp_path / "a\n::stop-commands::x\n##vso[task.complete]"
    write_rule(folder, "infiniband/broken", (GALLERY / "sound.yaml").read_text("utf-8").replace("NET/IB", "MY-NET"))
    path = folder / "infiniband" / "broken.yaml"
    text = path.read_text("utf-8").replace(
        "title: A send", r'title: "\x9b31m \u202e ##[error] ::warning::A send"' + " #"
    )
    path.write_text(text.replace("run: ibstat", r'run: "a\n ::error::b"'), "utf-8")
    for words in (
        ["show", "infiniband/broken"],
        ["list"],
        ["list", "--format", "json"],
        ["check", "infiniband/broken"],
    ):
        main(["rules", *words, "--rules", str(folder)])
    path.write_text(text + "more: 1\n", "utf-8")
    main(["rules", "check", "infiniband/broken", "--rules", str(folder)])

    shown = "".join(capsys.readouterr())
    assert "more" in shown
    assert "31m" in shown
    assert not re.search(r"(?m)^\s*::\w|##\w*\[|[\x9b\u202e]", shown)


def test_a_misspelt_id_meets_a_suggestion(own_rules, capsys):
    assert main(["rules", "show", "infiniband/brokn", "--rules", str(own_rules)]) == 2
    assert "did you mean 'infiniband/broken'?" in capsys.readouterr().err


def test_docs_are_written_once_and_then_fresh(tmp_path):
    folder = tmp_path / "pages"

    assert main(["rules", "docs", str(folder), "--check"]) == 5
    assert main(["rules", "docs", str(folder)]) == 0
    assert main(["rules", "docs", str(folder), "--check"]) == 0

    assert (folder / "infiniband.md").read_text("utf-8").startswith("<!-- Made by `nccl-logscan rules docs`")


def test_docs_remove_their_own_old_pages_and_nothing_else(tmp_path, built_in):
    main(["rules", "docs", str(tmp_path)])
    (tmp_path / "mine.md").write_text("# Mine\n")
    shutil.rmtree(built_in / "roce_config")

    assert main(["rules", "docs", str(tmp_path)]) == 0

    assert sorted(page.name for page in tmp_path.glob("*.md")) == ["README.md", "infiniband.md", "mine.md"]
    assert (tmp_path / "mine.md").read_text() == "# Mine\n"


def test_docs_do_not_write_over_a_page_of_somebody_else(tmp_path, capsys):
    (tmp_path / "README.md").write_text("# Mine\n")

    assert main(["rules", "docs", str(tmp_path)]) == 5

    assert (tmp_path / "README.md").read_text() == "# Mine\n"
    assert "was not made by this command" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["schema", "compile"])
def test_a_generated_file_is_written_once_and_then_fresh(name):
    assert main(["rules", name, "--check"]) == 5
    assert main(["rules", name]) == 0
    assert main(["rules", name, "--check"]) == 0
