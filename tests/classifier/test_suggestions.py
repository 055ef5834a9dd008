"""A suggestion speaks where no rule does, and is marked as one."""

from __future__ import annotations

import json
from zlib import crc32

import pytest

from nccl_logscan.cli import main
from nccl_logscan.pipeline import scan_text
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook
from nccl_logscan.rulebook.rule import Rulebook

_HEAD = "vm:1:2 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
_OWN = ("frobnicator", "manifold", "gasket")
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


def test_a_model_of_ones_own_is_asked_instead(tmp_path, capsys):
    model = tmp_path / "own.jsonl"
    head = {"format": "nccl-logscan model 1", "categories": ["host_oom", "none"], "intercepts": [0.0, 0.0]}
    rows = "".join(json.dumps([word, 1.0, 9.0, -9.0], separators=(",", ":")) + "\n" for word in _OWN)
    head |= {"thresholds": [0.5, 0.5], "foreign_weight": 0.1, "digest": "own", "rows_crc32": crc32(rows.encode())}
    model.write_text(f"{json.dumps(head)}\n{rows}")
    log = tmp_path / "job.log"
    log.write_text(f"{_HEAD}vm:1:2 [0] x.cc:9 NCCL WARN {' '.join(_OWN)}\n")
    report = tmp_path / "report.json"
    assert main([str(log), "--model", str(model), "-o", str(report)]) == 1
    verdict = json.loads(report.read_text())["verdict"]
    assert (verdict["category"], verdict["basis"]) == ("host_oom", "classifier")
    assert main([str(log), "--model", str(log)]) == 4
    assert "is no model" in capsys.readouterr().err


def test_a_verdict_that_any_exception_would_have_names_what_words_suggest():
    log = (
        _HEAD + "Traceback (most recent call last):\n"
        '  File "train.py", line 3, in <module>\n'
        "RuntimeError: NET/IB ibv_poll_cq completion retry exceeded on infiniband port, link down\n"
    )
    view = build_view(scan_text(log, builtin_rulebook()))
    if view["verdict"]["rule"] in {"user_code/python-exception", "user_code/exception-alone"}:
        assert "infiniband" in {other["category"] for other in view["alternatives"]}
    else:
        pytest.fail(f"another rule took it: {view['verdict']['rule']}")


def steps(first, last):
    return "".join(f"[2026-01-01 00:00:00] iteration {step}/ 100 | lm loss: 2.{step}\n" for step in range(first, last))


def test_what_the_job_outlived_is_no_verdict():
    log = _HEAD + _WARN + steps(1, 40) + "Traceback (most recent call last):\nBrokenPipeError: [Errno 32] Broken pipe\n"
    view = build_view(scan_text(log, Rulebook({}, "none")))
    assert view["verdict"]["category"] == "unknown"
    assert view["unclaimed"][0]["suggestion"]


def test_a_rule_that_says_unknown_keeps_its_verdict():
    rulebook = builtin_rulebook()
    rule = rulebook.rules["unknown/cuda-error"]
    log = rule.hits[0].log if isinstance(rule.hits[0].log, str) else next(iter(rule.hits[0].log.values()))
    warning = "vm:1:2 [0] net_ib.cc:77 NCCL WARN infiniband port mlx5_0 ibv_frobnicate lost its completion queue\n"
    verdict = build_view(scan_text(_HEAD + warning + log, rulebook))["verdict"]
    assert (verdict["rule"] is None) == (verdict["basis"] in {"classifier", "none"})


@pytest.mark.parametrize("secret", ["sk-abcd1234efgh5678ijkl9012mnop", "hf_abcdefghijklmnopqrstuvwxyz0123456789"])
def test_a_secret_is_in_no_template_and_no_word(no_rules, secret):
    view = build_view(scan_text(f"{_HEAD}{_WARN.rstrip()} token={secret}\n", no_rules))
    assert secret[:12] not in json.dumps(view)


# --- signs that are no warnings -----------------------------------------------------------------------------------

_SPOILT = "".join(
    f"[2026-01-01 00:00:00] iteration {step}/ 100 | lm loss: nan | grad norm: nan\n" for step in range(40, 60)
)
_CLEAN_END = "[2026-01-01 00:00:00] training finished\n"


@pytest.mark.parametrize(
    ("sign", "category"),
    [
        (
            "slurmstepd: error: Detected 1 oom_kill event in StepId=42.0. Some step tasks were OOM Killed.\n",
            "host_oom",
        ),
        ("[12345.678] NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.\n", "gpu_hardware"),
    ],
)
def test_a_sign_that_no_rule_claims_is_asked_about(no_rules, sign, category):
    view = build_view(scan_text(_HEAD + sign, no_rules))
    assert category in {view["verdict"]["category"], *(other["category"] for other in view["alternatives"])}
    assert view["unclaimed"] == []


def test_a_loss_that_is_no_number_is_not_outlived_by_the_end_of_the_job(no_rules):
    spoilt = scan_text(_HEAD + steps(1, 40) + _SPOILT + _CLEAN_END, no_rules).diagnosis
    assert (spoilt.category, spoilt.basis) == ("mixed_precision_overflow", "classifier")


def test_a_loss_that_is_a_number_again_is_outlived(no_rules):
    mended = scan_text(_HEAD + steps(1, 40) + _SPOILT + steps(60, 90) + _CLEAN_END, no_rules).diagnosis
    assert mended.category == "none"


def test_a_verdict_that_is_proved_has_no_suggestion_beside_it():
    told = 'vm:1:2 [0] graph/tuning.cc:104 NCCL WARN Unrecognized element token "Rinng" when parsing "Rinng"\n'
    unknown = "vm:1:2 [0] x.cc:9 NCCL WARN infiniband port mlx5_0 ibv_frobnicate lost its completion queue\n"
    view = build_view(scan_text(_HEAD + told + unknown, builtin_rulebook()))
    assert (view["verdict"]["category"], view["verdict"]["level"]) == ("invalid_config", "established")
    assert view["alternatives"] == []
    assert view["unclaimed"][0]["suggestion"]["category"] == "infiniband"


def test_several_suggestions_that_rival_stand_beside_unknown(no_rules):
    oom = "vm:1:2 [0] alloc.cc:9 NCCL WARN Cuda failure 2 'out of memory'\n"
    view = build_view(scan_text(_HEAD + _WARN + oom, no_rules))
    assert view["verdict"]["category"] == "unknown"
    assert {other["category"] for other in view["alternatives"]} == {"infiniband", "gpu_oom"}
