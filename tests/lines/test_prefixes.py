import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from peeled import peel_texts

from nccl_logscan.position import NOBODY

EXAMPLES = yaml.safe_load((Path(__file__).parents[2] / "fixtures/lines/prefixes.yaml").read_text())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_a_prefix_comes_off_and_is_remembered(example):
    before = example.get("before", ())
    line = peel_texts(*before, example["line"], *example.get("after", ()))[len(before)]

    assert line.text == example["text"]
    assert line.prefixes == tuple(example["prefixes"])
    assert line.origin == replace(NOBODY, **example.get("origin", {}))
    assert line.level == example.get("level")
    assert line.repeated == example.get("repeated", 1)
    expected = example.get("when")
    assert (line.when.value if line.when else None) == (datetime.fromisoformat(expected) if expected else None)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_a_number_of_thousands_of_digits_raises_nothing(example):
    line = example["line"]
    for number in re.finditer(r"[0-9]+", line):
        assert peel_texts(f"{line[: number.start()]}{'9' * 5_000}{line[number.end() :]}")


def test_every_example_has_a_name_of_its_own():
    names = [example["name"] for example in EXAMPLES]
    assert len(names) == len(set(names))
