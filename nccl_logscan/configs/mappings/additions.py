"""Adding a variable to the environments of a YAML or JSON file, or a key to its mapping."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit, applied
from nccl_logscan.configs.mappings.edits import TREE_FORMS, Parser, spot_of
from nccl_logscan.configs.mappings.insertion import appended, inserted_after
from nccl_logscan.configs.mappings.tree import Mapping, Node, Scalar, Sequence, Tree, descendants
from nccl_logscan.configs.mappings.variable_names import is_telling
from nccl_logscan.configs.mappings.writer import Writer
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.configs.proof import adds_just, in_condition
from nccl_logscan.expressions import deferred

_PART = deferred(r"([^.\[\]]+)((?:\[\d+\])*)(?:\.|\Z)")
_KEYS = frozenset({Kind.YAML_KEY, Kind.JSON_KEY, Kind.K8S_FIELD})


class Additions:
    """Additions to one file."""

    def __init__(self, config: Config, parse: Parser, writer: Writer) -> None:
        self._config = config
        self._parse = parse
        self._writer = writer
        self._tree: Tree = parse(config.data)

    def add(self, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that makes the setting, tried: the file then has it, and all that it had."""
        if kind is Kind.ENV:
            edit = self._tried(self._variable(name, value), name, value)
            return edit or self._within(kind, name, value)
        if kind in _KEYS:
            return self._of_service(name, value) or self._tried(self._key(name, value), name, value)
        return self._within(kind, name, value)

    def _of_service(self, name: str, value: str) -> Edit | None:
        """Return the edit that gives a compose file's one service, or its one with GPUs, a key of its own."""
        root = self._tree.documents[0] if len(self._tree.documents) == 1 else None
        services = root.get("services") if isinstance(root, Mapping) else None
        if not isinstance(services, Mapping) or not re.fullmatch(r"\w+", name):
            return None
        named = [(key.text, one) for key, one in services.pairs if isinstance(key, Scalar) and isinstance(one, Mapping)]
        chosen = [entry for entry in named if _has_gpus(entry[1])] or named
        if len(chosen) != 1 or chosen[0][1].get(name) is not None or not chosen[0][1].pairs:
            return None
        service, home = chosen[0]
        edit = self._entry(home, [self._writer.key(name)], self._writer.scalar(value, None, is_text=False))
        return self._tried([edit], f"services.{service}.{name}", value)

    def _within(self, kind: Kind, name: str, value: str) -> Edit | None:
        from nccl_logscan.configs.embedded.edits import inner_addition  # noqa: PLC0415 - only where there is one

        return inner_addition(self._config, self._parse, kind, name, value)

    def _tried(self, edits: list[Edit | None], name: str, value: str) -> Edit | None:
        if not edits or any(edit is None for edit in edits):
            return None
        if self._tree.templates and any(in_condition(self._config.data, edit.end) for edit in edits if edit):
            return None
        edit = as_one(self._config.data, [edit for edit in edits if edit])
        return edit if adds_just(self._config, edit, name, value, len(edits)) else None

    def _variable(self, name: str, value: str) -> list[Edit | None]:
        homes = self._homes(name)
        if homes is None:
            return []
        if homes:
            return [self._to_home(home, name, value) for home in homes]
        return self._to_new_home(name, value)

    def _homes(self, name: str) -> list[Mapping | Sequence] | None:
        """Return the environments to set a variable in: those that set others of NCCL and the like, or else all.

        None where each of them has it already.
        """
        found: dict[int, tuple[Mapping | Sequence, list[Placed]]] = {}
        for placed in self._config.settings:
            if placed.kind is Kind.ENV and placed.form in TREE_FORMS and (spot := spot_of(self._tree, placed)):
                found.setdefault(id(spot.parent), (spot.parent, []))[1].append(placed)
        telling = [entry for entry in found.values() if any(is_telling(placed.name) for placed in entry[1])]
        chosen = telling or list(found.values())
        without = [home for home, made in chosen if all(placed.name != name for placed in made)]
        return None if chosen and not without else without

    def _to_home(self, home: Mapping | Sequence, name: str, value: str) -> Edit | None:
        if isinstance(home, Mapping):
            like = self._like(pair[1] for pair in home.pairs)
            is_text = any(
                placed.form is Form.RUNTIME_ENV and home.start <= placed.span.start < home.end
                for placed in self._config.settings
            )
            return self._entry(home, [self._writer.key(name)], self._writer.scalar(value, like, is_text=is_text))
        entries = [item for item in home.items if isinstance(item, Mapping)]
        if not entries:
            like = self._like(home.items)
            return self._item(home, self._writer.scalar(f"{name}={value}", like, is_text=True))
        like = self._like(pair[1] for item in entries for pair in item.pairs if _is_key(pair[0], "value"))
        return self._named(home, name, self._writer.scalar(value, like, is_text=True), is_flow=entries[-1].flow)

    @staticmethod
    def _like(values: Iterable[Node]) -> Scalar | None:
        """Return the last value that shows how values are written."""
        scalars = [node for node in values if isinstance(node, Scalar) and node.quote not in ("|", ">") and node.text]
        return scalars[-1] if scalars else None

    def _named(self, home: Sequence, name: str, text: bytes | None, *, is_flow: bool) -> Edit | None:
        keys = self._writer.key("name"), self._writer.key("value"), self._writer.scalar(name, None, is_text=True)
        if text is None or None in keys:
            return None
        first, second = b"%s: %s" % (keys[0], keys[2]), b"%s: %s" % (keys[1], text)
        if home.flow or is_flow:
            return self._item(home, b"{" + first + b", " + second + b"}")
        return appended(self._config.data, home, [b"- " + first, b"  " + second])

    def _item(self, home: Sequence, text: bytes | None) -> Edit | None:
        if text is None:
            return None
        return appended(self._config.data, home, [text if home.flow else b"- " + text])

    def _entry(self, home: Mapping, keys: list[bytes | None], text: bytes | None) -> Edit | None:
        """Return the edit that adds `text` under keys, each within the one before."""
        if text is None or None in keys:
            return None
        names = [key for key in keys if key is not None]
        if home.flow:
            nested = b": {".join(names) + b": " + text + b"}" * (len(names) - 1)
            return appended(self._config.data, home, [nested])
        lines = [b"  " * depth + key + b":" for depth, key in enumerate(names)]
        return appended(self._config.data, home, [*lines[:-1], lines[-1] + b" " + text])

    def _to_new_home(self, name: str, value: str) -> list[Edit | None]:
        """Return the edits that make the environment which the file lacks, where its kind of file has one."""
        key, text = self._writer.key(name), self._writer.scalar(value, None, is_text=True)
        if key is None or text is None:
            return []
        listed = [b"env:", b"- name: " + key, b"  value: " + _quoted(text)]
        edits: list[Edit | None] = []
        for parent, home in self._parents():
            match parent:
                case "containers":
                    edits.append(self._beside_image(home, listed, key, text))
                case "services":
                    edits.append(self._entry(home, [self._writer.key("environment"), key], text))
                case "runtime_env":
                    edits.append(self._entry(home, [self._writer.key("env_vars"), key], text))
        root = self._tree.documents[0] if len(self._tree.documents) == 1 else None
        if (
            not edits
            and isinstance(root, Mapping)
            and "run" in root.names()
            and root.names() & {"resources", "num_nodes"}
        ):
            edits.append(self._entry(root, [self._writer.key("envs"), key], text))
        return edits

    def _beside_image(self, home: Mapping, lines: list[bytes], key: bytes, text: bytes) -> Edit | None:
        if home.flow:
            names = [self._writer.key(word) for word in ("env", "name", "value")]
            name = self._writer.scalar(key.decode().strip('"'), None, is_text=True)
            listed = b"%s: [{%s: %s, %s: %s}]" % (names[0], names[1], name, names[2], _quoted(text))
            return appended(self._config.data, home, [listed])
        number = next(at for at, (key, _) in enumerate(home.pairs) if _is_key(key, "image"))
        return inserted_after(self._config.data, home, number, lines)

    def _parents(self) -> Iterable[tuple[str, Mapping]]:
        """Yield the mappings that may hold an environment and have none, with what they are."""
        for node in descendants(self._tree.documents):
            for key, value in node.pairs if isinstance(node, Mapping) else ():
                name = key.text if isinstance(key, Scalar) else ""
                if name == "containers" and isinstance(value, Sequence):
                    yield from (("containers", one) for one in _lacking(value.items, "env") if one.get("image"))
                elif name == "services" and isinstance(value, Mapping):
                    yield from (("services", one) for one in _lacking((pair[1] for pair in value.pairs), "environment"))
                elif name in ("runtime_env", "runtimeEnv"):
                    yield from (("runtime_env", one) for one in _lacking([value], "env_vars"))

    def _key(self, name: str, value: str) -> list[Edit | None]:
        parts = _parts(name)
        if not parts:
            return []
        found = [_deepest(document, parts) for document in self._tree.documents]
        best = max(found, key=lambda spot: spot[1], default=None)
        if best is None or (len(found) > 1 and best[1] == 0):
            return []
        home, depth = best
        rest = parts[depth:]
        if not isinstance(home, Mapping) or not rest or not all(isinstance(part, str) for part in rest):
            return []
        if any(_is_key(key, str(rest[0])) for key, _ in home.pairs) or (not home.pairs and not home.flow):
            return []
        keys = [self._writer.key(str(part)) for part in rest]
        return [self._entry(home, keys, self._writer.scalar(value, None, is_text=False))]


