import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nccl_logscan.catalogue import load as catalogue_load
from nccl_logscan.catalogue.domain import takes
from nccl_logscan.catalogue.load import catalogue, flag_form
from nccl_logscan.catalogue.model import Condition, Practice
from nccl_logscan.catalogue.practice import holds, spoken_of
from nccl_logscan.catalogue.versions import within
from nccl_logscan.lint.model import Check, Severity

PRACTICES = catalogue().practices
OF_FRAMEWORKS = {
    "DeepSpeedStrategy(config=)",  # says that there is a configuration file; nothing else is known of it
    "--config-name",  # Hydra's own
    "--ddp-timeout",
    "--deterministic-mode",
    "--distributed-timeout-minutes",
    "TrainingArguments(ddp_timeout=)",
    "actor_rollout_ref.model.external_lib",  # what loads a user's own modules into verl
    "actor_rollout_ref.rollout.checkpoint_engine.custom_backend_module",
    "bf16.enabled",
    "bfloat16.enabled",
    "ddp_timeout",
    "distributed_type",  # says that a file is Accelerate's
    "fp16.enabled",
    "fp16.min_loss_scale",
}
each_practice = pytest.mark.parametrize("practice", PRACTICES, ids=[practice.id for practice in PRACTICES])


def test_ids_differ():
    assert len({practice.id for practice in PRACTICES}) == len(PRACTICES) > 90


@each_practice
def test_a_practice_is_proved_by_what_it_speaks_of_and_what_it_does_not(practice):
    assert practice.hits
    assert practice.misses
    assert [hit for hit in practice.hits if not spoken_of(practice, hit)] == []
    assert [miss for miss in practice.misses if spoken_of(practice, miss)] == []


@each_practice
def test_no_condition_of_a_practice_is_idle(practice):
    """Each is what keeps it silent on a miss, or on a hit whose setting it is about is taken out."""
    for condition in practice.when:
        others = [other for other in practice.when if other is not condition]
        without = Practice(**{**_fields(practice), "when": tuple(others)})
        less = [{name: value for name, value in hit.items() if name != condition.name} for hit in practice.hits]
        assert any(spoken_of(without, settings) for settings in (*practice.misses, *less))


def _fields(practice):
    return {name: getattr(practice, name) for name in Practice.__slots__}


@each_practice
def test_a_practice_is_one_of_lint_with_a_source_and_words(practice):
    assert Check(practice.check)
    assert Severity(practice.severity)
    assert practice.source.startswith("https://")
    assert practice.problem.endswith(".")
    assert practice.advice[0].isupper()
    assert not practice.when[0].name.endswith("*")
    assert not practice.when[0].missing
    assert all(condition.name == flag_form(condition.name) for condition in practice.when)


@each_practice
def test_a_practice_speaks_of_settings_that_exist(practice):
    names = {condition.name for condition in practice.when} | set(practice.fix)
    for second in ("below_setting", "above_setting", "times"):
        names |= {getattr(condition, second) for condition in practice.when} - {None}
    unknown = {name for name in names - OF_FRAMEWORKS if catalogue().variable(name.rstrip("*")) is None}
    assert not {name for name in unknown if not catalogue().options_called(name)}


@each_practice
def test_a_fix_is_a_setting_of_the_practice_and_a_value_it_takes(practice):
    for name, value in practice.fix.items():
        assert name in {condition.name for condition in practice.when}
        variable = catalogue().variable(name)
        assert variable is not None
        assert not value or takes(variable.domain, value)
        mended = {**practice.hits[0], name: value}
        assert not spoken_of(practice, {key: text for key, text in mended.items() if text})


@each_practice
def test_the_values_it_speaks_of_are_valid_ones(practice):
    """Invalid ones are the domain's to find; what says that a value is bad says what the domain cannot."""
    if practice.check == "bad-value":
        return
    for hit in practice.hits:
        for name, value in hit.items():
            variable = catalogue().variable(name)
            assert variable is None or takes(variable.domain, value)


@each_practice
def test_ranges_of_versions_are_ranges(practice):
    for wanted in (practice.nccl, practice.torch):
        assert re.fullmatch(r"((>=|<=|==|<|>)\d+(\.\d+)*(, )?)*", wanted)
        assert not wanted or within("99.0", wanted) is not within("0.1", wanted)


def test_a_value_that_the_file_does_not_tell_is_no_finding():
    for practice in PRACTICES:
        for hit in practice.hits:
            tested = [one for one in practice.when if one != Condition(one.name) and not one.missing]
            unknown = {**hit, **{one.name: None for one in tested if one.name in hit}}
            assert not tested or not spoken_of(practice, unknown)


def test_a_setting_that_is_only_made_needs_no_value():
    assert holds(Condition("NCCL_TOPO_FILE"), {"NCCL_TOPO_FILE": None})
    assert not holds(Condition("NCCL_TOPO_FILE", missing=True), {"NCCL_TOPO_FILE": None})
    assert holds(Condition("FI_*"), {"FI_PROVIDER": None})
    assert holds(Condition("FI_*", missing=True), {"UCX_TLS": "rc"})


def test_an_empty_value_is_no_setting():
    assert not holds(Condition("NCCL_TOPO_FILE"), {"NCCL_TOPO_FILE": ""})
    assert holds(Condition("NCCL_TOPO_FILE", missing=True), {"NCCL_TOPO_FILE": ""})
    assert not holds(Condition("FI_*"), {"FI_PROVIDER": ""})
    assert not holds(Condition("NCCL_DEBUG", differs_from=("WARN",)), {"NCCL_DEBUG": ""})


@pytest.mark.parametrize(
    ("condition", "value", "holds_so"),
    [
        (Condition("X", below=10), "9", True),
        (Condition("X", below=10), "10", False),
        (Condition("X", below=10, above=0), "-2", False),
        (Condition("X", above=64), "0x41", True),
        (Condition("X", below=1), "1e-4", True),
        (Condition("X", above=64), "1e3", True),
        (Condition("X", above=64), "many", False),
        (Condition("X", below_setting="Y"), "3", True),
        (Condition("X", above_setting="Y"), "3", False),
        (Condition("X", above_setting="Z"), "3", False),
        (Condition("X", times="Y", above=11), "3", True),
        (Condition("X", times="Z", above=1), "3", False),
        (Condition("X", equals=("Warn",)), " WARN ", True),
        (Condition("X", differs_from=("0",)), "1", True),
        (Condition("X", differs_from=("0",)), "0", False),
        (Condition("X", matches="^a"), "ba", False),
    ],
)
def test_conditions_compare_as_they_say(condition, value, holds_so):
    assert holds(condition, {"X": value, "Y": "4"}) is holds_so


@given(st.dictionaries(st.sampled_from(sorted({c.name for p in PRACTICES for c in p.when})), st.text(max_size=30)))
def test_no_settings_at_all_raise(settings):
    for practice in PRACTICES:
        spoken_of(practice, settings)


def test_the_compiled_lines_are_those_of_the_toml():
    data = Path(catalogue_load.__file__).with_name("data")
    entries = tomllib.loads((data / "practices.toml").read_text("utf-8"))["practice"]
    assert tuple(map(catalogue_load.practice_of, entries)) == PRACTICES


def test_practices_are_found_by_the_setting_that_they_are_about():
    found = sorted(place for practice in PRACTICES for place, _ in catalogue().practices_about(practice.when[0].name))
    assert {place: PRACTICES[place] for place in found} == dict(enumerate(PRACTICES))
    assert all(found.when[0].name == name for name in ("NCCL_DEBUG",) for _, found in catalogue().practices_about(name))
