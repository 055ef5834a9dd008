"""From a tree of YAML or JSON to the settings in it: keys by their dotted path, environments by their variables."""

from __future__ import annotations

import re

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.embedded.texts import Inner, read_inner, sources_in
from nccl_logscan.configs.mappings.framework_keys import framework_of_keys, is_manifest
from nccl_logscan.configs.mappings.tree import Alias, Mapping, Node, Scalar, Sequence, Tree, resolved
from nccl_logscan.configs.mappings.variable_names import ENVIRONMENTS, RUNTIME_ENVIRONMENTS, is_telling, is_variable
from nccl_logscan.configs.model import Form, Launch, LineIndex, Placed
from nccl_logscan.configs.pins import pins_in
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span
from nccl_logscan.records import dataclass, replace

_LONGEST_PATH = 400
_ALIASED_NODES = 2000
_ALIASES_DEEP = 2
_MOST = 50_000
"""How many settings of one file are looked at: the rest is data, no configuration."""

_PAIR = deferred(r"([A-Z_][A-Z0-9_]*)(?:=(.*))?", re.DOTALL)
_DEFAULT = deferred(r"\$\{\w{1,100}:?-([^${}]{0,1000})\}")
_TRUE = frozenset({"true", "yes", "on", "y"})
_EXPANSION = deferred(r"\$\{|\$\(|\{\{")


@dataclass(frozen=True, slots=True)
class _Where:
    """What holds for all below a place: whose file it is, and whether its keys are variables."""

    kind: Kind
    framework: str | None = None
    environment: Form | None = None
    key: str | None = None
    aliases: int = 0


@dataclass(frozen=True, slots=True)
class Settings:
    """What a tree holds."""

    placed: tuple[Placed, ...]
    launches: tuple[Launch, ...]
    pins: dict[str, str]
    is_cut: bool


def settings_in(tree: Tree, name: str, lines: LineIndex, kind: Kind) -> Settings:
    """Return the settings of a tree in the file's order; `kind` is that of a key which is no variable."""
    placing = _Placing(tree, name, lines)
    for document in tree.documents[:_MOST]:
        placing.walk(document, _Where(kind))
    placed = sorted(placing.own(), key=lambda placed: (placed.span.start, placed.span.end))
    return Settings(tuple(placed), tuple(placing.launches), placing.pins, len(placed) >= _MOST)


