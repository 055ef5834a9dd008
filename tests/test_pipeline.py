"""How a scan goes over its inputs."""

from __future__ import annotations

import json

import pytest

from nccl_logscan.diagnosis.clocks import Clocks
from nccl_logscan.diagnosis.detectors import DETECTORS
from nccl_logscan.diagnosis.endings import Endings
from nccl_logscan.diagnosis.gpus import Gpus
from nccl_logscan.diagnosis.identity import Identity
from nccl_logscan.diagnosis.job import JobFacts
from nccl_logscan.diagnosis.timeline import Timeline
from nccl_logscan.diagnosis.training import Progress
from nccl_logscan.errors import InputError
from nccl_logscan.events.model import EVENT_TYPES
from nccl_logscan.pipeline import Options, Run, scan, scan_text
from nccl_logscan.rulebook.load import builtin_rulebook, load_rulebook
from nccl_logscan.sources import Limits

WARN = "n1:10:11 [0] misc/socket.cc:49 NCCL WARN {}\n"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n"
RULE = """\
id: user_code/{name}
title: {name}
role: {role}
severity: fatal
strength: 80
action: inspect
same_failure: []
blames: observer
explains: []
summary: "{name} happened"
match: {{event: {event}, wordings: [{{message: {name}}}]}}
what: x
why: x
confirm: [{{do: look}}]
remediation: [{{do: mend}}]
references: [{{title: x, url: "https://example.org"}}]
examples:
  hit: [{{name: x, source: x, log: x}}]
  miss: [{{name: x, log: y}}]
"""


@pytest.fixture
def book(tmp_path):
    """A rulebook of rules that each know one word in an event's message."""

    def make(*names, event="nccl.warn", role="cause"):
        folder = tmp_path / "rules"
        (folder / "user_code").mkdir(parents=True, exist_ok=True)
        for name in names:
            text = RULE.format(name=name, event=event, role=role)
            (folder / "user_code" / f"{name}.yaml").write_text(text)
        return load_rulebook([folder])

    return make


def by_name(result):
    return {finding.rule.id.partition("/")[2]: finding for finding in result.findings}


# --- Inputs ------------------------------------------------------------------------------------------------


def test_several_sources_are_read_in_the_order_given(book):
    texts = {"b": WARN.format("beta"), "a": WARN.format("alpha"), "c": WARN.format("gamma")}
    result = scan_text(texts, book("alpha", "beta", "gamma"))

    assert [finding.first.at.source for finding in result.findings] == ["b", "a", "c"]
    assert [source.name for source in result.inputs] == ["b", "a", "c"]


def test_lines_are_counted_in_each_source_from_one(book):
    texts = {"a": "x\n" + WARN.format("alpha"), "b": "x\ny\n" + WARN.format("beta")}
    result = scan_text(texts, book("alpha", "beta"))

    assert [str(finding.first.at) for finding in result.findings] == ["a:2", "b:3"]
    assert (result.coverage.lines, result.coverage.bytes) == (5, sum(map(len, texts.values())))


def test_what_one_source_leaves_open_does_not_run_on_into_the_next(book):
    head = 'Traceback (most recent call last):\n  File "/w/train.py", line 3, in <module>\n'
    result = scan_text({"a": head, "b": "KeyError: 'alpha'\n" + WARN.format("beta")}, book("beta"))

    assert result.coverage.by_kind["nccl.warn"] == 1
    assert by_name(result)["beta"].first.at.line == 2


def test_a_configuration_file_beside_a_log_is_named_and_not_read_as_a_log(tmp_path):
    (tmp_path / "job.log").write_text(OOM)
    (tmp_path / "ds_config.json").write_text('{"fp16": {"enabled": true}, "train_batch_size": 8}\n')
    result = scan([str(tmp_path / "job.log"), str(tmp_path / "ds_config.json")])

    assert {source.kind for source in result.inputs} == {"text", "config"}
    assert result.coverage.lines == 1
    [note] = [note for note in result.notes if "ds_config.json" in note]
    assert "configuration" in note


