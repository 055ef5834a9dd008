"""The rule files of a folder, as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from nccl_logscan.errors import InputError, Problem
from nccl_logscan.records import dataclass

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Folder: TypeAlias = "Path | Traversable"

MAX_BYTES = 1_048_576
"""No rule is near so long; what a site's folder holds is not trusted."""


@dataclass(frozen=True, slots=True)
class RuleSource:
    """A rule file as it was found: `name` as shown to people, `expected_id` by its path."""

    name: str
    expected_id: str
    content: bytes


def find_rules(folder: Folder) -> Iterator[RuleSource | Problem]:
    """Yield the rule files of a folder, sorted; a YAML file that is not in a category's folder is a problem."""
    label = _label(folder)
    if not folder.is_dir():
        raise InputError(f"{label} is not a folder", hint="give the folder that holds <category>/<what-failed>.yaml")
    found = 0
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = f"{label}/{entry.name}"
        if entry.is_dir():
            for rule in _walk_category(entry, name):
                found += 1
                yield rule
        elif entry.name.endswith((".yaml", ".yml")):
            found += 1
            yield Problem(name, 1, 1, "lies outside of a category's folder; move it to <category>/<what-failed>.yaml")
    if not found:
        raise InputError(f"{label} holds no rule", hint="give the folder that holds <category>/<what-failed>.yaml")


def _walk_category(folder: Folder, label: str) -> Iterator[RuleSource | Problem]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        name = f"{label}/{entry.name}"
        if entry.name.endswith(".yml"):
            yield Problem(name, 1, 1, "ends in .yml; a rule file ends in .yaml")
        elif entry.name.endswith(".yaml") and entry.is_file():
            yield RuleSource(name, f"{folder.name}/{entry.name.removesuffix('.yaml')}", _content(entry))


def _content(entry: Folder) -> bytes:
    with entry.open("rb") as file:
        content: bytes = file.read(MAX_BYTES)
    return content


def _label(folder: Folder) -> str:
    """Return a folder's name as messages show it: below the current folder where it is there."""
    path = Path(str(folder))
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return path.as_posix()


def digest_of(sources: Iterable[RuleSource]) -> str:
    """Return the sha256 (hex) over ids and contents, whatever the order of `sources`."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, and a scan with the built-in rules can do without

    digest = hashlib.sha256()
    for source in sorted(sources, key=lambda source: (source.expected_id, source.name)):
        digest.update(f"{source.expected_id}\0{len(source.content)}\0".encode())
        digest.update(source.content)
    return digest.hexdigest()
