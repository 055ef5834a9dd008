"""The syntax of TOML: torchtitan's job files and others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.mappings.yaml import read_tree
from nccl_logscan.configs.model import Config, Placed
from nccl_logscan.configs.syntax import path_of

if TYPE_CHECKING:
    from nccl_logscan.configs.mappings.tree import Tree


class Toml:
    """TOML 1.0; a key's kind is YAML_KEY, as its dotted name is."""

    name = "toml"

    def claims(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - nothing in it tells TOML from an ini file
        """Return whether the name says TOML."""
        return path_of(name.lower()).suffix == ".toml"

    def read(self, name: str, data: bytes) -> Config:
        """Return all values by their dotted paths, variables of environments by their names."""
        return read_tree(self.name, name, data, _tree(data), Kind.YAML_KEY)

    def change(self, config: Config, placed: Placed, value: str) -> Edit | None:
        """Return the edit of the value: a string stays one, in its quotes."""
        from nccl_logscan.configs.mappings.toml_edits import changed  # noqa: PLC0415 - only where something is changed

        return changed(config, _tree, placed, value)

    def remove(self, config: Config, placed: Placed) -> Edit | None:
        """Return the edit that takes the key out with its line."""
        from nccl_logscan.configs.mappings.toml_edits import removed  # noqa: PLC0415 - as above

        return removed(config, _tree, placed)

    def add(self, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that sets a key in its table, which is made at the file's end where it is missing."""
        from nccl_logscan.configs.mappings.toml_edits import added  # noqa: PLC0415 - as above

        return added(config, _tree, kind, name, value)


def _tree(data: bytes) -> Tree:
    from nccl_logscan.configs.mappings.toml_tree import toml_tree  # noqa: PLC0415 - what parses is imported where it is used

    return toml_tree(data)