def test_an_input_that_was_skipped_is_noted(tmp_path):
    (tmp_path / "job.log").write_text(OOM)
    (tmp_path / "core").write_bytes(bytes(range(256)) * 64)
    result = scan([str(tmp_path / "job.log"), str(tmp_path / "core")])

    assert result.diagnosis.category == "gpu_oom"
    assert any("core" in note for note in result.notes)
    assert any(source.name.endswith("core") and source.note for source in result.inputs)


def test_progress_is_told_at_least_at_the_end_of_each_source(book):
    seen = []
    options = Options(progress=lambda source: seen.append((source.name, source.lines_read)))
    scan_text({"a": WARN.format("alpha") * 2, "b": WARN.format("alpha") * 3}, book("alpha"), options)

    assert seen == [("a", 2), ("b", 3)]


def test_progress_is_told_on_the_way_through_a_long_source(book):
    seen = []
    options = Options(progress=lambda source: seen.append(source.lines_read))
    scan_text(WARN.format("alpha") * 50_000, book("alpha"), options)

    assert len(seen) > 2
    assert seen == sorted(seen)
    assert seen[-1] == 50_000


# --- Nothing to judge --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("hello\nworld\n", "log has no line"),
        ({"a": "hello\n", "b": "world\n"}, "2 inputs have no line"),
    ],
)
def test_prose_is_nothing_to_judge(texts, words):
    with pytest.raises(InputError, match=words) as caught:
        scan_text(texts, builtin_rulebook())
    assert "NCCL_DEBUG" in caught.value.hint


def test_an_empty_input_is_said_to_be_empty(tmp_path):
    (tmp_path / "job.log").write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        scan([str(tmp_path / "job.log")])


def test_an_input_that_was_skipped_alone_says_why(tmp_path):
    (tmp_path / "core").write_bytes(bytes(range(256)) * 64)
    with pytest.raises(InputError, match="core"):
        scan([str(tmp_path / "core")])


def test_one_line_of_a_known_kind_is_enough_to_judge(book):
    assert scan_text("prose\n" + WARN.format("strange"), book("alpha")).diagnosis.category == "unknown"


# --- Counting ----------------------------------------------------------------------------------------------


def test_two_identical_storms_count_every_line(book):
    storm = WARN.format("alpha") * 1000
    result = scan_text(storm + "between\n" + storm, book("alpha"))
    [finding] = result.findings

    assert finding.count == 2000
    assert (finding.first.at.line, finding.last.at.line) == (1, 2001)
    assert result.coverage.by_kind["nccl.warn"] == 2000


def test_the_same_storm_in_two_files_counts_in_both(book):
    storm = WARN.format("alpha") * 1000
    [finding] = scan_text({"a": storm, "b": storm}, book("alpha")).findings

    assert finding.count == 2000
    assert (str(finding.first.at), str(finding.last.at)) == ("a:1", "b:1000")


def test_storms_that_take_turns_count_each_for_itself(book):
    log = (WARN.format("alpha") + WARN.format("beta")) * 500
    found = by_name(scan_text(log, book("alpha", "beta")))

    assert (found["alpha"].count, found["beta"].count) == (500, 500)
    assert (found["alpha"].last.at.line, found["beta"].last.at.line) == (999, 1000)


def test_a_line_that_two_rules_know_counts_for_both(book):
    found = by_name(scan_text(WARN.format("alpha beta") * 7, book("alpha", "beta")))

    assert (found["alpha"].count, found["beta"].count) == (7, 7)


def test_a_line_that_ray_folded_counts_as_often_as_ray_says(book):
    line = "(RayTrainWorker pid=1234, ip=10.0.0.1) {}"
    folded = line.format(WARN.format("alpha").rstrip()) + " [repeated 5x across cluster]\n"
    [finding] = scan_text(line.format(WARN.format("beta")) + folded, book("alpha")).findings

    assert finding.count == 5


