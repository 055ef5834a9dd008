"""A step's setting in the user's own terms: the framework's own name for it, and the name in the version in use."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nccl_logscan.catalogue.concepts import INTERCHANGEABLE
from nccl_logscan.catalogue.frameworks import NEAREST_FIRST, OUTERMOST
from nccl_logscan.catalogue.model import Kind, Option, Reader, Variable
from nccl_logscan.records import dataclass
from nccl_logscan.remedy.circumstances import Circumstances, is_advice, takes_options_of
from nccl_logscan.remedy.values import UNSET, at_least, converted, is_relative, seconds_in


@dataclass(frozen=True, slots=True)
class Named:
    """A setting under one name. `names` are all that it may have in a file; `option` is what the catalogue says.

    `doubt`: the same name in versions that do nothing with it, where it is not known which version is in use.
    """

    name: str
    kind: Kind
    to: str | None
    names: tuple[str, ...]
    option: Option | None = None
    source: str | None = None
    own: bool = False
    doubt: Option | None = None

    @property
    def framework(self) -> str | None:
        """Whose setting it is."""
        return self.option.framework if self.option else None

    @property
    def unit(self) -> str | None:
        """What its value counts."""
        return self.option.domain.unit if self.option else None


def named(name: str, kind: Kind, to: str | None, around: Circumstances) -> tuple[Named, ...]:
    """Return the setting as the job's framework calls it; nothing where no version in use has it.

    More than one where it is to go and the files of several frameworks make it, each under its own name.
    """
    variable = around.catalogue.variable(name) if kind is Kind.ENV else None
    if variable is not None:
        return _variable(name, variable, to, around)
    options = around.catalogue.options_called(name)
    concepts = dict.fromkeys(alike for option in options for alike in INTERCHANGEABLE.get(option.concept or "", ()))
    if owned := _own(concepts, around):
        return tuple(_as_called(own, name, to, options, around) for own in (owned if to == UNSET else owned[:1]))
    fitting = [option for option in options if around.takes(option)]
    if options and not fitting and any(map(is_advice, options)):
        return ()
    option = min(fitting, key=lambda option: _likeness(option, kind, around), default=None)
    return (Named(name, kind, to, (name, *(option.names if option else ())), option),)


def _variable(name: str, variable: Variable, to: str | None, around: Circumstances) -> tuple[Named, ...]:
    read = _name_that_is_read(variable, around)
    if read is None:
        return ()
    # An entry may stand for a family of names (`FI_*`).
    own = name if read is variable else read.name
    return (Named(own, Kind.ENV, to, (own,), source=read.source),)


def _name_that_is_read(variable: Variable, around: Circumstances) -> Variable | None:
    """Return the variable, or the one that had its place before it or has it now, whichever is read."""
    if variable.reader is Reader.NOBODY or around.reads(variable):
        return variable
    known = around.catalogue.variables
    earlier = (other for other in known.values() if other.replaced_by == variable.name)
    later = known.get(variable.replaced_by or "")
    return next((other for other in (*earlier, later) if other is not None and around.reads(other)), None)


def _own(concepts: Iterable[str], around: Circumstances) -> list[Option]:
    """Return the options of one concept that the user's files make, the nearest first.

    Where they make none, the nearest of the framework that they configure, or else that the log shows.
    """
    alike = [
        option
        for concept in concepts
        for option in around.catalogue.of_concept(concept)
        if around.takes(option) and option.kind is not Kind.HOST_COMMAND
    ]
    if made := [option for option in alike if _is_made(option, around)]:
        return sorted(made, key=_nearness)
    for frameworks in (around.configured, around.frameworks):
        if used := [option for option in alike if any(takes_options_of(one, option.framework) for one in frameworks)]:
            return [min(used, key=_nearness)]
    return []


def _is_made(option: Option, around: Circumstances) -> bool:
    return any(
        takes_options_of(standing.placed.framework, option.framework)
        for name in option.names
        for standing in around.standings(name, option.framework)
    )


def _place(option: Option) -> int:
    return NEAREST_FIRST.index(option.framework) if option.framework in NEAREST_FIRST else len(NEAREST_FIRST)


def _likeness(option: Option, kind: Kind, around: Circumstances) -> tuple[bool, bool, bool, int]:
    """Which of the options of one name is meant: what the job runs, else the scheduler's and the container's."""
    return not around.uses(option), option.kind is not kind, option.framework not in OUTERMOST, _place(option)


def _nearness(option: Option) -> tuple[bool, int, bool, bool]:
    """Which option to name first: the nearest framework's, its main one, one that its newest version still takes."""
    return option.goes_beyond, _place(option), not option.main, bool(option.until)


def _as_called(own: Option, name: str, to: str | None, options: tuple[Option, ...], around: Circumstances) -> Named:
    if own in options:
        return Named(name, own.kind, to, own.names, own, own.source, doubt=_doubt(own, around))
    named_by = next(iter(options), None)
    seconds = seconds_in(to, named_by.domain.unit if named_by else None)
    value = _in_units_of(own, to, seconds)
    return Named(own.names[0], own.kind, value, own.names, own, own.source, own=True, doubt=_doubt(own, around))


def _doubt(own: Option, around: Circumstances) -> Option | None:
    if around.versions(own.framework):
        return None
    alike = around.catalogue.options_called(own.names[0], own.framework)
    return next((option for option in alike if option.dead and option.since), None)


def _in_units_of(own: Option, to: str | None, seconds: float | None) -> str | None:
    """Return a value as another option takes it: a duration in its unit, else what the catalogue's example shows."""
    if seconds is not None:
        return at_least(converted(seconds, own)) if is_relative(to or "") else converted(seconds, own)
    return to if to is None or to == UNSET or is_relative(to) else value_in_example(own) or to


_VALUE = r"[\"']?(?:\s*[=:]\s*|\s+)[\"']?([^\s\"',)}]+)"


def value_in_example(option: Option) -> str | None:
    """Return the value that an option's example sets: `--bf16` gives true, `a.b=c` and `--a c` give c."""
    for name in option.names:
        keyword = name.partition("(")[2].rstrip("=)") or name
        for written in (keyword, keyword.rpartition(".")[2]):
            if match := re.search(rf"(?<![\w.-]){re.escape(written)}{_VALUE}", option.example):
                return match[1]
        if name.startswith("--") and name in option.example:
            return "true"
    return None
