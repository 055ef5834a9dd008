from __future__ import annotations

import json

import jsonschema
import pytest
import yaml
from gallery import GALLERY
from rule_folders import SOUND

from nccl_logscan.rulebook.read import read_folders
from nccl_logscan.rulebook.schema import schema_text
from nccl_logscan.rulebook.where import builtin_rules


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_schema_passes_every_built_in_rule(validator):
    faults = {
        file.rule.id: [error.message for error in validator.iter_errors(file.located.data)]
        for file in read_folders([builtin_rules()]).files
    }

    assert {rule_id: messages for rule_id, messages in faults.items() if messages} == {}


def test_the_schema_passes_a_sound_rule(validator):
    validator.validate(yaml.safe_load(SOUND.read_text("utf-8")))


@pytest.mark.parametrize(
    "mistake",
    [
        *("unknown-key", "unknown-key-in-a-step", "missing-key", "misspelt-choice", "strength-out-of-range"),
        *("number-for-text", "text-for-a-list", "unknown-kind"),
    ],
)
def test_an_editor_sees_what_the_check_sees(validator, mistake):
    document = yaml.safe_load((GALLERY / mistake / "rule.yaml").read_text("utf-8"))

    assert list(validator.iter_errors(document))


def test_an_editor_can_offer_the_kinds_of_events(validator):
    match = validator.schema["$defs"]["MatchDocument"]["properties"]["event"]

    assert "nccl.warn" in json.dumps(match)
