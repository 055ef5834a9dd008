"""The shipped catalogue, read once.

`data/variables.jsonl` and `data/options.jsonl` hold an entry a line, which reads in milliseconds and makes a change of
one entry a change of one line (a variable's begins with its name); `data/practices.toml` is written by people.

An option that is a variable leaves out what the variable's line says: its domain, its default, since when it is read.
It says one of them only where its framework differs (verl sets another default for its workers).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any

from nccl_logscan.catalogue.domain import takes
from nccl_logscan.catalogue.model import (
    Condition,
    Default,
    Domain,
    Form,
    Kind,
    Option,
    Parser,
    Practice,
    Reader,
    Variable,
)
from nccl_logscan.catalogue.versions import version

_CALL = re.compile(r"(?:\w+\.)*(?P<name>\w+)\((?:(?P<keyword>\w+)=)?(?:[^()]|\([^()]*\))*\)")

_NEAR = 2
"""How many letters a misspelt name may differ by (swapped neighbours count once)."""
_TELLING = 11
"""Letters from which a name that others read is one to propose: NODE_RANKS is no misspelt LOCAL_RANK."""
_HEAD = '{"name": "'
"""What a variable's line begins with."""
_SHORT = 5
"""Up to so many letters after the prefix it is one: a script's own NCCL_ENV is no NCCL_NET, NCCL_PORT no NCCL_PROTO."""


@dataclass(frozen=True)
class Catalogue:
    """Every variable, option and practice."""

    variables: Mapping[str, Variable]

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Every option; read when first asked for."""
        return tuple(_option(entry, self.variables) for entry in _entries("options.jsonl"))

    @cached_property
    def practices(self) -> tuple[Practice, ...]:
        """Every practice; read when first asked for."""
        import tomllib  # noqa: PLC0415 - a scan without configuration files asks for no practice

        text = _data("practices.toml")
        return tuple(_practice(entry) for entry in tomllib.loads(text).get("practice", ()))

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[Option, ...]]:
        found: dict[str, list[Option]] = {}
        for option in self.options:
            for name in option.names:
                found.setdefault(written_form(name), []).append(option)
        return {name: tuple(options) for name, options in found.items()}

    def variable(self, name: str) -> Variable | None:
        """Return the variable of this exact name, or else the family that it belongs to (UCX_TLS: UCX_*)."""
        return self.variables.get(name) or self._family(name)

    def _family(self, name: str) -> Variable | None:
        if not name.startswith(self._families):
            return None
        return self.variables[f"{max(filter(name.startswith, self._families), key=len)}*"]

    @cached_property
    def _families(self) -> tuple[str, ...]:
        return tuple(name[:-1] for name in self.variables if name.endswith("*"))

    def options_called(self, name: str, framework: str | None = None) -> tuple[Option, ...]:
        """Return the options that may be written so; of one framework, where one is named.

        Calls are found by their last name: `torch.distributed.init_process_group(timeout=...)` is
        `init_process_group(timeout=)`.
        """
        found = self._by_name.get(written_form(name), ())
        return tuple(option for option in found if framework in {None, option.framework})

    def of_concept(self, concept: str) -> tuple[Option, ...]:
        """Return what the frameworks call one thing, such as the process group's timeout.

        What may be advised comes first: dead, harmful and unverified options follow, for they are known and no advice.
        """
        found = (option for option in self.options if option.concept == concept)
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
        # As long to import as the rest of a scan of a short log takes to start.
        from rapidfuzz import process  # noqa: PLC0415
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        near = 1 if len(name.partition("_")[2]) <= _SHORT else _NEAR
        found = process.extractOne(name, self._names, scorer=OSA.distance, score_cutoff=near)
        return found[0] if found else None


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
    return (resources.files("nccl_logscan.catalogue") / "data" / name).read_text("utf-8")


def _entries(name: str) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in _data(name).splitlines() if line)


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
    return Option(
        **{
            **_of_variable(entry["names"], variables),
            **said,
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


def _practice(entry: dict[str, Any]) -> Practice:
    lists = {name: tuple(entry.get(name, ())) for name in ("hits", "misses")}
    return Practice(**{**entry, **lists, "when": tuple(_conditions(entry["when"]))})


def _conditions(entries: Iterable[dict[str, Any]]) -> Iterator[Condition]:
    for entry in entries:
        lists: dict[str, Any] = {name: tuple(entry[name]) for name in ("equals", "differs_from") if name in entry}
        yield Condition(**{**entry, **lists})