def test_a_folded_line_that_comes_again_counts_each_time_as_many(book):
    warning = WARN.format("alpha").rstrip()
    folded = f"(RayTrainWorker pid=1234, ip=10.0.0.1) {warning} [repeated 5x across cluster]\n"
    [finding] = scan_text(folded * 3, book("alpha")).findings

    assert finding.count == 15


# --- Who sees what -----------------------------------------------------------------------------------------

LISTENERS = (Identity, Gpus, Endings, Clocks, JobFacts, Timeline, Progress, *DETECTORS)


@pytest.mark.parametrize("listener", LISTENERS, ids=lambda listener: listener.__name__)
def test_a_listener_asks_only_for_kinds_that_there_are(listener):
    assert set(listener.kinds) <= EVENT_TYPES.keys()


@pytest.mark.parametrize("kind", EVENT_TYPES)
def test_an_event_goes_to_those_who_asked_for_its_kind_and_to_those_who_asked_for_all(kind):
    run = Run(builtin_rulebook())
    asked = {type(one) for one in run.listeners(kind)}

    assert asked == {listener for listener in LISTENERS if kind in listener.kinds or not listener.kinds}


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("nccl.warn", WARN.format("alpha")),
        ("nccl.info", "n1:10:11 [0] NCCL INFO alpha\n"),
        ("nccl.version", "NCCL version 2.21.5-alpha+cuda12.4\n"),
        ("nccl.env", "n1:10:11 [0] NCCL INFO NCCL_ALPHA set by environment to alpha.\n"),
        ("python.exception", "ValueError: alpha\n"),
        ("log.text", WARN.format("x") + "alpha\n"),
        ("train.end", "training finished: alpha\n"),
        ("process.signal", "Fatal Python error: alpha\n"),
        ("slurm.event", "slurmstepd: error: alpha\n"),
        ("kernel.event", "[  123.456789] NVRM: alpha\n"),
        ("torch.c10", "[W1130 05:40:53.502925148 alpha.cpp:689] alpha\n"),
        ("mpi.event", "[n7:4242] UCX  ERROR alpha\n"),
        ("ray.event", "The actor died unexpectedly alpha\n"),
        ("jax.event", "E1130 05:40:53.502925 1 xla/service/a.cc:1] alpha\n"),
        ("horovod.event", "Missing ranks: 3 alpha\n"),
        ("kubernetes.event", "Back-off restarting failed container alpha in pod x\n"),
        ("cuda.error", "CUDA error: alpha\n"),
        ("scaler.overflow", "Gradient overflow. Skipping step, loss scaler alpha reducing loss scale to 1.0\n"),
    ],
)
def test_a_rule_sees_the_events_of_its_kind(book, kind, line):
    [finding] = scan_text(line, book("alpha", event=kind)).findings

    assert (finding.kind, finding.count) == (kind, 1)


@pytest.mark.parametrize("rounds", [2, 5])
def test_a_scan_does_not_know_of_the_one_before(book, rounds):
    rules = book("alpha")
    counts = {scan_text(WARN.format("alpha") * 3, rules).findings[0].count for _ in range(rounds)}

    assert counts == {3}


def _call(number: int, state: str) -> dict[str, object]:
    return {
        "record_id": number,
        "pg_id": 0,
        "process_group": ["0", "default_pg"],
        "collective_seq_id": number,
        "profiling_name": "nccl:all_reduce",
        "time_created_ns": (1_772_323_200 + number) * 10**9,  # 2026-03-01 00:00 UTC
        "state": state,
        "is_p2p": False,
    }


def _dumps(late: int) -> dict[str, str]:
    """The dumps of four ranks, of which one did not come to call 11."""
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2, 3]"}}
    done, waiting = [_call(number, "completed") for number in range(1, 11)], [_call(11, "scheduled")]
    return {
        f"fr_{rank}": json.dumps(
            {"version": "2.10", "pg_config": config, "entries": done if rank == late else done + waiting}
        )
        for rank in range(4)
    }


