"""A finding whose rule asks for the steps given."""

from __future__ import annotations

import pytest

from nccl_logscan.diagnosis.findings import Evidence, Finding
from nccl_logscan.position import Origin, Position
from nccl_logscan.rulebook.rule import Matcher, Rule
from nccl_logscan.taxonomy import Action, Category, Role, Severity


@pytest.fixture
def asks_for():
    """Make a finding of steps."""

    def make(*steps, captures=None, name="link"):
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
            confirm=(),
            remediation=steps,
            references=(),
            hits=(),
            misses=(),
            formerly=(),
            defined_at="x.yaml:1",
        )
        seen = Evidence(Position("log", 1, 0), "x", Origin())
        return Finding(rule, "nccl.warn", (), captures or {}, 1, (), (), (seen,), seen, 1, 1)

    return make
