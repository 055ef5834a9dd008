"""The catalogue of settings: every line is sound, and nothing dead is ever the first choice."""

import json
import re
from importlib import resources

import pytest

from nccl_logscan.catalogue.concepts import CONCEPTS, INTERCHANGEABLE
from nccl_logscan.catalogue.frameworks import HANDED_ON, NEAREST_FIRST, OUTERMOST, RIVALS
from nccl_logscan.catalogue.load import catalogue, written_form
from nccl_logscan.catalogue.model import Domain, Form, Reader
from nccl_logscan.catalogue.versions import version

OPTIONS = catalogue().options
LINES = (resources.files("nccl_logscan.catalogue") / "data" / "options.jsonl").read_text("utf-8").splitlines()


def each(test):
    return pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.id)(test)


def test_every_line_is_an_option():
    assert [json.loads(line)["id"] for line in LINES] == [option.id for option in OPTIONS]


def test_ids_are_unique_and_sorted():
    ids = [option.id for option in OPTIONS]
    assert ids == sorted(set(ids))


def test_no_concept_lacks_a_member_and_none_is_unknown():
    assert {option.concept for option in OPTIONS if option.concept} == set(CONCEPTS)


@pytest.mark.parametrize("concept", CONCEPTS)
def test_what_may_be_advised_comes_first_in_a_concept(concept):
    first, *_ = catalogue().of_concept(concept)
    assert not first.dead
    assert not first.harmful


@pytest.mark.parametrize("meaning", CONCEPTS.values())
def test_a_concept_is_one_sentence(meaning):
    assert meaning[0].isupper()
    assert meaning.endswith(".")
    assert ". " not in meaning


def test_what_is_said_of_concepts_and_frameworks_is_said_of_known_ones():
    frameworks = {option.framework for option in OPTIONS}
    assert {other for others in INTERCHANGEABLE.values() for other in others} <= set(CONCEPTS)
    assert set(NEAREST_FIRST) | OUTERMOST | set(HANDED_ON) | set(HANDED_ON.values()) <= frameworks
    assert set().union(*RIVALS) <= frameworks


def test_a_main_setting_is_the_only_one_of_its_framework_for_a_thing():
    mains = [(option.framework, option.concept) for option in OPTIONS if option.main]
    assert all(concept for _, concept in mains)
    assert len(set(mains)) == len(mains)


@each
def test_a_source_is_an_address(option):
    assert re.fullmatch(r"https://[\w.-]+(/\S*)?", option.source)


@each
def test_names_are_names_and_not_prose(option):
    assert option.names
    assert len(set(option.names)) == len(option.names)
    for name in option.names:
        assert name
        assert name == name.strip()
        assert " / " not in name
        assert "..." not in name


@each
def test_versions_are_plain(option):
    for text in (option.since, option.until):
        assert text == "" or re.fullmatch(r"\d+(\.\d+)*", text)
    assert not (option.since and option.until) or version(option.since) <= version(option.until)


@each
def test_a_setting_has_an_effect_and_an_example(option):
    assert option.effect
    assert option.helps_with
    assert option.example


@each
def test_a_domain_takes_its_own_default(option):
    assert option.default is None or takes(option.domain, option.default)


def takes(domain: Domain, value: str) -> bool:
    if value in domain.special:
        return True
    if domain.choices:
        fold = str.casefold if domain.ignores_case else str
        wanted = value.split(",") if domain.form is Form.LIST else [value]
        return all(fold(part) in map(fold, domain.choices) for part in wanted)
    if domain.form is Form.FLAG:
        return value in {"0", "1"}
    if domain.form in {Form.INTEGER, Form.NUMBER}:
        number = re.fullmatch(r"(?P<base>-?[\d.]+)(?:\*\*(?P<power>\d+))?", value)
        return number is not None and within_bounds(domain, float(number["base"]) ** int(number["power"] or 1))
    return True


def within_bounds(domain: Domain, number: float) -> bool:
    return (domain.at_least is None or number >= domain.at_least) and (
        domain.at_most is None or number <= domain.at_most
    )


def test_where_a_key_is_dead_no_living_one_of_its_framework_has_its_name():
    for dead in (option for option in OPTIONS if option.dead):
        for other in OPTIONS:
            if other.framework == dead.framework and not other.dead and set(other.names) & set(dead.names):
                assert other.until, (dead.id, other.id)
                assert version(other.until) < version(dead.since), (dead.id, other.id)


@pytest.mark.parametrize("line", LINES, ids=lambda line: json.loads(line)["id"])
def test_an_option_that_is_a_variable_says_nothing_that_the_variable_says(line):
    entry = json.loads(line)
    variable = catalogue().variables.get(entry["names"][0])
    if variable and variable.reader is not Reader.OTHER:
        assert "domain" not in entry
        if entry["framework"] == {Reader.TORCH: "pytorch"}.get(variable.reader, "nccl"):
            assert "default" not in entry
            assert variable.since is None or "since" not in entry


@pytest.mark.parametrize(
    ("name", "framework", "default"),
    [
        ("NCCL_IB_TIMEOUT", "nccl", "20"),
        ("NCCL_CUMEM_ENABLE", "nccl", None),  # NCCL decides by itself
        ("NCCL_CUMEM_ENABLE", "verl", "0"),
        ("TORCH_FR_BUFFER_SIZE", "pytorch", "2000"),
    ],
)
def test_a_variable_s_default_is_that_of_its_newest_reader_unless_the_framework_sets_another(name, framework, default):
    assert [option.default for option in catalogue().options_called(name, framework)] == [default]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("torch.distributed.init_process_group(timeout=...)", "torch.init_pg.timeout"),
        ("init_process_group(timeout=timedelta(minutes=30))", "torch.init_pg.timeout"),
        ("--nproc_per_node", "torch.torchrun.nproc"),
        ("--nproc-per-node", "torch.torchrun.nproc"),
        ("fp16.initial_scale_power", "deepspeed.fp16.initial_scale_power"),
        ("TORCH_NCCL_TRACE_BUFFER_SIZE", "torch.FR_BUFFER_SIZE"),
        ("ddp_timeout", "transformers.ddp_timeout"),
        ("torch.multiprocessing.set_sharing_strategy('file_system')", "torch.sharing_strategy"),
    ],
)
def test_a_setting_is_found_as_it_is_written(written, found):
    assert found in [option.id for option in catalogue().options_called(written)]


@pytest.mark.parametrize(
    "name", ["(" * 5000, "a.b(" * 2000, "f(x=" + "(" * 5000, "f(" + "()" * 9000, "", "\x00", "a." * 100_000]
)
def test_any_name_has_a_form(name):
    assert isinstance(written_form(name), str)
