"""A suggestion speaks where no rule does, and is marked as one."""

from __future__ import annotations

import pytest

from nccl_logscan.pipeline import scan_text
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.rulebook.rule import Rulebook

_HEAD = "vm:1:2 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
_WARN = "vm:1:2 [0] net_ib.cc:77 NCCL WARN NET/IB : mlx5_0:1 Got completion with retry exceeded, ibv_poll_cq error\n"


@pytest.fixture(scope="module")
def no_rules():
    return Rulebook({}, "none")


def test_without_rules_it_suggests_and_says_so(no_rules):
    view = build_view(scan_text(_HEAD + _WARN, no_rules))
    verdict = view["verdict"]
    assert (verdict["category"], verdict["basis"], verdict["level"]) == ("infiniband", "classifier", "suggested")
    assert 0 < verdict["confidence"] < 1
    assert verdict["rule"] is None
    assert verdict["action"] == "inspect"
    assert "suggest" in verdict["headline"]
    assert verdict["evidence"][0]["line"] == 2
    [group] = view["unclaimed"]
    assert group["suggestion"]["category"] == "infiniband"
    assert group["suggestion"]["words"]
    assert view["tool"]["model_digest"]


def test_with_rules_the_rules_decide():
    view = build_view(scan_text(_HEAD + _WARN, builtin_rulebook()))
    assert view["verdict"]["basis"] != "classifier"


def test_what_it_does_not_know_stays_unknown(no_rules):
    view = build_view(scan_text(_HEAD + "vm:1:2 [0] x.cc:9 NCCL WARN zxqv wobbly flimflam gribble\n", no_rules))
    assert view["verdict"]["category"] == "unknown"
    assert view["unclaimed"][0]["suggestion"] is None


def test_a_healthy_job_asks_nobody():
    view = build_view(scan_text(_HEAD, builtin_rulebook()))
    assert view["tool"]["model_digest"] is None
