"""`nccl-logscan rules suggest`: what no rule knows becomes rules."""

from __future__ import annotations

import io
import re
import sys

import pytest
import yaml

LOG = """\
node-1:2311:2401 [3] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>
node-1:2311:2401 [3] transport/net_x.cc:98 NCCL WARN NET/X : Frobnicated [queue] of peer 10.0.0.3<40211>, {code} 12
node-1:2311:2402 [4] transport/net_x.cc:98 NCCL WARN NET/X : Frobnicated [queue] of peer 10.0.0.4<40212>, {code} 15
node-1:2311:2402 [4] transport/net_x.cc:12 NCCL WARN NET/X : the wobble is "off"
"""
FILLED = {
    "what:": "what: It broke.",
    "why:": "why: It is old.",
    "references: []": "references: [{title: Its manual, url: 'https://example.org'}]",
}


@pytest.fixture
def log(here):
    path = here / "train.log"
    path.write_text(LOG)
    return path


def completed(text, category):
    """Return a draft as it is once a person has said all that is marked."""
    lines = (line.partition("  # say: ") for line in text.split("\n"))
    said = (FILLED.get(written, written) if marked else written for written, marked, _ in lines)
    return "\n".join(said).replace("id: unsorted/", f"id: {category}/")


def test_drafts_are_printed_as_a_stream_of_yaml(run, log):
    done = run("rules", "suggest", log)

    first, second = yaml.safe_load_all(done.out)
    assert (done.code, done.err) == (0, "")
    assert first["id"] == "unsorted/net-x-frobnicated-queue-of-peer-code"
    assert first["match"]["event"] == "nccl.warn"
    assert first["examples"]["hit"][0]["log"] == LOG.split("\n")[1] + "\n"
    assert second["id"] == "unsorted/net-x-the-wobble-is-off"


def test_a_draft_lacks_what_only_a_person_knows_and_passes_once_that_is_said(run, log, here):
    written = run("rules", "suggest", log, "-o", "drafts")
    assert written.out == (
        "drafts/unsorted/net-x-frobnicated-queue-of-peer-code.yaml\ndrafts/unsorted/net-x-the-wobble-is-off.yaml\n"
    )

    before = run("rules", "check", "unsorted/*", "--rules", "drafts")
    complained = re.findall(r"(?m)^drafts/unsorted/\S+\.yaml:\d+:\d+: (\S+):", before.err)
    assert before.code == 4
    assert complained == ["what", "why"] * 2
    assert before.err.count("# say: ") == 4

    for path in sorted((here / "drafts" / "unsorted").iterdir()):
        place = here / "own" / "infiniband" / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(completed(path.read_text("utf-8"), "infiniband"), "utf-8")
    after = run("rules", "check", "infiniband/net-x-*", "--rules", "own")
    assert (after.code, after.out) == (0, "2 rules and 4 examples hold\n"), after.err

    again = run("rules", "suggest", log, "--rules", "own")
    assert (again.code, again.out) == (0, "")
    assert again.err.startswith("no warning or error is unclaimed")


def test_a_file_that_is_there_is_not_replaced_and_nothing_is_written(run, log, here):
    there = here / "drafts" / "unsorted" / "net-x-the-wobble-is-off.yaml"
    there.parent.mkdir(parents=True)
    there.write_text("mine")

    done = run("rules", "suggest", log, "-o", "drafts")

    assert done.code == 5
    assert "net-x-the-wobble-is-off.yaml would be replaced; nothing was written" in done.err
    assert "help: move what is there away" in done.err
    assert [path.read_text() for path in there.parent.iterdir()] == ["mine"]


def test_a_folder_that_cannot_be_made_is_told(run, log, here):
    (here / "drafts").mkdir()
    (here / "drafts" / "unsorted").write_text("a file")

    done = run("rules", "suggest", log, "-o", "drafts")

    assert done.code == 5
    assert "cannot make the folder drafts/unsorted" in done.err


def test_what_is_left_out_is_counted(run, log):
    assert run("rules", "suggest", log, "--limit", "1").err == "1 group left out: 1 further than --limit 1\n"

    few = run("rules", "suggest", log, "--least", "3")
    assert (few.code, few.out, few.err) == (0, "", "2 groups left out: 2 of fewer lines than --least 3\n")


def test_a_log_that_is_not_there_is_the_usual_error(run):
    done = run("rules", "suggest", "no.log")

    assert done.code == 3
    assert done.err.startswith("error: ")


def test_standard_input_is_drafted_with_a_written_near_miss(run, monkeypatch):
    line = LOG.split("\n")[3]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{line}\n".encode())))

    [drafted] = yaml.safe_load_all(run("rules", "suggest", "-").out)

    assert drafted["examples"]["hit"][0]["source"] == "from standard input, line 1"
    assert drafted["examples"]["miss"][0]["source"].startswith("written after the wording of")


def test_a_log_of_one_kind_gives_a_healthy_line_as_the_near_miss(run, here):
    lines = LOG.split("\n")
    (here / "one.log").write_text(f"{lines[0]}\n{lines[3]}\n")

    [drafted] = yaml.safe_load_all(run("rules", "suggest", "one.log").out)

    assert drafted["examples"]["miss"][0]["log"] == lines[0] + "\n"
    assert drafted["examples"]["miss"][0]["source"] == "from one.log, line 1"


def test_what_a_hostile_line_holds_is_no_yaml_and_acts_on_no_terminal(run, here):
    hostile = 'x: {y} \x1b[31m "z" \u202e # - !!python/object *a &b \t ##[error] ' + "long " * 2000
    (here / "bad.log").write_text(f"node-1:1:1 [0] misc/socket.cc:49 NCCL WARN {hostile}\n", "utf-8")

    done = run("rules", "suggest", "bad.log")

    [drafted] = yaml.safe_load_all(done.out)
    held = drafted["examples"]["hit"][0]["log"]
    assert held.startswith(f"node-1:1:1 [0] misc/socket.cc:49 NCCL WARN {hostile[:500]}")
    assert "".join(done.out.split("\n")).isprintable()
    assert "##[" not in done.out
