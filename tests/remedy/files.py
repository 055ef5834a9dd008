"""Steps of a rule on a user's files: what the plan says, and whether git takes its diffs."""

from __future__ import annotations

import subprocess

from nccl_logscan.configs.read import SYNTAXES, read_text
from nccl_logscan.diagnosis.findings import Evidence, Finding
from nccl_logscan.diagnosis.verdict import Culprit, Diagnosis, Job, Setting
from nccl_logscan.position import Origin, Position
from nccl_logscan.remedy.circumstances import Circumstances
from nccl_logscan.remedy.plan import make_plan
from nccl_logscan.rulebook.rule import Matcher, Rule
from nccl_logscan.taxonomy import Action, Basis, Category, Level, Role, Severity

BY_NAME = {syntax.name: syntax for syntax in SYNTAXES}


def circumstances(files=(), *, logged=(), nccl=(), torch=(), frameworks=(), may_show=lambda _: True):
    configs = tuple(read_text(name, text.encode()) for name, text in dict(files).items())
    settings = tuple(Setting(name, value, "environment", Position("log", 7, 0)) for name, value in dict(logged).items())
    job = Job(settings=settings, nccl_versions=tuple(nccl), torch_versions=tuple(torch), frameworks=tuple(frameworks))
    return Circumstances(job, configs, BY_NAME, may_show=may_show)


def finding(name="link", *, remediation=(), confirm=(), captures=None):
    rule = Rule(
        id=f"infiniband/{name}",
        title=name,
        category=Category.INFINIBAND,
        role=Role.CAUSE,
        severity=Severity.FATAL,
        strength=80,
        match=Matcher(events=("nccl.warn",)),
        same_failure=(),
        explains=(),
        blames="observer",
        action=Action.INSPECT,
        summary="",
        what="x",
        why="x",
        confirm=tuple(confirm),
        remediation=tuple(remediation),
        references=(),
        hits=(),
        misses=(),
        formerly=(),
        defined_at="x.yaml:1",
    )
    seen = Evidence(Position("log", 1, 0), "x", Origin())
    return Finding(rule, "nccl.warn", (), captures or {}, 1, (), (), (seen,), seen, 1, 1)


def diagnosis_of(finding, *, action=Action.FIX_CONFIG, consequences=(), **culprit):
    return Diagnosis(
        category=Category.UNKNOWN,
        basis=Basis.RULE,
        level=Level.LIKELY,
        confidence=0.9,
        headline="",
        reasons=(),
        culprit=Culprit(**culprit),
        evidence=(),
        action=action,
        finding=finding,
        consequences=tuple(consequences),
        alternatives=(),
    )


def plan_for(finding, around, **diagnosis):
    return make_plan(diagnosis_of(finding, **diagnosis), around)


def applied(folder, files, diff):
    """The files after `git apply`; fails where git refuses the diff."""
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=folder, check=True)
    return {name: (folder / name).read_text() for name in files}
