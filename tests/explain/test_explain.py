"""`explain`: every name explains itself, a number means all that it may, and nothing unknown passes for known."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.catalogue.codes import codes
from nccl_logscan.catalogue.concepts import CONCEPTS
from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Default, Reader
from nccl_logscan.cli import main
from nccl_logscan.errors import InputError
from nccl_logscan.explain.find import explain
from nccl_logscan.explain.model import Explanation, Kind
from nccl_logscan.explain.render import as_json, as_text
from nccl_logscan.explain.settings import default_in
from nccl_logscan.rulebook.load import builtin_rulebook

RULES = builtin_rulebook()
COMPLETION = (
    "node-1:2311:2401 [3] transport/net_ib.cc:1861 NCCL WARN NET/IB : Got completion from peer 10.0.0.3<40211> "
    "with status=12 opcode=0 len=0 vendor err 129 (Recv)"
)


def explained(name: str, nccl: str | None = None) -> tuple[Explanation, ...]:
    return explain(name, catalogue(), RULES, nccl)


def kinds_of(name: str) -> set[str]:
    return {str(explanation.kind) for explanation in explained(name)}


# --- every name ----------------------------------------------------------------------------------------------


def test_every_variable_explains_itself():
    for name, variable in catalogue().variables.items():
        first = explained(name, "2.21.5")[0]
        assert first.kind == Kind.VARIABLE or (first.kind == Kind.SETTING and variable.reader is Reader.OTHER), name
        assert as_text([first])


def test_every_name_of_every_setting_explains_itself():
    for option in catalogue().options:
        for name in option.names:
            assert any(
                explanation.kind in {Kind.SETTING, Kind.VARIABLE} and as_text([explanation])
                for explanation in explained(name)
            ), name


def test_every_concept_names_a_setting():
    for concept in CONCEPTS:
        assert any(each.kind == Kind.CONCEPT and each.facts for each in explained(concept))


def test_every_code_explains_itself_by_name_and_by_number():
    for code in codes():
        assert code.kind in kinds_of(code.name)
    for number in {code.number for code in codes()}:
        assert {code.kind for code in codes() if code.number == number} <= kinds_of(str(number))


def test_every_rule_explains_itself():
    for rule in RULES.rules.values():
        assert [explanation.name for explanation in explained(rule.id)] == [rule.id]


# --- what a name means ---------------------------------------------------------------------------------------


def test_a_number_means_something_in_each_list_of_codes():
    assert kinds_of("12") == {"ibv-wc-status", "ibv-event", "signal", "cuda-error"}
    assert kinds_of("2") == {
        "nccl-result",
        "ibv-wc-status",
        "ibv-event",
        "mlx5-syndrome",
        "signal",
        "exit-code",
        "cuda-error",
    }


@pytest.mark.parametrize(
    ("name", "kind", "means"),
    [
        ("Xid 79", "xid", "ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS"),
        ("xid=79", "xid", "ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS"),
        ("status=12", "ibv-wc-status", "IBV_WC_RETRY_EXC_ERR"),
        ("ibv_wc_retry_exc_err", "ibv-wc-status", "IBV_WC_RETRY_EXC_ERR"),
        ("transport retry counter exceeded", "ibv-wc-status", "IBV_WC_RETRY_EXC_ERR"),
        ("vendor err 129", "mlx5-vendor-error", "0x81"),
        ("CUDA error 802", "cuda-error", "cudaErrorSystemNotReady"),
        ("system not yet initialized", "cuda-error", "cudaErrorSystemNotReady"),
        ("sigkill", "signal", "SIGKILL"),
        ("signal 9", "signal", "SIGKILL"),
        ("exit code 137", "exit-code", "137"),
        ("exitcode: -9", "exit-code", "-9"),
        ("-6", "exit-code", "-6"),
        ("ncclRemoteError", "nccl-result", "ncclRemoteError"),
        ("local catastrophic error", "ibv-event", "IBV_EVENT_DEVICE_FATAL"),
    ],
)
def test_a_code_is_known_as_logs_write_it(name, kind, means):
    assert [(str(each.kind), each.name) for each in explained(name)] == [(kind, means)]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("Xid 79", "gpu_hardware/xid-off-the-bus"),
        ("IBV_WC_RETRY_EXC_ERR", "infiniband/retry-exceeded"),
        ("IBV_EVENT_DEVICE_FATAL", "infiniband/adapter-fatal-event"),
        ("cudaErrorIllegalAddress", "user_code/illegal-memory-access"),
        ("NCCL_IB_TIMEOUT", "infiniband/retry-exceeded"),
    ],
)
def test_the_rules_that_speak_of_a_name_are_listed(name, rule):
    [first, *_] = explained(name)
    assert rule in [mention.rule for mention in first.mentions]


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        (
            COMPLETION,
            "infiniband/retry-exceeded",
        ),
        ("NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.", "gpu_hardware/xid-off-the-bus"),
        ("with status=12 opcode=0 len=0 vendor err 129 (Send) localGid", "infiniband/retry-exceeded"),
        ("infiniband/retry-exceeded", "infiniband/retry-exceeded"),
        ("retry-exceeded", "infiniband/retry-exceeded"),
    ],
)
def test_a_message_or_a_part_of_it_finds_its_rule(message, rule):
    assert rule in [each.name for each in explained(message)]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("export NCCL_IB_TIMEOUT=22", {"NCCL_IB_TIMEOUT"}),
        ('os.environ["NCCL_BUFFSIZE"] = "1"; x', {"NCCL_BUFFSIZE"}),
        ("$NCCL_ALGO", {"NCCL_ALGO"}),
        ("what is IBV_WC_WR_FLUSH_ERR", {"IBV_WC_WR_FLUSH_ERR"}),
    ],
)
def test_a_line_that_no_rule_knows_is_explained_by_the_names_in_it(line, names):
    assert names <= {each.name for each in explained(line)}


def test_one_version_has_one_default():
    defaults = (Default("2.3.5", "14"), Default("2.14.3", "18"), Default("2.23.4", "20"))
    assert [default_in(defaults, wanted) for wanted in ("2.2", "2.3.5", "2.13.4", "2.21.5", "2.30.7")] == [
        None,
        "14",
        "14",
        "18",
        "20",
    ]


def test_a_dead_key_is_said_to_be_dead_and_is_never_proposed():
    for explanation in explained("actor_rollout_ref.nccl_timeout"):
        labels = {fact.label: fact.text for fact in explanation.facts}
        if "Dead" in labels:
            assert "actor_rollout_ref.nccl_timeout" not in labels["Instead"]
            break
    else:
        pytest.fail("no meaning is dead")


def test_a_name_with_its_value_is_explained_as_the_name():
    assert explained("NCCL_IB_TIMEOUT=22") == explained("NCCL_IB_TIMEOUT")


# --- what is not known ---------------------------------------------------------------------------------------


def test_a_misspelt_name_meets_the_right_one():
    with pytest.raises(InputError) as caught:
        explained("NCCL_IB_TIMOUT")
    assert "NCCL_IB_TIMEOUT" in str(caught.value.hint)


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_name_is_explained_or_refused(name):
    try:
        found = explained(name)
    except InputError:
        return
    assert found
    assert as_text(found)


@pytest.mark.parametrize(
    "name",
    [
        "\x1b[2Jx",
        "a" * 100_000,
        "(" * 3000,
        "9" * 5000,
        "0x",
        "--",
        "007",
        "-0x5",
        "\udcff",
        "Xid " * 4000,
        "{number}",
        "%s",
    ],
)
def test_a_hostile_name_does_no_harm(name, capsys):
    assert main(["explain", "--", name]) in {0, 3}
    output = capsys.readouterr()
    assert "\x1b" not in output.out + output.err
    assert len(output.err) < 1000


# --- how it is written ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["NCCL_IB_TIMEOUT", "12", "process-group-timeout", "infiniband/retry-exceeded", "137"])
def test_prose_keeps_to_80_columns(name, capsys):
    assert main(["explain", name]) == 0
    for line in capsys.readouterr().out.splitlines():
        # An address or a command is never broken: it would not be one any more.
        assert len(line) <= 80 or " " not in line.strip() or "    " in line[:8]


def test_the_json_has_the_shape_that_is_documented():
    document = json.loads(as_json("12", explained("12")))
    assert document["name"] == "12"
    for entry in document["explanations"]:
        assert set(entry) == {"kind", "name", "heading", "meaning", "facts", "cautions", "doing", "mentions", "sources"}
        assert all(set(fact) == {"label", "text"} for fact in entry["facts"])
        assert all(set(doing) == {"text", "run", "do_not"} for doing in entry["doing"])
        assert all(set(mention) == {"rule", "title"} for mention in entry["mentions"])
        assert all(re.match("https://", source) for source in entry["sources"])


def test_a_secret_in_a_name_is_not_repeated(capsys):
    secret = "hf_abcdefghijklmnopqrstuvwxyz0123"  # noqa: S105 - made up
    for form in ("text", "json"):
        main(["explain", "--format", form, f"HF_TOKEN={secret}"])
        output = capsys.readouterr()
        assert secret not in output.out + output.err


def test_a_version_that_is_none_is_a_usage_error(capsys):
    assert main(["explain", "NCCL_DEBUG", "--nccl", "newest"]) == 2
    assert "newest" in capsys.readouterr().err
