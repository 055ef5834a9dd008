"""`nccl-logscan show` shows a line that a report names, and what is made of it."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from nccl_logscan.explain.line import source_named, window_at

ROOT = Path(__file__).parents[2]
WARN = (
    "node-1:17:23 [3] misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"
)
LINES = [f"step {number}" for number in range(1, 21)]
LINES[9] = WARN


@pytest.fixture
def log(here):
    place = here / "a.log"
    place.write_text("\n".join(LINES) + "\n")
    return place


def marked(out):
    [line] = (line for line in out.splitlines() if line.startswith(">"))
    return line


def rules(out):
    _, _, below = out.partition("\nRule ")
    return [line.split()[0] for line in below.splitlines()]


def test_the_line_is_marked_among_those_around_it(run, log):
    told = run("show", f"{log}:10", "-C", "2")

    assert (told.code, told.err) == (0, "")
    assert told.out.splitlines()[:6] == [
        "   8 | step 8",
        "   9 | step 9",
        f"> 10 | {WARN}",
        "  11 | step 11",
        "  12 | step 12",
        "",
    ]


@pytest.mark.parametrize(("number", "first", "last"), [(1, "step 1", "step 4"), (20, "step 17", "step 20")])
def test_at_an_end_of_the_log_there_are_fewer_lines(run, log, number, first, last):
    shown = run("show", f"{log}:{number}", "-C", "3").out.partition("\n\n")[0].splitlines()

    assert (shown[0].split("| ")[1], shown[-1].split("| ")[1]) == (first, last)
    assert run("show", f"{log}:{number}", "-C", "0").out.splitlines()[1] == ""


def test_kind_fields_sayer_and_rule_are_told(run, log):
    out = run("show", f"{log}:10").out

    assert "Kind      nccl.warn  An explicit error of NCCL" in out
    assert "Who       host node-1 · GPU 3 · pid 17\n" in out
    assert "Fields    site.file = misc/ibvwrap.cc\n          site.line = 278\n" in out
    assert rules(out) == ["infiniband/memory-registration-denied"]
    assert "reason = Cannot allocate memory" in out


def test_a_line_that_no_rule_claims_is_said_to_be_none_though_others_beside_it_are(run, log):
    out = run("show", f"{log}:11").out

    assert "Rule      none claims this line by itself\n" in out


@pytest.mark.parametrize(
    ("name", "line", "rule"),
    [
        ("lab/timeout-dataloader/driver.log", 170, "collective_timeout/dump-signalled"),
        ("field/net007/trainer.log", 7, "infiniband/memory-registration-denied"),
        ("lab/ds-overflow/driver.log", 218, "mixed_precision_overflow/loss-scale-floor"),
    ],
)
def test_the_rules_are_those_of_the_report(run, name, line, rule):
    assert rule in rules(run("show", f"{ROOT}/fixtures/cases/{name}:{line}").out)


def test_what_a_rule_asks_for_beside_its_own_line_is_looked_for_beyond_the_lines_that_are_shown(run, here, failed):
    told_to_end = "slurmstepd: error: *** STEP 4711.0 ON node-1 CANCELLED AT 2026-11-30T05:41:00 ***\n"
    timed_out = failed.read_text("utf-8").splitlines(keepends=True)[164]
    (here / "with.log").write_text(timed_out + "x\n" * 50 + told_to_end)
    (here / "without.log").write_text("x\n" * 51 + told_to_end)

    rule = "collective_timeout/ended-after-timeout"
    assert rule in rules(run("show", "with.log:52", "-C0").out)
    assert rule not in rules(run("show", "without.log:52", "-C0").out)
    assert rule not in rules(run("show", "with.log:1", "-C0").out)


def test_what_a_detector_finds_by_the_line_among_others_is_told(run, failed):
    assert "collective_timeout/rank-behind" in rules(run("show", f"{failed}:164").out)


def test_rules_of_ones_own_claim_lines_too(run, here, log):
    rule = (ROOT / "rules/infiniband/memory-registration-denied.yaml").read_text("utf-8")
    (here / "own/infiniband").mkdir(parents=True)
    (here / "own/infiniband/mine.yaml").write_text(rule.replace("/memory-registration-denied", "/mine", 1))

    assert "infiniband/mine" in rules(run("show", f"{log}:10", "--rules", "own").out)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_packed_log_is_read(run, here, pack):
    (here / "a.log.packed").write_bytes(pack("\n".join(LINES).encode()))

    assert marked(run("show", "a.log.packed:10").out) == f"> 10 | {WARN}"


@pytest.mark.parametrize("form", ["tar", "tar.gz", "zip"])
def test_a_member_of_an_archive_is_named_as_a_scan_names_it(run, here, form):
    content = "\n".join(LINES).encode()
    if form == "zip":
        with zipfile.ZipFile(here / "logs.zip", "w") as archive:
            archive.writestr("other.log", "x\n")
            archive.writestr("b/a.log", content)
    else:
        with tarfile.open(here / f"logs.{form}", f"w:{form[4:]}") as archive:
            for name, data in (("other.log", b"x\n"), ("b/a.log", content)):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))

    assert marked(run("show", f"logs.{form}!b/a.log:10").out) == f"> 10 | {WARN}"
    wrong = run("show", f"logs.{form}!b/c.log:10")
    assert (wrong.code, wrong.err.splitlines()[0]) == (3, f"error: logs.{form} holds no file b/c.log")
    several = run("show", f"logs.{form}:10")
    assert several.code == 3
    assert f"logs.{form}!other.log:LINE" in several.err


def test_a_plain_file_has_no_members(run, log):
    assert run("show", f"{log}!b:1").code == 3


def test_a_name_may_hold_colons_and_exclamation_marks(run, here):
    (here / "2026-12-01T00:40:12!.log").write_text("one\ntwo\n")

    assert marked(run("show", "2026-12-01T00:40:12!.log:2").out) == "> 2 | two"


def test_standard_input_is_read(start):
    process = start("show", "-:10", "-C1", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, err = process.communicate("\n".join(LINES).encode(), timeout=60)

    assert (process.returncode, err) == (0, b"")
    assert marked(out.decode()) == f"> 10 | {WARN}"


@pytest.mark.parametrize(
    ("place", "code", "said"),
    [
        ("a.log:21", 3, "a.log has 20 lines and no line 21"),
        ("a.log:999999999999999999", 3, "a.log has 20 lines and no line"),
        ("one.log:2", 3, "one.log has 1 line and no line 2"),
        ("empty.log:1", 3, "empty.log is empty"),
        ("b.log:1", 3, "b.log does not exist"),
        ("a.log:0", 2, "lines count from 1"),
        ("a.log:" + "9" * 5000, 2, "there is no line 999999999999999999;"),
        ("a.log:-3", 2, "does not end in the number of a line"),
        ("a.log:ten", 2, "does not end in the number of a line"),
        ("a.log:²", 2, "does not end in the number of a line"),
        ("a.log:", 2, "does not end in the number of a line"),
        ("a.log", 2, "does not end in the number of a line"),
        (":3", 2, "does not end in the number of a line"),
        (f"{ROOT}/fixtures/cases/lab/timeout-dataloader/fr_0:1", 3, "which has no lines"),
    ],
)
@pytest.mark.usefixtures("log")
def test_a_place_that_is_not_there_is_told_in_one_line(run, here, place, code, said):
    (here / "one.log").write_text("x\n")
    (here / "empty.log").touch()

    told = run("show", place)

    assert (told.code, told.out) == (code, "")
    assert said in told.err
    assert told.err.startswith("error: ")


def test_a_line_cannot_act_on_the_terminal_or_a_runner(run, here):
    (here / "a.log").write_bytes(b"x\n::error::\x1b]0;title\x07 \xe2\x80\xae\xff##[group]\r\nx\n")

    out = run("show", "a.log:2").out

    assert marked(out) == "> 2 | : :error::^[]0;title^G <U+202E>\ufffd# #[group]"
    assert "\x1b" not in out


def test_secrets_are_taken_out_wherever_they_would_be_shown(run, here):
    token = "hf_" + "aB3" * 10
    (here / "a.log").write_text(
        f"using {token}\n"
        "node-1:17:23 [3] NCCL INFO NCCL_SITE_PASSWORD set by environment to tea4two.\n"
        f"node-1:17:23 [3] NCCL WARN Call to ibv_reg_mr failed with error {token}\n"
    )

    out = "".join(run("show", f"a.log:{number}").out for number in (1, 2, 3))

    assert token not in out
    assert "tea4two" not in out
    assert "[redacted]" in out


def test_long_lines_are_cut_the_marked_one_later_and_no_half_of_a_secret_is_left(run, here):
    (here / "a.log").write_text("\n".join(["a" * 300_000, "b" * 300_000, "c " + "token=" + "d4" * 20_000]))

    one, two, three = run("show", "a.log:2").out.splitlines()[:3]

    assert one == "  1 | " + "a" * 239 + "…"
    assert two == "> 2 | " + "b" * 1999 + "…"
    assert three == "  3 | c token=[redacted]"


def test_a_line_of_a_configuration_file_is_shown_and_not_taken_for_one_of_a_log(run):
    out = run("show", f"{ROOT}/fixtures/launch/dataloader-shard/train.py:19").out

    assert "init_process_group" in marked(out)
    assert "Kind      none: a configuration file" in out
    assert "Rule" not in out


def test_lines_of_a_traceback_tell_nothing_by_themselves(run, here):
    (here / "a.log").write_text(
        "Traceback (most recent call last):\n"
        '  File "train.py", line 3, in <module>\n'
        "    main()\n"
        "ValueError: no such thing\n"
    )

    assert "Kind      none: a line of a traceback" in run("show", "a.log:2").out
    assert "Kind      python.exception" in run("show", "a.log:4").out


def test_a_long_log_is_not_held(here):
    """Forty megabytes of log take less than half of that beyond what the program needs anyway."""
    program = (
        "import resource, sys; from nccl_logscan.cli import main; main(['show', sys.argv[1], '-C0']);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )

    def peak(repeats):
        place = here / f"{repeats}.log"
        place.write_text(f"{'y' * 99}\n" * repeats)
        words = [sys.executable, "-c", program, f"{place}:{repeats}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        told = subprocess.run(words, capture_output=True, text=True, check=True, cwd=here, env=environment, timeout=60)
        return int(told.stderr)

    assert peak(400_000) - peak(10_000) < 20_000


def test_of_very_long_lines_fewer_are_looked_at(here):
    (here / "a.log").write_text("".join(f"{'z' * 20_000} {number}\n" for number in range(1, 901)))

    window = window_at(source_named("a.log", None), 450)

    assert (window.marked.at.line, window.marked.text[-4:]) == (450, " 450")
    assert [line.at.line for line in window.lines] == list(range(450 - 255, 450 + 256))


@pytest.mark.parametrize("command", ["show", "demo"])
def test_a_shell_completes_the_commands(start, command):
    words = {"COMP_WORDS": f"nccl-logscan {command[:2]}", "COMP_CWORD": "1"}
    environment = {"_NCCL_LOGSCAN_COMPLETE": "bash_complete", **words}
    completing = "from nccl_logscan.cli import main; import sys; sys.argv[0] = 'nccl-logscan'; main([])"
    done = subprocess.run(
        [sys.executable, "-c", completing],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        timeout=60,
        check=False,
    )

    assert f"plain,{command}" in done.stdout.split()
    process = start(command, "--help", stdout=subprocess.PIPE)
    out = process.communicate(timeout=60)[0].decode()
    assert "Examples:" in out
    assert "Exit codes:" in out
