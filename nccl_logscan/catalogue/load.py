"""The shipped catalogue, read once.

`data/variables.jsonl` and `data/options.jsonl` hold an entry a line, which makes a change of one entry a change of one
line (a variable's begins with its name); `data/practices.toml` is written by people, and `tools/practices.py` makes
`data/practices.jsonl` of it. Entries are made of their lines when they are first asked for: a run looks at a few dozen.

An option that is a variable leaves out what the variable's line says: its domain, its default, since when it is read.
It says one of them only where its framework differs (verl sets another default for its workers).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar, overload

from nccl_logscan.catalogue.domain import takes
from nccl_logscan.catalogue.model import (
    Condition,
    Default,
    Domain,
    Fate,
    Form,
    Kind,
    Option,
    Parser,
    Practice,
    Reader,
    Variable,
)
from nccl_logscan.catalogue.versions import version
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass

_CALL = deferred(r"(?:\w+\.)*(?P<name>\w+)\((?:(?P<keyword>\w+)=)?(?:[^()]|\([^()]*\))*\)")

_NEAR = 2
"""How many letters a misspelt name may differ by (swapped neighbours count once)."""
_TELLING = 11
"""Letters from which a name that others read is one to propose: NODE_RANKS is no misspelt LOCAL_RANK."""
_HEAD = '{"name": "'
"""What a variable's line begins with."""
_NAMES = deferred(r'"names": \[((?:"[^"\\]*"(?:, )?)*)\]')
_WORD = deferred(r"[A-Za-z_]\w*(?:-\w+)*", re.ASCII)
_QUOTED = deferred(r'"([^"]*)"')
_DATA = Path(__file__).with_name("data")
_MOST = 16_384
_SHORT = 5
"""Up to so many letters after the prefix it is one: a script's own NCCL_ENV is no NCCL_NET, NCCL_PORT no NCCL_PROTO."""

_Entry = TypeVar("_Entry")


@dataclass(frozen=True)
class Catalogue:
    """Every variable, option and practice."""

    variables: Mapping[str, Variable]

    @property
    def options(self) -> tuple[Option, ...]:
        """Every option."""
        return tuple(self._options)

    @property
    def practices(self) -> tuple[Practice, ...]:
        """Every practice."""
        return tuple(self._practices)

    def practices_about(self, name: str) -> tuple[tuple[int, Practice], ...]:
        """Return the practices that speak at a setting of this name, each with its place among all."""
        return tuple((place, self._practices[place]) for place in self._about.get(name, ()))

    @cached_property
    def _options(self) -> Lines[Option]:
        return Lines(_data("options.jsonl"), lambda line: _option(json.loads(line), self.variables))

    @cached_property
    def _practices(self) -> Lines[Practice]:
        return Lines(_data("practices.jsonl"), lambda line: practice_of(json.loads(line)[1]))

    @cached_property
    def _about(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for place, line in enumerate(self._practices.texts):
            found.setdefault(line[2 : line.index('"', 2)], []).append(place)
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[int]]:
        """The places of the options that have a name."""
        found: dict[str, list[int]] = {}
        for place, line in enumerate(self._options.texts):
            for name in _names_in(line):
                found.setdefault(written_form(name), []).append(place)
        return found

    def variable(self, name: str) -> Variable | None:
        """Return the variable of this exact name, or else the family that it belongs to (UCX_TLS: UCX_*)."""
        found = self._looked_up
        if name not in found:
            if len(found) >= _MOST:
                found.clear()
            found[name] = self.variables.get(name) or self._family(name)
        return found[name]

    @cached_property
    def _looked_up(self) -> dict[str, Variable | None]:
        """What `variable` has found."""
        return {}

    def _family(self, name: str) -> Variable | None:
        if not name.startswith(self._families):
            return None
        return self.variables[f"{max(filter(name.startswith, self._families), key=len)}*"]

    @cached_property
    def _families(self) -> tuple[str, ...]:
        return tuple(name[:-1] for name in self.variables if name.endswith("*"))

    @cached_property
    def option_words(self) -> frozenset[str]:
        """The last word of each name of an option, with _ for -: without it no file makes that setting."""
        return frozenset(_last_part(name) for line in self._options.texts for name in _names_in(line))

    def options_called(self, name: str, framework: str | None = None) -> tuple[Option, ...]:
        """Return the options that may be written so; of one framework, where one is named.

        Calls are found by their last name: `torch.distributed.init_process_group(timeout=...)` is
        `init_process_group(timeout=)`.
        """
        found = (self._options[place] for place in self._by_name.get(written_form(name), ()))
        return tuple(option for option in found if framework in {None, option.framework})

    def of_concept(self, concept: str) -> tuple[Option, ...]:
        """Return what the frameworks call one thing, such as the process group's timeout.

        What may be advised comes first: dead, harmful and unverified options follow, for they are known and no advice.
        """
        mark = f'"concept": {json.dumps(concept)}'
        lines = (self._options[place] for place, line in enumerate(self._options.texts) if mark in line)
        found = (option for option in lines if option.concept == concept)
        return tuple(sorted(found, key=lambda option: (option.dead, option.harmful, not option.verified)))

    @cached_property
    def _names(self) -> tuple[str, ...]:
        meant = {name for name, variable in self.variables.items() if _may_be_meant(variable)}
        options = (option for option in self.options if option.kind is Kind.ENV and option.verified and not option.dead)
        names = (name for option in options for name in option.names if len(name) >= _TELLING)
        return tuple(sorted(meant | {name for name in names if name not in self.variables}))

    def nearest(self, name: str) -> str | None:
        """Return the known variable that `name` is a misspelling of; None where none is near enough.

        A name of a known family is none: HCCL_BUFFSIZE is Ascend's, and no NCCL_BUFFSIZE. What is removed, read by
        nothing or not verified is no name to propose.
        """
        if self._family(name):
            return None
        from rapidfuzz import process  # noqa: PLC0415 - most runs meet no name that is not known
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        near = 1 if len(name.partition("_")[2]) <= _SHORT else _NEAR
        found = process.extractOne(name, self._names, scorer=OSA.distance, score_cutoff=near)
        return found[0] if found else None


