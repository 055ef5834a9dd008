"""Syntax: what every kind of configuration file offers."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePath
from typing import Protocol

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config, Placed


class Syntax(Protocol):
    """A file's syntax. Reading takes any bytes and never raises: what cannot be read is a fault of the Config."""

    @property
    def name(self) -> str:
        """shell, yaml, json, toml, dockerfile, env-file, nccl-conf, python."""

    def claims(self, name: str, head: bytes) -> bool:
        """Return whether a file of this name that begins so is of this syntax."""

    def read(self, name: str, data: bytes) -> Config:
        """Return the file's settings and launches, in the order of the file."""

    def change(self, config: Config, placed: Placed, value: str) -> Edit | None:
        """Return the edit that gives a setting another value, quoted as the file quotes; None where none is safe."""

    def remove(self, config: Config, placed: Placed) -> Edit | None:
        """Return the edit that takes a setting out and leaves a file that means the same otherwise, or None."""

    def add(self, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that makes a setting where the job's processes get it, as the file makes its others; None
        where the file has no such place.
        """


@lru_cache(8)
def path_of(name: str) -> PurePath:
    """Return a file's name as a path: made once for all the syntaxes that are asked about it."""
    return PurePath(name)
