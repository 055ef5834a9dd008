"""A class of records behaves as one of the standard library's."""

from __future__ import annotations

import dataclasses
import pickle
from typing import ClassVar, get_type_hints

import pytest

from nccl_logscan.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Place:
    """A frozen one."""

    host: str
    ports: tuple[int, ...] = ()
    kind: ClassVar[str] = "place"
    seen: list[str] = field(default_factory=list, compare=False, repr=False)
    times: int = field(default=0, init=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Place):
    """One that inherits, and has no default for what comes last."""

    name: str


@dataclass(slots=True)
class Count:
    """One that changes."""

    value: int = 0


@dataclass(slots=True, eq=False)
class Alone:
    """One that equals itself only."""

    value: int


def copied(record):
    """What another process gets."""
    return pickle.loads(pickle.dumps(record))  # noqa: S301 - our own


def test_it_holds_what_it_was_made_with_and_defaults_of_its_own():
    place, other = Place("a"), Place("b", (1,))
    place.seen.append("x")

    assert (place.host, place.ports, place.seen, place.times) == ("a", (), ["x"], 0)
    assert other.seen == []
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        Place("a", times=2)
    with pytest.raises(TypeError, match="missing 1 required"):
        Place()
    with pytest.raises(TypeError):
        Named("a", (), [], "name")
    assert Named("a", name="n").name == "n"


def test_equality_and_hash_are_those_of_the_compared_fields():
    assert Place("a", seen=["x"]) == Place("a")
    assert hash(Place("a", (1,))) == hash(Place("a", (1,)))
    assert Place("a") != Place("b")
    assert Place("a") != Named("a", name="n")
    assert Count(1) == Count(1)
    assert Alone(1) != Alone(1)
    assert len({Alone(1), Alone(1)}) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(Count(1))


def test_what_is_frozen_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Place("a").host = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del Place("a").host
    count = Count()
    count.value += 1
    assert count == Count(1)
    with pytest.raises(AttributeError):
        count.other = 1


def test_a_changed_copy_and_a_pickled_one():
    place = Named("a", (1,), ["x"], name="n")

    assert replace(place, host="b") == Named("b", (1,), name="n")
    assert copied(place) == place
    assert copied(Count(3)) == Count(3)


def test_it_is_shown_and_matched_by_its_fields():
    assert repr(Named("a", name="n")) == "Named(host='a', ports=(), times=0, name='n')"
    match Place("a", (2,)):
        case Place(host, (port,)):
            assert (host, port) == ("a", 2)
        case _:
            pytest.fail("did not match")


def test_the_standard_library_takes_it_for_its_own():
    assert dataclasses.is_dataclass(Named)
    assert [one.name for one in dataclasses.fields(Named)] == ["host", "ports", "seen", "times", "name"]
    assert dataclasses.asdict(Count(2)) == {"value": 2}
    assert dataclasses.replace(Place("a"), host="b") == Place("b")
    assert get_type_hints(Named)["name"] is str

    @dataclasses.dataclass(frozen=True, slots=True)
    class Derived(Place):
        more: int = 1

    assert Derived("a", more=2) == Derived("a", (), [], 2)
