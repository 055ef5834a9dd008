import json

import pytest
from hypothesis import given
from hypothesis import settings as tuned
from hypothesis import strategies as some
from test_yaml import NAMES, TREES, leaves, put, without
from typed import added, changed, edited, read, removed, setting, settings

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.read import read_text, syntax_named

DEEPSPEED = """\
{
  "train_micro_batch_size_per_gpu": 4,
  "fp16": {
    "enabled": true,
    "initial_scale_power": 16
  },
  "zero_optimization": {"stage": 3, "overlap_comm": true}
}
"""


def test_a_deepspeed_file_is_known_by_its_keys():
    config = read("ds.json", DEEPSPEED)
    placed = setting(config, "fp16.initial_scale_power")
    assert (placed.value, placed.scalar, placed.kind, placed.framework, placed.at.line) == (
        "16",
        "integer",
        Kind.JSON_KEY,
        "deepspeed",
        5,
    )


def test_numbers_and_booleans_stay_what_they_are():
    assert changed("ds.json", DEEPSPEED, "fp16.initial_scale_power", "12") == DEEPSPEED.replace("16\n", "12\n")
    assert changed("ds.json", DEEPSPEED, "fp16.enabled", "false") == DEEPSPEED.replace("true,", "false,")
    assert changed("ds.json", DEEPSPEED, "fp16.enabled", "auto") == DEEPSPEED.replace("true,", '"auto",')


def test_commas_are_right_after_the_first_or_the_last_key_is_gone():
    assert removed("ds.json", DEEPSPEED, "fp16.initial_scale_power") == DEEPSPEED.replace(
        ',\n    "initial_scale_power": 16', ""
    )
    assert removed("ds.json", DEEPSPEED, "zero_optimization.stage") == DEEPSPEED.replace('"stage": 3, ', "")
    assert removed("ds.json", '{"a": {"b": 1}}', "a.b") == '{"a": {}}'


def test_a_key_is_added_in_the_files_own_layout():
    out = DEEPSPEED.replace("16\n", '16,\n    "min_loss_scale": 1\n')
    assert added("ds.json", DEEPSPEED, Kind.JSON_KEY, "fp16.min_loss_scale", "1") == out


def test_comments_and_spare_commas_are_taken_and_told():
    config = read("a.json", '{\n  // why\n  "a": 1, /* x */\n  "b": [1, 2,],\n}\n')
    assert settings("a.json", config.data) == {"a": "1", "b[0]": "1", "b[1]": "2"}
    assert len(config.faults) == 2


@given(TREES, some.sampled_from([None, 2, 4]), some.data())
@tuned(max_examples=80, deadline=None)
def test_reading_and_editing_agree_with_json(tree, indent, data):
    text = json.dumps(tree, indent=indent)
    config = read("a.json", text)
    known = dict(leaves(tree))
    assert [placed.name for placed in config.settings] == list(known)
    if not known:
        return
    placed = data.draw(some.sampled_from(config.settings))
    value = data.draw(some.sampled_from(["600", "true", "1.5", "x", 'a"b', ""]))
    syntax = syntax_named("json")
    after = json.loads(edited(config, syntax.change(config, placed, value)))
    new = dict(leaves(after))[placed.name]
    assert after == put(tree, placed.name, new)
    assert new == value or json.dumps(new) == value
    assert json.loads(edited(config, syntax.remove(config, placed))) == without(tree, placed.name)


@given(TREES, some.sampled_from([None, 2]), NAMES)
@tuned(max_examples=40, deadline=None)
def test_an_added_key_is_all_that_comes(tree, indent, name):
    after = added("a.json", json.dumps(tree, indent=indent), Kind.JSON_KEY, f"new.{name}", "5")
    assert json.loads(after) == {**tree, "new": {name: 5}}


@given(some.one_of(some.binary(max_size=100), some.text(alphabet='{}[]:,"\\/*1aé\n', max_size=60).map(str.encode)))
@tuned(max_examples=100, deadline=None)
def test_any_bytes_give_a_result(data):
    assert read_text("a.json", data).data == data


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "/*" * 100_000, '"\\' * 100_000, "}" * 100_000])
def test_a_hostile_file_gives_a_result(text):
    assert read("a.json", text).faults


def test_what_a_template_fills_in_is_one_value():
    config = read(
        "ds.json", '{"zero_optimization": {"stage": ${stage}}, "fp16": {"enabled": {{ fp16 }}}, "x": {"y": 1}}'
    )
    assert [(placed.name, placed.value) for placed in config.settings] == [
        ("zero_optimization.stage", None),
        ("fp16.enabled", None),
        ("x.y", "1"),
    ]
