"""Explanation: all that is known of one name, before it is a text."""

from __future__ import annotations

from enum import StrEnum

from nccl_logscan.records import dataclass


class Kind(StrEnum):
    """What a name was found to be; codes have the kinds of `catalogue.codes.CodeKind` besides."""

    VARIABLE = "variable"
    SETTING = "setting"
    CONCEPT = "concept"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled line: ("Default", "4194304 bytes since NCCL 2.6.4")."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Doing:
    """Something to look at, to do, or not to do (`do_not`). `run` is a command or a line to write."""

    text: str
    run: str | None = None
    do_not: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """A rule that speaks of the name."""

    rule: str
    title: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """One meaning of a name. `heading` says what it is; `cautions` are values and pairs to be wary of, each a
    sentence or two; `sources` are addresses.
    """

    kind: str
    name: str
    heading: str
    meaning: str | None = None
    facts: tuple[Fact, ...] = ()
    cautions: tuple[str, ...] = ()
    doing: tuple[Doing, ...] = ()
    mentions: tuple[Mention, ...] = ()
    sources: tuple[str, ...] = ()
