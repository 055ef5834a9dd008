"""Versions as numbers, and ranges of them."""

from __future__ import annotations

import pytest

from nccl_logscan.catalogue.versions import lies_between, version, within


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2.21.5", (2, 21, 5)),
        ("2.21.5+cuda12.4", (2, 21, 5)),
        ("v2.21.5-1", (2, 21, 5)),
        ("core_v0.15.0", (0, 15)),
        ("torch 2.6.0", (2, 6)),
        ("2.7.0a0", (2, 7)),
        ("0.3.0.post2", (0, 3)),
        ("2.6.0rc3", (2, 6)),
        ("main", ()),
        ("", ()),
    ],
)
def test_a_version_is_its_numbers(text, numbers):
    assert version(text) == numbers


@pytest.mark.parametrize(
    ("have", "wanted", "holds"),
    [
        ("2.18.5", ">=2.10, <2.18", False),
        ("2.17.1", ">=2.10, <2.18", True),
        ("2.18.5", "<=2.18", True),
        ("2.18.5", ">2.18", False),
        ("2.19.1", ">2.18", True),
        ("2.18.5", "==2.18", True),
        ("2.9.0", "<2.10", True),
        ("2.9.0", "", True),
    ],
)
def test_a_bound_of_fewer_numbers_stands_for_all_its_releases(have, wanted, holds):
    assert within(have, wanted) is holds


@pytest.mark.parametrize(
    ("have", "last", "is_covered"),
    [
        ("0.14.0", "0.14.0", True),
        ("0.14", "0.14.0", True),
        ("0.14.2", "0.14.0", False),
        ("0.14.2", "0.14", True),
        ("0.15.0", "0.14", False),
        ("0.13.5", "0.14.0", True),
        ("1.0", "0.14.0", False),
        ("1", "1.0.0", True),
        ("1.0.1", "1.0.0", False),
        ("0.7.0rc1", "0.7.0", True),
    ],
)
def test_a_last_version_with_its_zero_is_that_release_alone(have, last, is_covered):
    assert lies_between(have, None, last) is is_covered
    assert within(have, f"<={last}") is is_covered
    assert within(have, f">{last}") is not is_covered


def test_a_release_is_told_from_its_series():
    assert within("2.18.3", "==2.18")
    assert not within("2.18.3", "==2.18.0")
    assert within("2.18", "==2.18.0")


@pytest.mark.parametrize(
    ("since", "until", "holds"),
    [
        ("2.18", "2.20", True),
        ("2.18.5", "2.18", True),
        ("2.18.6", "", False),
        (None, "2.18.4", False),
        ("2.17", "2.18.4", False),
        ("", None, True),
        ("main", "main", True),
    ],
)
def test_both_bounds_are_included_and_one_that_is_no_version_holds(since, until, holds):
    assert lies_between("2.18.5", since, until) is holds
