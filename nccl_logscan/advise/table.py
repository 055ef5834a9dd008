"""The settings table: its rows, and those that are for a run."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import Any

from nccl_logscan.advise.applies import Applies, read_applies
from nccl_logscan.advise.run import Run, read_table
from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Kind, Reader
from nccl_logscan.catalogue.versions import reads
from nccl_logscan.records import dataclass


class Mark(StrEnum):
    """What is said of a setting. DEFAULT: already right, leave it. DEPENDS: `tells` is the command that tells."""

    NEEDED = "needed"
    DEPENDS = "depends"
    DEFAULT = "default"
    FOLKLORE = "folklore"
    HARMFUL = "harmful"


@dataclass(frozen=True, slots=True)
class Row:
    """A row as the table has it; `value` "" means that the setting should be left alone or taken out.

    `bad` are values that harm or that a patch may replace (empty: any). `adds`: a patch may add this flag.
    `unexported`: a patch takes out an export of it. `stays`: it leaves it in, whatever lint says of it for other runs.
    `unless`: settings that do the same.
    """

    setting: str
    value: str
    mark: Mark
    kind: Kind
    why: str
    risk: str
    source: str
    when: Applies
    where: str | None = None
    tells: str | None = None
    bad: tuple[str, ...] = ()
    adds: bool = False
    unexported: bool = False
    stays: bool = False
    unless: tuple[str, ...] = ()

    def condemns(self, value: str | None) -> bool:
        """Return whether this value is one that the row speaks against; of one that is not known it is not."""
        return value is not None and (not self.bad or value.lower() in {each.lower() for each in self.bad})


@dataclass(frozen=True, slots=True)
class Advice:
    """A row that is for a run, if also all of `provided` is so: what the user did not say, as "PyTorch >=2.8"."""

    row: Row
    provided: tuple[str, ...]
    where: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """How a variable reaches the workers: `item` with {name}, {value} and {quoted}; `use` is where the items go.

    `forwards` are beginnings of names that the launcher hands on by itself once they are exported (None: not at all).
    """

    when: Applies
    form: str
    item: str
    use: str
    where: str
    why: str
    source: str
    forwards: tuple[str, ...] | None = None

    def exports(self, name: str) -> bool:
        """Return whether an export in the script that starts the job is enough for this variable."""
        return self.form == "export" or (self.forwards is not None and name.startswith(self.forwards))


@cache
def rows() -> tuple[Row, ...]:
    """Return the whole table, in its order."""
    return tuple(_row(entry) for entry in read_table("table.toml")["row"])


@cache
def places() -> tuple[Place, ...]:
    """Return how variables reach the workers, the first that applies counts."""
    entries = read_table("places.toml")["place"]
    return tuple(_place(entry) for entry in entries)


def place_for(run: Run) -> Place:
    """Return how variables reach the workers of a run."""
    return next(place for place in places() if place.when.open_for(run) is not None)


def advice_for(run: Run) -> tuple[Advice, ...]:
    """Return the rows for a run: by mark, in the table's order within one.

    A row on a variable that its reader does not have in the version in use is left out.
    """
    place = place_for(run)
    found = []
    for row in rows():
        provided = row.when.open_for(run)
        if provided is not None and exists(row, run):
            found.append(Advice(row, provided, row.where or (place.where if row.kind is Kind.ENV else None)))
    order = list(Mark)
    return tuple(sorted(found, key=lambda advice: order.index(advice.row.mark)))


def exists(row: Row, run: Run) -> bool:
    """Return whether the versions in use have the variable; True where one is not known."""
    variable = catalogue().variable(row.setting)
    if variable is None:
        return True
    used = {Reader.NCCL: run.nccl, Reader.TORCH: run.torch}.get(variable.reader)
    return used is None or reads(variable, used)


def _place(entry: dict[str, Any]) -> Place:
    forwards = tuple(entry["forwards"]) if "forwards" in entry else None
    return Place(**{**entry, "when": read_applies(entry["when"]), "forwards": forwards})


def _row(entry: dict[str, Any]) -> Row:
    return Row(
        **{
            **entry,
            "mark": Mark(entry["mark"]),
            "kind": Kind(entry["kind"]),
            "when": read_applies(entry.get("when", {})),
            "bad": tuple(entry.get("bad", ())),
            "unless": tuple(entry.get("unless", ())),
        }
    )
