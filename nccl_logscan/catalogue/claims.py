"""Claims about NCCL and verl that articles copy from each other, each looked up in the sources."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

from nccl_logscan.records import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed, whether it holds, and what does.

    `names` are the settings that it is about, with Hydra's mark where the claim has one; `values` are those that it
    tells people to write (empty: any). `dead`: the names do nothing anywhere, or abort. It concerns those who use one
    of the frameworks or launchers named, or everyone where none is.
    """

    id: str
    claim: str
    verdict: str
    fact: str
    source: str
    frameworks: frozenset[str]
    launchers: frozenset[str]
    names: tuple[str, ...]
    values: tuple[str, ...]
    dead: bool = False

    def concerns(self, framework: str, launcher: str) -> bool:
        """Return whether one who runs this framework with this launcher may meet it."""
        everyone = not (self.frameworks or self.launchers)
        return everyone or framework in self.frameworks or launcher in self.launchers


@cache
def claims() -> tuple[Claim, ...]:
    """Return every claim, in the order of the file."""
    text = (resources.files("nccl_logscan.catalogue") / "data" / "claims.toml").read_text("utf-8")
    return tuple(_claims(tomllib.loads(text)["claim"]))


def _claims(entries: list[dict[str, Any]]) -> Iterator[Claim]:
    for entry in entries:
        whom = {key: frozenset(entry.get(key, ())) for key in ("frameworks", "launchers")}
        what = {key: tuple(entry.get(key, ())) for key in ("names", "values")}
        yield Claim(**{**entry, **whom, **what})