def _timed_out(rank: int) -> str:
    return (
        f"[rank{rank}]:[E301 00:10:11.000000000 ProcessGroupNCCL.cpp:616] [Rank {rank}] Watchdog caught collective "
        "operation timeout: WorkNCCL(SeqNum=11, OpType=ALLREDUCE, NumelIn=64, NumelOut=64, Timeout(ms)=600000) "
        "ran for 600029 milliseconds before timing out.\n"
    )


def test_a_rank_whose_own_line_says_that_it_waited_is_not_accused_by_its_dump():
    alone = scan_text(_dumps(late=2), builtin_rulebook())
    assert alone.diagnosis.culprit.rank == 2
    logs = {f"rank{rank}.log": _timed_out(rank) if rank != 1 else "[rank1]: alive\n" for rank in range(4)}
    both = scan_text({**logs, **_dumps(late=2)}, builtin_rulebook())
    assert both.diagnosis.culprit.rank is None
    assert "The dumps lack the call" in " ".join(both.diagnosis.reasons)


@pytest.mark.parametrize(("day", "culprit"), [(1, 2), (5, None)])
def test_a_hang_of_days_before_the_last_step_is_none_of_this_run(day, culprit):
    steps = "".join(f"[2026-03-{day:02} 0{hour}:00:00] step {hour} loss {2 - hour / 10}\n" for hour in range(9))
    result = scan_text({"train.log": steps, **_dumps(late=2)}, builtin_rulebook())
    assert result.diagnosis.culprit.rank == culprit


def test_of_two_attempts_the_last_one_s_dumps_count():
    attempts = {f"attempt_{late}/{name}": text for late in (0, 1) for name, text in _dumps(late + 1).items()}
    assert scan_text(attempts, builtin_rulebook()).diagnosis.culprit.rank == 2


SCRIPT = "#!/bin/bash\nexport NCCL_SOCKET_IFNAME=ib9\nexport NCCL_TIMEOUT=1800\nsrun torchrun train.py\n"
NO_INTERFACE = WARN.format("Bootstrap : no socket interface found")


def test_a_script_beside_the_log_is_an_input_and_shows_the_line(tmp_path):
    (tmp_path / "job.log").write_text(NO_INTERFACE)
    (tmp_path / "train.sh").write_text(SCRIPT)
    result = scan([str(tmp_path / "job.log")])

    assert [(source.name, source.kind, source.lines) for source in result.inputs] == [
        (str(tmp_path / "job.log"), "text", 1),
        (str(tmp_path / "train.sh"), "config", 4),
    ]
    step = result.plan[0]
    assert (step.setting, step.present) == ("NCCL_SOCKET_IFNAME", "ib9")
    assert (step.where.source, step.where.line) == (str(tmp_path / "train.sh"), 2)
    assert result.coverage.bytes == len(NO_INTERFACE)


def test_files_beside_a_log_change_no_verdict_and_may_be_left_alone(tmp_path):
    (tmp_path / "job.log").write_text(NO_INTERFACE)
    (tmp_path / "train.sh").write_text(SCRIPT + "# " + OOM)
    looked = scan([str(tmp_path / "job.log")])
    alone = scan([str(tmp_path / "job.log")], options=Options(looks_beside=False))

    assert looked.diagnosis == alone.diagnosis
    assert looked.findings == alone.findings
    assert len(alone.inputs) == 1


def test_a_file_that_sets_nothing_is_not_named(tmp_path):
    (tmp_path / "job.log").write_text(NO_INTERFACE)
    (tmp_path / "case.yaml").write_text("id: x\nfix: set NCCL_SOCKET_IFNAME=eth0\n")
    (tmp_path / "clean.sh").write_text("#!/bin/sh\nrm -f *.tmp\n")

    assert len(scan([str(tmp_path / "job.log")]).inputs) == 1