class Lines(Sequence[_Entry]):
    """Entries by their places, each made of its line when first asked for. `texts` are the lines."""

    def __init__(self, text: str, made_of: Callable[[str], _Entry]) -> None:
        self.texts = text.splitlines()
        self._made_of = made_of
        self._made: dict[int, _Entry] = {}

    @overload
    def __getitem__(self, place: int) -> _Entry: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[_Entry]: ...

    def __getitem__(self, place: int | slice) -> _Entry | Sequence[_Entry]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self.texts)))]
        if place not in self._made:
            self._made[place] = self._made_of(self.texts[place])
        return self._made[place]

    def __len__(self) -> int:
        return len(self.texts)


class VariableLines(Mapping[str, Variable]):
    """Variables by name, each made of its line when first asked for: a run looks at a dozen of five hundred."""

    def __init__(self, text: str) -> None:
        self._lines = {line[len(_HEAD) : line.index('"', len(_HEAD))]: line for line in text.splitlines()}
        self._read: dict[str, Variable] = {}

    def __getitem__(self, name: str) -> Variable:
        if name not in self._read:
            self._read[name] = _variable(json.loads(self._lines[name]))
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, name: object) -> bool:
        return name in self._lines


@cache
def catalogue() -> Catalogue:
    """Return the shipped catalogue."""
    return Catalogue(VariableLines(_data("variables.jsonl")))


def _may_be_meant(variable: Variable) -> bool:
    if variable.removed_in or not variable.verified or variable.name.endswith("*"):
        return False
    if variable.reader is Reader.OTHER:
        return variable.documented and len(variable.name) >= _TELLING
    return variable.reader is not Reader.NOBODY


def flag_form(name: str) -> str:
    """Return a flag's name as argparse compares it: dashes and underscores within it are one."""
    return "--" + name[2:].replace("_", "-") if name.startswith("--") else name


def written_form(name: str) -> str:
    """Return the form under which options are looked up: a flag's as argparse compares it, a call's without its path
    and its argument's value.
    """
    call = _CALL.fullmatch(name)
    if call is None:
        return flag_form(name)
    keyword = f"{call['keyword']}=" if call["keyword"] else ""
    return f"{call['name']}({keyword})"


def _data(name: str) -> str:
    return (_DATA / name).read_text("utf-8")


def _last_part(name: str) -> str:
    """`--a-b` → a_b; `fp16.enabled` → enabled; `a.f(x=)` → f; + (Hydra's mark) → +."""
    [*_, last] = _WORD.findall(name.partition("(")[0]) or [name]
    return str(last).replace("-", "_")


def _names_in(line: str) -> tuple[str, ...]:
    """Return an option's names, of its line alone."""
    found = _NAMES.search(line)
    # Names hold no quotes; were there any, the line would be read whole.
    return tuple(_QUOTED.findall(found[1])) if found else tuple(json.loads(line)["names"])


def _variable(entry: dict[str, Any]) -> Variable:
    return Variable(
        **{
            **entry,
            "reader": Reader(entry["reader"]),
            "domain": _domain(entry["domain"]),
            "defaults": tuple(Default(**default) for default in entry["defaults"]),
        }
    )


def _option(entry: dict[str, Any], variables: Mapping[str, Variable]) -> Option:
    said = {**entry, "domain": _domain(entry["domain"])} if "domain" in entry else entry
    fates: dict[str, Fate] = {name: Fate(entry[name]) for name in ("fate", "afterwards") if name in entry}
    return Option(
        **{
            **_of_variable(entry["names"], variables),
            **said,
            **fates,
            "kind": Kind(entry["kind"]),
            "names": tuple(entry["names"]),
            "helps_with": tuple(entry["helps_with"]),
        }
    )


def _of_variable(names: Sequence[str], variables: Mapping[str, Variable]) -> dict[str, Any]:
    """Return what an option has of the variable that it is; `since` is the version that read the first of its names."""
    found = [variables[name] for name in names if name in variables]
    if not found:
        return {}
    since = min((variable.since for variable in found if variable.since), key=version, default="")
    return {"domain": found[0].domain, "default": _newest_default(found[0]), "since": since}


def _newest_default(variable: Variable) -> str | None:
    """Return the default as a value that can be written; None for one in words ("automatic", "unset: all")."""
    value = variable.defaults[-1].value if variable.defaults else None
    in_words = value is None or " " in value.strip() or not takes(variable.domain, value)
    return None if in_words else value


def _domain(entry: dict[str, Any]) -> Domain:
    return Domain(
        **{
            **entry,
            "form": Form(entry.get("form", Form.TEXT)),
            "parser": Parser(entry["parser"]) if "parser" in entry else None,
            "choices": tuple(entry.get("choices", ())),
            "special": tuple(entry.get("special", ())),
        }
    )


def practice_of(entry: Mapping[str, Any]) -> Practice:
    """Return the practice of an entry as `practices.toml` has it."""
    lists = {name: tuple(entry.get(name, ())) for name in ("hits", "misses")}
    return Practice(**{**entry, **lists, "when": tuple(_conditions(entry["when"]))})


def _conditions(entries: Iterable[dict[str, Any]]) -> Iterator[Condition]:
    for entry in entries:
        lists: dict[str, Any] = {name: tuple(entry[name]) for name in ("equals", "differs_from") if name in entry}
        yield Condition(**{**entry, **lists})
