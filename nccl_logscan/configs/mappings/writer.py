"""Writer: how a syntax writes values and keys."""

from __future__ import annotations

from typing import Protocol

from nccl_logscan.configs.mappings.tree import Scalar


class Writer(Protocol):
    """The writing half of YAML or JSON."""

    def scalar(self, value: str, like: Scalar | None, *, is_text: bool) -> bytes | None:
        """Return a value as written in the manner of `like`, the scalar that it replaces; None where that is not safe.

        `is_text`: its reader takes only text.
        """

    def key(self, name: str) -> bytes | None:
        """Return a key as written; None for one that is not safe."""
