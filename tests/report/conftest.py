"""Scan results built by hand: a failed job with every field filled, a healthy one, an unclear one, a hostile one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
import regex

from nccl_logscan.diagnosis.findings import Evidence, Finding
from nccl_logscan.diagnosis.verdict import (
    Alternative,
    Cited,
    Communicator,
    Coverage,
    Culprit,
    Diagnosis,
    Difference,
    Job,
    JudgedSetting,
    PlannedStep,
    RankStanding,
    ScannedInput,
    ScanResult,
    Setting,
    TimelineEntry,
    UnclaimedGroup,
)
from nccl_logscan.lint.model import Check, Remark
from nccl_logscan.lint.model import Severity as LintSeverity
from nccl_logscan.position import Instant, Origin, Position, Span
from nccl_logscan.rulebook.rule import Matcher, Pattern, Reference, Rule, Wording
from nccl_logscan.taxonomy import Action, Basis, Category, Level, Role, Severity

START = datetime(2026, 3, 14, 2, 11, 7)
LOG = "logs/train-7431.log"
WARNING = (
    "node-17:2311:2401 [3] transport/net_ib.cc:1298 NCCL WARN NET/IB : Got completion from peer 10.0.0.24<40211> "
    "with status=12 opcode=0 len=0 vendor err 129 (Send) localGid fe80::1 remoteGid fe80::2"
)
TIMEOUT = (
    "[Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=48213, OpType=ALLREDUCE, "
    "NumelIn=26214400, NumelOut=26214400, Timeout(ms)=600000) ran for 600023 milliseconds before timing out."
)
DIFF = (
    "--- a/train.sbatch\n+++ b/train.sbatch\n@@ -11,3 +11,3 @@\n #SBATCH --nodes=16\n"
    "-export NCCL_IB_TIMEOUT=20 # <site>\n+export NCCL_IB_TIMEOUT=22 # <site>\n srun python train.py\n"
)


def make_rule(name: str, category: Category, role: Role, **changes: Any) -> Rule:
    pattern = Pattern(name, regex.compile(regex.escape(name)))
    rule = Rule(
        id=name,
        title=f"Title of {name}",
        category=category,
        role=role,
        severity=Severity.FATAL if role in {Role.CAUSE, Role.SYMPTOM} else Severity.NOTICE,
        strength=75,
        match=Matcher(events=("nccl.warn",), wordings=(Wording(pattern),)),
        same_failure=(),
        explains=(),
        blames="observer",
        action=Action.RESTART_WITHOUT_NODE,
        summary="",
        what="An InfiniBand send was repeated until the adapter gave up; the queue pair is in error from then on.",
        why="A cable, a transceiver or a port on the way lost packets for longer than the retries last.",
        confirm=(),
        remediation=(),
        references=(
            Reference(
                "NCCL environment variables", "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
            ),
        ),
        hits=(),
        misses=(),
        formerly=(),
        defined_at="rules/x.yaml:1",
    )
    return dataclasses.replace(rule, **changes)


def make_evidence(line: int, text: str, **changes: Any) -> Evidence:
    evidence = Evidence(
        at=Position(LOG, line, line * 180),
        text=text,
        origin=Origin(host="node-17", rank=11, pid=2311, device=3),
        when=Instant(START + timedelta(seconds=line / 100), "node-17"),
    )
    return dataclasses.replace(evidence, **changes)


def make_finding(rule: Rule, line: int, text: str, **changes: Any) -> Finding:
    evidence = make_evidence(line, text)
    finding = Finding(
        rule=rule,
        kind="nccl.warn",
        key=(),
        captures={},
        count=1,
        ranks=(11,),
        hosts=("node-17",),
        samples=(evidence,),
        last=evidence,
        order=line,
        last_order=line,
    )
    return dataclasses.replace(finding, **changes)


def make_step(name: str, title: str, **changes: Any) -> PlannedStep:
    step = PlannedStep(
        id=name,
        title=title,
        kind="host_command",
        setting=None,
        to=None,
        command=None,
        owner="user",
        effect="inspect",
        on=None,
        why="",
        risk=None,
        do_not=False,
        since=None,
        until=None,
        source=None,
        because="infiniband/retry-exceeded",
    )
    return dataclasses.replace(step, **changes)


def _steps() -> tuple[PlannedStep, ...]:
    return (
        make_step(
            "infiniband/retry-exceeded/1",
            "Look at link state and error counters on both ends.",
            command="ibstat mlx5_3\nperfquery -x --Ca mlx5_3 1",
            on="both ends",
            owner="cluster-admin",
            why="Symbol errors or link-downed counts that grow mean a bad cable or port.",
        ),
        make_step(
            "infiniband/retry-exceeded/2",
            "Restart from the last checkpoint without node-17.",
            effect="fix",
            command="sbatch --exclude=node-17 train.sbatch",
            why="The other 15 nodes showed no fault of their own.",
        ),
        make_step(
            "infiniband/retry-exceeded/3",
            "Ride out short stalls with a longer time-out; it hides a bad link.",
            kind="env",
            setting="NCCL_IB_TIMEOUT",
            to="22",
            command="export NCCL_IB_TIMEOUT=22",
            effect="workaround",
            why="The adapter waits 4.096 µs * 2^22 for each acknowledgement.",
            risk="A dead peer is noticed later.",
            since="2.4",
            source="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
            present="20",
            where=Position("train.sbatch", 12, 300),
            diff=DIFF,
        ),
        make_step(
            "infiniband/retry-exceeded/4",
            "Raise the PyTorch time-out.",
            do_not=True,
            why="The link stays broken and the job hangs for longer.",
        ),
    )


def _standing(rank: int, enqueued: int, waits_in: str | None, text: str) -> RankStanding:
    host = f"node-{rank // 8}"
    last = TimelineEntry(Instant(START, host), rank, host, "last words", text, Position(LOG, 60_990, 0))
    waits_at = enqueued if waits_in else None
    return RankStanding(rank, host, "0", enqueued, 4117, waits_in, waits_at, recorded=True, last_words=last)


@pytest.fixture
def sample_result() -> ScanResult:
    cause_rule = make_rule("infiniband/retry-exceeded", Category.INFINIBAND, Role.CAUSE)
    echo_rule = make_rule("collective_timeout/watchdog-timeout", Category.COLLECTIVE_TIMEOUT, Role.SYMPTOM)
    end_rule = make_rule("process_death/sigterm-by-agent", Category.PROCESS_DEATH, Role.ECHO)
    benign_rule = make_rule("none/no-plugin", Category.NONE, Role.BENIGN)
    decisive = make_evidence(
        41_877,
        WARNING,
        highlight=Span(63, 130),
        before=("step 48212 | loss 2.1734 | grad norm 0.412", "step 48213 | loss 2.1729 | grad norm 0.409"),
        after=("node-17:2311:2401 [3] NCCL INFO transport/net.cc:1034 -> 6",),
    )
    cause = make_finding(
        cause_rule,
        41_877,
        WARNING,
        captures={"peer": "10.0.0.24<40211>", "adapter": "mlx5_3", "status": "12"},
        samples=(decisive,),
        last=decisive,
    )
    echo = make_finding(
        echo_rule, 60_012, TIMEOUT.format(rank=4), count=127, ranks=tuple(r for r in range(128) if r != 11)
    )
    end = make_finding(end_rule, 60_950, "Sending process 2298 closing signal SIGTERM", count=120, ranks=())
    benign = make_finding(benign_rule, 12, "NET/Plugin: No plugin found (libnccl-net.so)", count=128)
    return ScanResult(
        diagnosis=Diagnosis(
            category=Category.INFINIBAND,
            basis=Basis.RULE,
            level=Level.ESTABLISHED,
            confidence=0.93,
            headline="Rank 11 on node-17 could not reach 10.0.0.24<40211> through mlx5_3: retries exhausted.",
            reasons=(
                "The completion error came 600 seconds before the first watchdog time-out, on one clock.",
                "Completion status 12 means that the peer's adapter stopped acknowledging.",
                "127 other ranks report nothing but waiting for rank 11.",
            ),
            culprit=Culprit(11, "node-17", 2311, 3, "mlx5_3", "10.0.0.24<40211>", "default"),
            evidence=(
                Cited(decisive, "cause"),
                Cited(make_evidence(60_012, TIMEOUT.format(rank=4)), "symptom"),
                Cited(make_evidence(31, "node-17:2311:2311 [3] NCCL INFO Using network IB"), "context"),
            ),
            action=Action.RESTART_WITHOUT_NODE,
            finding=cause,
            consequences=(echo, end),
            alternatives=(Alternative(Category.ROCE_CONFIG, 0.04, "Status 12 is also what a wrong GID index gives."),),
            unknowns=("Which of the two ends lost the packets: the log of 10.0.0.24 was not given.",),
        ),
        findings=(benign, cause, echo, end),
        plan=_steps(),
        timeline=(
            *(
                TimelineEntry(
                    Instant(START + timedelta(seconds=second), "node-17"),
                    rank,
                    f"node-{rank // 8}",
                    kind,
                    text,
                    Position(LOG, line, line),
                )
                for second, rank, kind, text, line in (
                    (0, 0, "communicator complete", "Init COMPLETE", 900),
                    (400, 11, "infiniband/retry-exceeded", WARNING, 41_877),
                    (1000, 4, "collective_timeout/watchdog-timeout", TIMEOUT.format(rank=4), 60_012),
                    (1001, 5, "collective_timeout/watchdog-timeout", TIMEOUT.format(rank=5), 60_013),
                    (1030, 0, "exit", "exitcode: -6 (pid: 2298)", 60_990),
                )
            ),
            TimelineEntry(
                None,
                None,
                None,
                "process_death/sigterm-by-agent",
                "Sending process 2298 closing signal SIGTERM",
                Position(LOG, 60_950, 0),
            ),
        ),
        standings=(
            _standing(4, 4118, "ALLREDUCE", TIMEOUT.format(rank=4)),
            _standing(11, 4117, None, WARNING),
            RankStanding(126, None, None, None, None, None, None, recorded=False, last_words=None),
        ),
        job=Job(
            nccl_versions=("2.27.5+cuda12.9",),
            torch_versions=("2.9.0+cu129",),
            cuda_driver=("12.9",),
            world_size=128,
            hosts=tuple(f"node-{n}" for n in range(16)),
            ranks_seen=tuple(range(126)),
            ranks_silent=(126, 127),
            communicators=(Communicator("0x9f2c1a", 128, tuple(range(128)), tuple(range(126))),),
            network=("IB mlx5_0:1/IB mlx5_3:1/IB",),
            topology={"nvlink": "NV18"},
            settings=(
                Setting("NCCL_IB_TIMEOUT", "20", "environment", Position(LOG, 44, 4400)),
                Setting("NCCL_DEBUG", "INFO", "environment", Position(LOG, 45, 4500)),
                Setting("HF_TOKEN", "hf_abcdefghij0123456789", "environment", Position(LOG, 46, 4600)),
            ),
            differences=(
                Difference(
                    "GPU driver", {"570.86.15": ("node-17",), "575.51.03": tuple(f"node-{n}" for n in range(15))}
                ),
            ),
        ),
        coverage=Coverage(61_004, 11_204_991, {"nccl.warn": 2, "log.text": 60_000}, 1, 3, 0, 1.25, 80_000_000),
        unclaimed=(
            UnclaimedGroup(
                "NET/X : strange thing <n>",
                4,
                Position(LOG, 500, 5000),
                "NET/X : strange thing 5",
                "nccl.warn",
                "n1:10:11 [0] NCCL WARN NET/X : strange thing 5",
            ),
        ),
        inputs=(ScannedInput(LOG, "text", 11_204_991, 61_004, None),),
        notes=("The last line has no line end: the log may have been cut.",),
        rulebook_digest="ab" * 32,
        rules_used={rule.id: rule for rule in (cause_rule, echo_rule, end_rule, benign_rule)},
        judged=(
            JudgedSetting(
                Remark(
                    check=Check.READ_BY_NOTHING,
                    severity=LintSeverity.ERROR,
                    name="NCCL_TIMEOUT",
                    value="1800",
                    at=Position("train.sbatch", 13, 340),
                    column=8,
                    end_column=20,
                    problem="No version of NCCL or PyTorch reads it.",
                    advice="Take it out.",
                    source="https://github.com/NVIDIA/nccl",
                ),
                "--- a/train.sbatch\n+++ b/train.sbatch\n@@ -13 +12,0 @@\n-export NCCL_TIMEOUT=1800\n",
            ),
            JudgedSetting(
                Remark(
                    check=Check.LEFTOVER,
                    severity=LintSeverity.NOTE,
                    name="HF_TOKEN",
                    value="hf_abcdefghij0123456789",
                    at=Position(LOG, 46, 4600),
                    column=1,
                    end_column=1,
                    problem="It stands in the log.",
                    advice="Draw a new one.",
                    source="https://huggingface.co/docs",
                )
            ),
        ),
    )


def _without_finding(result: ScanResult, category: Category, headline: str, confidence: float) -> ScanResult:
    diagnosis = dataclasses.replace(
        result.diagnosis,
        category=category,
        basis=Basis.NONE,
        level=Level.NONE,
        confidence=confidence,
        headline=headline,
        reasons=(),
        culprit=Culprit(),
        evidence=(),
        action=Action.NONE if category is Category.NONE else Action.INSPECT,
        finding=None,
        consequences=(),
        alternatives=(),
        unknowns=(),
    )
    return dataclasses.replace(result, diagnosis=diagnosis)


@pytest.fixture
def healthy_result(sample_result: ScanResult) -> ScanResult:
    calm = _without_finding(sample_result, Category.NONE, "Nothing failed: 1,000 steps and a regular end.", 0.97)
    return dataclasses.replace(
        calm,
        findings=(),
        plan=(),
        timeline=(),
        standings=(),
        job=Job(),
        coverage=Coverage(0, 0, {}, 0, 0, 0, 0.0, 0),
        unclaimed=(),
        inputs=(),
        notes=(),
        rules_used={},
    )


@pytest.fixture
def unknown_result(sample_result: ScanResult) -> ScanResult:
    unclear = _without_finding(sample_result, Category.UNKNOWN, "Something failed; the log does not say what.", 0.4)
    diagnosis = dataclasses.replace(
        unclear.diagnosis, unknowns=("The log ends in mid-step without an error.", "No rank says why it left.")
    )
    return dataclasses.replace(unclear, diagnosis=diagnosis, plan=(), findings=unclear.findings[:1])


NASTY = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(2)> {{ 7*7 }} {% raw %} \x1b[31m\x1b]0;pwned\x07 "
    "\u202egnp.exe \n::error::owned ##[add-mask]x \x9b5m \u2028 \ud800 [bold red]not markup[/] "
    ":boom: javascript:alert(3) \x00 &lt; "
)


@pytest.fixture
def huge_result(sample_result: ScanResult) -> ScanResult:
    """More of everything than a report shows."""
    diagnosis = dataclasses.replace(
        sample_result.diagnosis,
        consequences=sample_result.diagnosis.consequences * 100,
        evidence=sample_result.diagnosis.evidence * 100,
    )
    return dataclasses.replace(
        sample_result,
        diagnosis=diagnosis,
        findings=sample_result.findings * 300,
        timeline=sample_result.timeline * 200,
        unclaimed=sample_result.unclaimed * 80,
    )


def _poisoned(part: Any, text: str) -> Any:
    """Return a copy in which every free text is `text`."""
    if isinstance(part, str):
        return part if type(part) is not str else text
    if isinstance(part, Position):
        return part._replace(source=_poisoned(part.source, text))
    if isinstance(part, tuple):
        return tuple(_poisoned(entry, text) for entry in part)
    if isinstance(part, Mapping):
        return {_poisoned(key, text): _poisoned(value, text) for key, value in part.items()}
    if dataclasses.is_dataclass(part) and not isinstance(part, type | Pattern):
        closed = {"kind", "role"} if isinstance(part, ScannedInput | Cited) else set()
        values = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
        return type(part)(**{k: v if k in closed else _poisoned(v, text) for k, v in values.items()})
    return part


@pytest.fixture
def hostile_result(sample_result: ScanResult) -> ScanResult:
    poisoned: ScanResult = _poisoned(sample_result, NASTY + "A" * 100_000)
    return poisoned
