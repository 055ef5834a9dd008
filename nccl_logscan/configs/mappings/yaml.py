"""The syntax of YAML: Kubernetes manifests, Compose, Hydra, Accelerate, Ray, SkyPilot and others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config, LineIndex, Placed
from nccl_logscan.configs.syntax import path_of
from nccl_logscan.expressions import deferred

if TYPE_CHECKING:
    from nccl_logscan.configs.mappings.tree import Tree

_SUFFIXES = (".yaml", ".yml", ".yaml.j2", ".yml.j2", ".yaml.tpl", ".yaml.tmpl", ".yaml.template", ".yaml.jinja")
_TELLING = deferred(rb"(?:[ \t]*+(?:#(?!!)[^\n]*+)?\r?\n)*+(?:---[ \t\r]*+\n|apiVersion:|compute_environment:)")
_OPEN_SUFFIXES = frozenset({"", ".tpl", ".tmpl", ".j2", ".template"})


class Yaml:
    """YAML as its 1.1 readers (PyYAML, Kubernetes) take it, templates of Helm and Jinja within it or not."""

    name = "yaml"

    def claims(self, name: str, head: bytes) -> bool:
        """Return whether the name says YAML, or says nothing and the file begins as YAML does."""
        path = path_of(name.lower())
        if path.name.endswith(_SUFFIXES):
            return True
        return path.suffix in _OPEN_SUFFIXES and _TELLING.match(head) is not None

    def read(self, name: str, data: bytes) -> Config:
        """Return all values by their dotted paths, variables of environments by their names."""
        return read_tree(self.name, name, data, _tree(data), Kind.YAML_KEY)

    def change(self, config: Config, placed: Placed, value: str) -> Edit | None:
        """Return the edit of the value, in its quotes; a text stays one, in new quotes if need be."""
        from nccl_logscan.configs.mappings.edits import TreeEdits  # noqa: PLC0415
        from nccl_logscan.configs.mappings.yaml_writer import YAML_WRITER  # noqa: PLC0415

        return TreeEdits(config, _tree, YAML_WRITER).change(placed, value)

    def remove(self, config: Config, placed: Placed) -> Edit | None:
        """Return the edit that takes the key or entry out with its line and the comment at its end."""
        from nccl_logscan.configs.mappings.edits import TreeEdits  # noqa: PLC0415
        from nccl_logscan.configs.mappings.yaml_writer import YAML_WRITER  # noqa: PLC0415

        return TreeEdits(config, _tree, YAML_WRITER).remove(placed)

    def add(self, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that sets a variable in the environments that set others, or a key in its mapping."""
        from nccl_logscan.configs.mappings.edits import TreeEdits  # noqa: PLC0415
        from nccl_logscan.configs.mappings.yaml_writer import YAML_WRITER  # noqa: PLC0415

        return TreeEdits(config, _tree, YAML_WRITER).add(kind, name, value)


def _tree(data: bytes) -> Tree:
    from nccl_logscan.configs.mappings.yaml_tree import yaml_tree  # noqa: PLC0415 - what parses is imported where it is used

    return yaml_tree(data)


def read_tree(syntax: str, name: str, data: bytes, tree: Tree, kind: Kind) -> Config:
    """Return a tree's settings as a Config of this syntax."""
    from nccl_logscan.configs.mappings.placing import settings_in  # noqa: PLC0415 - as above

    lines = LineIndex(data)
    found = settings_in(tree, name, lines, kind)
    cut = (f"more than {len(found.placed)} settings: only the first were looked at",) if found.is_cut else ()
    return Config(name, syntax, data, found.placed, found.launches, found.pins, (*tree.faults, *cut))
