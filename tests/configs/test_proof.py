"""An edit is given only if the file, read again, sets what it did but for the one setting."""

import pytest
from typed import read, setting

from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.proof import adds_just, changes_just


def of(data, old, new):
    """Return the edit that puts `new` in the place of `old`, which the file holds once."""
    assert data.count(old) == 1
    return Edit(data.index(old), data.index(old) + len(old), new)


def proves_change(file, key, old, new, value):
    config = read(*file)
    return changes_just(config, of(config.data, old, new), setting(config, key), value)


def proves_addition(file, old, new, made, times=1):
    config = read(*file)
    return adds_just(config, of(config.data, old, new), *made, times)


TWO = "x.sh", "export A=1\nexport B=2\npython t.py\n"


@pytest.mark.parametrize(
    ("old", "new", "value", "proved"),
    [
        (b"A=1", b"A=7", "7", True),
        (b"A=1", b"A=8", "7", False),  # another value
        (b"A=1\n", b"A=7\nexport C=1\n", "7", False),  # something besides
        (b"A=1\nexport B=2", b"A=7", "7", False),  # something lost
        (b"A=1\nexport B=2", b"A=7\nexport B=3", "7", False),  # something changed
        (b"A=1", b"A=7 A=7", "7", False),  # twice
        (b"A=1", b"X=7", "7", False),  # another name
        (b"A=1", b"A=1", "7", False),  # nothing done
        (b"A=1", b"A='7", "7", False),  # a quote left open
        (b"export A=1\n", b"", None, True),
        (b"export A=1\n", b"\n", None, True),
        (b"export A=1\nexport B=2\n", b"", None, False),
        (b"A=1", b"A=1", None, False),
    ],
)
def test_a_change_is_of_one_setting_to_one_value(old, new, value, proved):
    assert proves_change(TWO, "A", old, new, value) is proved


def test_one_of_two_alike_goes_alone():
    file = "x.yaml", "env:\n- name: A\n  value: x\n- name: B\n  value: x\n"
    assert proves_change(file, "A", b"- name: A\n  value: x\n", b"", None)
    assert not proves_change(file, "A", b"- name: A\n  value: x\n- name: B\n", b"- name: B\n", "x")


def test_what_holds_a_setting_changes_with_it():
    file = "x.sh", "srun --export=ALL,A=1 python t.py\n"
    assert proves_change(file, "A", b"A=1", b"A=2", "2")
    assert proves_addition(file, b"A=1", b"A=1,B=2", ("B", "2"))


def test_an_override_and_the_variable_that_it_sets_are_one():
    file = "x.sh", "python3 -m verl.trainer.main_ppo a.b=c +ray_kwargs.ray_init.runtime_env.env_vars.A=x\n"
    assert proves_change(file, "A", b"vars.A=x", b"vars.A=y", "y")
    assert proves_addition(file, b"A=x", b"A=x +ray_kwargs.ray_init.runtime_env.env_vars.B=z", ("B", "z"))


@pytest.mark.parametrize(
    ("old", "new", "times", "proved"),
    [
        (b"B=2\n", b"B=2\nexport C=3\n", 1, True),
        (b"B=2\n", b"B=2\nexport C=4\n", 1, False),
        (b"B=2\n", b"B=2\nexport C=3\nexport D=3\n", 1, False),
        (b"B=2\n", b"B=2\nexport C=3\nexport C=3\n", 1, False),
        (b"B=2\n", b"B=2\nexport C=3\nexport C=3\n", 2, True),
        (b"B=2\n", b"C=3\n", 1, False),
        (b"B=2\n", b"B=2\n# export C=3\n", 1, False),
    ],
)
def test_an_addition_sets_one_thing_more_so_often(old, new, times, proved):
    assert proves_addition(TWO, old, new, ("C", "3"), times) is proved
