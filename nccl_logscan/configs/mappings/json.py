"""The syntax of JSON: DeepSpeed, transformers, Ray's --runtime-env-json and others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.mappings.yaml import read_tree
from nccl_logscan.configs.model import Config, Placed
from nccl_logscan.configs.syntax import path_of

if TYPE_CHECKING:
    from nccl_logscan.configs.mappings.tree import Tree

_SUFFIXES = (".json", ".jsonc", ".json5")


class Json:
    """JSON, with comments and spare commas taken too."""

    name = "json"

    def claims(self, name: str, head: bytes) -> bool:
        """Return whether the name says JSON, or has no suffix and the file begins with a brace and a quote."""
        path = path_of(name.lower())
        if path.suffix in _SUFFIXES:
            return True
        return not path.suffix and head.lstrip()[:1] == b"{" and head.lstrip()[1:].lstrip()[:1] == b'"'

    def read(self, name: str, data: bytes) -> Config:
        """Return all values by their dotted paths, variables of environments by their names."""
        return read_tree(self.name, name, data, _tree(data), Kind.JSON_KEY)

    def change(self, config: Config, placed: Placed, value: str) -> Edit | None:
        """Return the edit of the value: a string stays a string, a number or boolean what it is."""
        from nccl_logscan.configs.mappings.edits import TreeEdits  # noqa: PLC0415
        from nccl_logscan.configs.mappings.json_writer import JSON_WRITER  # noqa: PLC0415

        return TreeEdits(config, _tree, JSON_WRITER).change(placed, value)

    def remove(self, config: Config, placed: Placed) -> Edit | None:
        """Return the edit that takes the key out with its comma."""
        from nccl_logscan.configs.mappings.edits import TreeEdits  # noqa: PLC0415
        from nccl_logscan.configs.mappings.json_writer import JSON_WRITER  # noqa: PLC0415

        return TreeEdits(config, _tree, JSON_WRITER).remove(placed)

    def add(self, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that sets a key in its mapping, or a variable where others are set."""
        from nccl_logscan.configs.mappings.edits import TreeEdits  # noqa: PLC0415
        from nccl_logscan.configs.mappings.json_writer import JSON_WRITER  # noqa: PLC0415

        return TreeEdits(config, _tree, JSON_WRITER).add(kind, name, value)


def _tree(data: bytes) -> Tree:
    from nccl_logscan.configs.mappings.json_tree import json_tree  # noqa: PLC0415 - what parses is imported where it is used

    return json_tree(data)
