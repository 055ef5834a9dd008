"""The syntax of Dockerfiles and Containerfiles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config, Placed
from nccl_logscan.configs.syntax import path_of
from nccl_logscan.expressions import deferred

if TYPE_CHECKING:
    from nccl_logscan.configs.dockerfile.reading import Instructions

_TELLING = deferred(rb"(?:[ \t]*+(?:#[^\n]*+)?\r?\n)*+[ \t]*+(?:FROM|ARG)[ \t]", re.IGNORECASE)
_SUFFIXES = (".dockerfile", ".containerfile", ".docker")


class Dockerfile:
    """Dockerfiles and Containerfiles."""

    name = "dockerfile"

    def claims(self, name: str, head: bytes) -> bool:
        """Return whether the name says so; a `.docker` or a name without suffix must begin with FROM or ARG."""
        file = path_of(name).name.lower()
        if file.startswith(("dockerfile", "containerfile")) or file.endswith(_SUFFIXES[:2]):
            return not file.endswith((".sh", ".py", ".yaml", ".yml", ".json", ".md"))
        return (file.endswith(_SUFFIXES) or "." not in file) and _TELLING.match(head) is not None

    def read(self, name: str, data: bytes) -> Config:
        """Return what ENV and ARG set, and what the commands of RUN, CMD and ENTRYPOINT set for themselves."""
        return _instructions().read(name, data)

    def change(self, config: Config, placed: Placed, value: str) -> Edit | None:
        """Return the edit of the value, in its quotes."""
        return _instructions().change(config, placed, value)

    def remove(self, config: Config, placed: Placed) -> Edit | None:
        """Return the edit that takes the pair out, or the whole instruction where it is the only one."""
        return _instructions().remove(config, placed)

    def add(self, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that writes an ENV line behind the last ENV of the last stage, or behind its FROM."""
        return _instructions().add(config, kind, name, value)


def _instructions() -> Instructions:
    from nccl_logscan.configs.dockerfile.reading import Instructions  # noqa: PLC0415 - only where there is a Dockerfile

    return Instructions()