def _has_gpus(service: Mapping) -> bool:
    """Whether a service asks for GPUs: by `gpus`, the runtime, or a device of the capability."""
    below = (node for node in descendants((service,)) if isinstance(node, Scalar))
    return service.get("gpus") is not None or any(node.text in ("gpu", "nvidia") for node in below)


def _lacking(nodes: Iterable[Node], key: str) -> Iterable[Mapping]:
    """Yield the mappings that have pairs and not this key."""
    return (node for node in nodes if isinstance(node, Mapping) and node.pairs and node.get(key) is None)


def _quoted(text: bytes) -> bytes:
    """Return a plain value in quotes: what Kubernetes takes for a variable's value is a string."""
    return text if text[:1] in (b'"', b"'") else b'"' + text + b'"'


def _is_key(node: Node, text: str) -> bool:
    return isinstance(node, Scalar) and node.text == text


def _parts(name: str) -> list[str | int]:
    """a.b[0].c → a, b, 0, c; nothing for what is no dotted key."""
    parts: list[str | int] = []
    at = 0
    while at < len(name):
        match = _PART.match(name, at)
        if match is None:
            return []
        parts.append(match[1])
        parts += [int(number) for number in re.findall(r"\d+", match[2])]
        at = match.end()
    return parts


def _deepest(node: Node, parts: list[str | int]) -> tuple[Node, int]:
    """Return the deepest node along a path and how many parts lead to it."""
    for depth, part in enumerate(parts):
        if isinstance(node, Sequence) and isinstance(part, int) and part < len(node.items):
            below: Node | None = node.items[part]
        else:
            below = node.get(str(part)) if isinstance(node, Mapping) else None
        if below is None or not isinstance(below, (Mapping, Sequence)):
            return node, depth
        node = below
    return node, len(parts)


def as_one(data: bytes, edits: list[Edit]) -> Edit:
    """Return one edit that does what several do; what lies between them is kept as it is."""
    start, end = min(edit.start for edit in edits), max(edit.end for edit in edits)
    moved = [Edit(edit.start - start, edit.end - start, edit.text) for edit in edits]
    return Edit(start, end, applied(data[start:end], moved))
