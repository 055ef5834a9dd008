"""Which files no check could speak of, told from their bytes alone: those are not parsed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from ahocorasick_rs import BytesAhoCorasick

from nccl_logscan.catalogue.load import Catalogue, catalogue
from nccl_logscan.catalogue.model import Kind, Reader
from nccl_logscan.configs.read import is_utf16
from nccl_logscan.expressions import deferred

# What any variable begins with of which a check may speak, misspelt or not (see spelling.py and reach.py), and what
# holds an environment whose values must be texts.
_PREFIXES = (
    "NCCL", "TORCH_", "GLOO_", "OFI_", "UCX_", "FI_EFA", "FI_PROVIDER",
    "NCLL", "NCLC", "NLCC", "NCL_", "NCC_", "NNCL", "NVCCL", "nccl_", "env_vars",
)  # fmt: skip
# Parts of dotted keys that other files hold as well: a longer part, or a rarer one, stands for the key.
_COMMON = frozenset({"enabled", "device", "stage", "debug", "trainer", "launcher", "training", "strategy", "backend"})
_PART = deferred(r"[A-Za-z_][A-Za-z0-9_-]{2,}")
_SHORTEST = 4


def may_speak(data: bytes) -> bool:
    """Return whether a file holds a name that a check could speak of, or is UTF-16, which is told."""
    return bool(data) and (is_utf16(data) or bool(_names().find_matches_as_indexes(data)))


@cache
def _names() -> BytesAhoCorasick:
    return BytesAhoCorasick([name.encode() for name in _shortest(_spoken_of(catalogue()))])


def _spoken_of(known: Catalogue) -> Iterator[str]:
    """Yield the names of variables, and the telling parts of keys, that a check may speak of."""
    yield from _PREFIXES
    for name, variable in known.variables.items():
        if variable.reader is not Reader.OTHER:
            yield name
    for practice in known.practices:
        yield from (_telling(condition.name) for condition in practice.when if not condition.missing)
    for option in known.options:
        if option.dead or option.domain.strict or (option.kind is not Kind.ENV and (option.since or option.until)):
            yield from map(_telling, option.names)


def _telling(name: str) -> str:
    """`fp16.enabled` → fp16, `actor_rollout_ref.nccl_timeout` → actor_rollout_ref: the part that tells most."""
    parts = _PART.findall(name)
    return max((part for part in parts if part not in _COMMON), key=len, default=max(parts, key=len, default=name))


def _shortest(names: Iterable[str]) -> list[str]:
    """Leave out each name that holds another one."""
    kept: list[str] = []
    for name in sorted({name for name in names if len(name) >= _SHORTEST}, key=lambda name: (len(name), name)):
        if not any(shorter in name for shorter in kept):
            kept.append(name)
    return kept