class _Placing:
    """The walk over a file's documents and what it has found."""

    def __init__(self, tree: Tree, name: str, lines: LineIndex) -> None:
        self.placed: list[Placed] = []
        self.launches: list[Launch] = []
        self.pins: dict[str, str] = {}
        self._name = name
        self._tree = tree
        self._lines = lines
        self._variables: set[int] = set()
        self._inner: set[int] = set()
        self._aliased = 0
        self._stack: list[tuple[Node, str, _Where]] = []

    def own(self) -> list[Placed]:
        """Return what was placed; what an alias shows to be a variable is no key besides."""
        return [one for one in self.placed if one.form is not Form.MAPPING or one.span.start not in self._variables]

    def walk(self, root: Node, where: _Where) -> None:
        """Place all below a root, one node after the other: nothing here goes deeper than a loop."""
        self._stack.append((root, "", where))
        while self._stack and len(self.placed) < _MOST:
            node, path, where = self._stack.pop()
            if len(path) > _LONGEST_PATH:
                continue
            match node:
                case Mapping():
                    self._mapping(node, path, where)
                case Sequence():
                    self._sequence(node, path, where)
                case Scalar():
                    self._leaf(path, node, Span(node.start, node.end), where)
                case Alias():
                    self._descend(node, path, where)

    def _descend(self, node: Node, path: str, where: _Where) -> None:
        """Look at what an alias stands for, as often as a file may ask for that."""
        if isinstance(node, Alias):
            where = replace(where, aliases=where.aliases + 1)
        if where.aliases:
            self._aliased += 1
            if self._aliased > _ALIASED_NODES or where.aliases > _ALIASES_DEEP:
                return
        self._stack.append((resolved(node), path, where))

    def _mapping(self, node: Mapping, path: str, where: _Where) -> None:
        keys = node.names()
        where = self._refined(keys, where)
        read = [found for found in sources_in(node, self._tree.data) if self._take(found)]
        taken = {id(source) for found in read for source in found.nodes}
        for key, value in node.pairs:
            if not isinstance(key, Scalar) or key.opaque or id(value) in taken:
                continue
            if key.text == "<<" and not key.quote:
                self._merge(value, keys, path, where)
            else:
                self._pair(key, value, f"{path}.{key.text}" if path else key.text, where)

    def _refined(self, keys: set[str], where: _Where) -> _Where:
        framework = framework_of_keys(keys, where.key, where.framework)
        if framework == where.framework:
            return where
        return replace(where, framework=framework, kind=Kind.K8S_FIELD if is_manifest(keys) else where.kind)

    def _merge(self, value: Node, keys: set[str], path: str, where: _Where) -> None:
        """<<: *defaults → its pairs, those left out that the mapping has itself."""
        targets = value.items if isinstance(value, Sequence) else [value]
        for target in map(resolved, targets):
            if isinstance(target, Mapping):
                pairs = [pair for pair in target.pairs if isinstance(pair[0], Scalar) and pair[0].text not in keys]
                merged = Mapping(target.start, target.end, target.flow, pairs)
                self._descend(merged, path, replace(where, aliases=where.aliases + 1))

    def _pair(self, key: Scalar, value: Node, path: str, where: _Where) -> None:
        target = resolved(value)
        if isinstance(target, Scalar):
            name, held = key.text, where.environment
            if is_variable(name) and (held or is_telling(name)):
                self._variable(key, target, held or Form.ENV_MAPPING, where)
            else:
                # A value by alias is given where its anchor is.
                first = target.start if isinstance(value, Alias) else key.start
                self._leaf(path, target, Span(first, target.end), where, key)
            return
        self._descend(value, path, replace(where, key=key.text, environment=self._environment(key.text, where)))

    @staticmethod
    def _environment(key: str, where: _Where) -> Form | None:
        """Return how the variables are given that are the keys of what follows."""
        if key == "env_vars" or (key in ENVIRONMENTS and where.key in RUNTIME_ENVIRONMENTS):
            return Form.RUNTIME_ENV
        return Form.ENV_MAPPING if key in ENVIRONMENTS else None

    def _variable(self, key: Scalar, value: Scalar, form: Form, where: _Where) -> None:
        """Place KEY: value of an environment, where its key stands; one that aliases show twice only once."""
        if key.start in self._variables:
            return
        self._variables.add(key.start)
        # As written where it is no text: what becomes of 0x10 or yes is the launcher's matter.
        text = None if value.type == "null" else value.text
        self._place(key.text, text, Kind.ENV, form, key, Span(key.start, value.end), value, where)

    def _sequence(self, node: Sequence, path: str, where: _Where) -> None:
        for number, item in enumerate(node.items):
            here = f"{path}[{number}]"
            target = resolved(item)
            if where.environment and isinstance(target, Mapping) and self._named(target, where):
                continue
            if isinstance(target, Scalar):
                if not (where.environment and self._assigned(target, where)):
                    self._leaf(here, target, Span(target.start, target.end), where)
            else:
                self._descend(item, here, replace(where, environment=None))

    def _named(self, entry: Mapping, where: _Where) -> bool:
        """Place {name: X, value: Y} of an environment; return whether it is that."""
        name = entry.get("name")
        if not isinstance(name, Scalar) or not re.fullmatch(r"[-._a-zA-Z][-._a-zA-Z0-9]*", name.text):
            return False
        if name.start in self._variables or name.opaque:
            return True
        self._variables.add(name.start)
        value = entry.get("value")
        target = resolved(value) if value else None
        scalar = target if isinstance(target, Scalar) and target.type != "null" else None
        text = scalar.text if scalar else None
        self._place(name.text, text, Kind.ENV, Form.ENV_LIST, name, Span(entry.start, entry.end), scalar, where)
        return True

    def _assigned(self, item: Scalar, where: _Where) -> bool:
        """Place "X=Y" in a list that is an environment; return whether it is that."""
        pair = _PAIR.fullmatch(item.text)
        if not pair:
            return False
        if item.start not in self._variables:
            self._variables.add(item.start)
            form = where.environment or Form.ENV_MAPPING
            self._place(pair[1], pair[2], Kind.ENV, form, item, Span(item.start, item.end), item, where)
        return True

    def _leaf(self, path: str, value: Scalar, span: Span, where: _Where, key: Scalar | None = None) -> None:
        start = key if key and key.start == span.start else value
        self._place(path, _value(value), where.kind, Form.MAPPING, start, span, value, where)
        if "==" in value.text:
            self.pins.update(pins_in(value.text))

    def _place(  # noqa: PLR0917 - a setting's facts, as the three that call it find them
        self,
        name: str,
        value: str | None,
        kind: Kind,
        form: Form,
        first: Scalar,
        span: Span,
        scalar: Scalar | None,
        where: _Where,
    ) -> None:
        if len(name) > _LONGEST_PATH or len(self.placed) >= _MOST:
            return
        default = _DEFAULT.fullmatch(value or "") if where.framework == "docker" and kind is Kind.ENV else None
        if default:
            value = default[1]
        elif scalar and (scalar.opaque or (value is not None and "{" in value + "(" and _EXPANSION.search(value))):
            value = None
        self.placed.append(
            Placed(
                name=name,
                value=value,
                kind=kind,
                form=form,
                at=self._lines.position(self._name, first.start),
                column=self._lines.column_of(first.start),
                span=span,
                value_span=Span(scalar.start, scalar.end) if scalar else None,
                scalar=scalar.type if scalar else "text",
                framework=where.framework,
                fallback=default is not None,
            )
        )

    def _take(self, found: Inner) -> bool:
        """Place what a text within the file sets, once however many aliases lead to it; return whether it was read."""
        begin = found.splice.pieces[0].outer if found.splice.pieces else -1
        if begin in self._inner:
            return True
        config = read_inner(found, self._name, self._lines)
        if config is None:
            return False
        self._inner.add(begin)
        self.placed.extend(self._untemplated(placed) for placed in config.settings)
        self.launches.extend(config.launches)
        self.pins.update(config.pins)
        return True

    def _untemplated(self, placed: Placed) -> Placed:
        span = placed.value_span
        if span and self._tree.templates and self._tree.is_templated(span.start, span.end):
            return replace(placed, value=None)
        return placed


def _value(scalar: Scalar) -> str:
    """Return what a program gets: yes → true, 0x10 → 16, ~ → null."""
    match scalar.type:
        case "boolean":
            return "true" if scalar.text.lower() in _TRUE else "false"
        case "null":
            return "null"
        case "integer" if not scalar.text.isdecimal() or scalar.text[0] == "0":
            from nccl_logscan.configs.mappings.yaml_tree import plain_number  # noqa: PLC0415 - JSON's integers never need it

            return plain_number(scalar.text)
    return scalar.text