def test_a_file_that_is_named_is_read_from_anywhere(tmp_path):
    (tmp_path / "job.log").write_text(NO_INTERFACE)
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "train.sh").write_text(SCRIPT)
    given = str(tmp_path / "conf" / "train.sh")
    result = scan([str(tmp_path / "job.log")], options=Options(configs=(given,)))

    assert result.inputs[-1].name == given
    assert result.plan[0].where.source == given


def test_a_script_in_the_folder_that_is_scanned_is_read(tmp_path):
    (tmp_path / "job.log").write_text(NO_INTERFACE)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "train.sh").write_text(SCRIPT)
    result = scan([str(tmp_path)])

    assert result.plan[0].where.source == str(tmp_path / "deeper" / "train.sh")


def test_what_is_wrong_in_files_and_log_is_judged(tmp_path):
    shown = "n1:10:11 [0] NCCL INFO NCCL_BUFFSIZE set by environment to 65536.\n"
    (tmp_path / "job.log").write_text(shown + NO_INTERFACE)
    (tmp_path / "train.sh").write_text(SCRIPT)
    result = scan([str(tmp_path / "job.log")])
    judged = {setting.remark.name: setting for setting in result.judged}

    assert judged["NCCL_TIMEOUT"].remark.at.line == 3
    assert "-export NCCL_TIMEOUT=1800\n" in judged["NCCL_TIMEOUT"].diff
    assert judged["NCCL_BUFFSIZE"].remark.at.source == str(tmp_path / "job.log")
    assert judged["NCCL_BUFFSIZE"].diff is None


def test_a_configuration_that_is_too_long_is_told_and_no_half_of_it_is_taken(tmp_path):
    (tmp_path / "job.log").write_text(NO_INTERFACE)
    (tmp_path / "train.sh").write_text(SCRIPT)
    given = str(tmp_path / "train.sh")
    options = Options(limits=Limits(config_bytes=40), configs=(given,))
    result = scan([str(tmp_path / "job.log")], options=options)

    assert result.plan[0].where is None
    assert [note for note in result.notes if "longer than the 40 bytes" in note]
    assert result.inputs[-1].note


LABEL = "id: x\nwhat_happened: NCCL_SOCKET_IFNAME names no interface\nenvironment:\n  NCCL_SOCKET_IFNAME: ib9\n"


@pytest.mark.parametrize("given", [["job.log"], ["."], ["job.log", "case.yaml"]])
def test_advice_points_to_no_label_or_note(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.log").write_text(NO_INTERFACE)
    (tmp_path / "case.yaml").write_text(LABEL)

    result = scan(given)
    assert [step.where for step in result.plan if step.where] == []
    assert result.judged == ()
    named = scan(given, options=Options(configs=("case.yaml",)))
    assert named.plan[0].where.source == "case.yaml"


def test_a_log_named_as_configuration_stays_a_log(tmp_path):
    log = tmp_path / "job.log"
    log.write_text(NO_INTERFACE)
    result = scan([str(log)], options=Options(configs=(str(log),)))

    assert [(source.kind, source.lines) for source in result.inputs] == [("text", 1)]
    assert [note for note in result.notes if "one of the logs" in note]


def test_a_named_file_of_no_known_kind_is_told(tmp_path):
    (tmp_path / "job.log").write_text(NO_INTERFACE)
    (tmp_path / "launch").write_bytes(b"\x7fELF\x02\x01" + bytes(99))
    result = scan([str(tmp_path / "job.log")], options=Options(configs=(str(tmp_path / "launch"),)))

    assert [note for note in result.notes if "of no kind of configuration file" in note]


def test_a_diff_is_for_git_in_the_folder_where_the_scan_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.log").write_text(NO_INTERFACE)
    (tmp_path / "train.sh").write_text(SCRIPT)
    for name in ("train.sh", "./train.sh", str(tmp_path / "train.sh")):
        result = scan(["job.log"], options=Options(configs=(name,)))
        [diff, *_] = [step.diff for step in result.plan if step.diff]
        assert diff.startswith("--- a/train.sh\n")
