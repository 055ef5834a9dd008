"""Which files no check could speak of, told from their bytes alone: those are not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from ahocorasick_rs import BytesAhoCorasick

from nccl_logscan.catalogue.load import Catalogue, catalogue
from nccl_logscan.catalogue.model import Kind

# What a misspelt name may begin with, beside the real prefixes (see spelling.py).
_MISSPELT = ("NCLL", "NCLC", "NLCC", "NCL_", "NCC_", "NNCL", "NVCCL", "nccl_")
_SHORTEST = 4


def may_speak(data: bytes) -> bool:
    """Return whether a file holds a name that a check could speak of. UTF-16 is for the parsers to judge."""
    return data[:2] in {b"\xff\xfe", b"\xfe\xff"} or bool(_names().find_matches_as_indexes(data)) if data else False


@cache
def _names() -> BytesAhoCorasick:
    return BytesAhoCorasick([name.encode() for name in _shortest(_spoken_of(catalogue()))])


def _spoken_of(known: Catalogue) -> Iterator[str]:
    """Yield the names of variables, and the last keys of options that a check may speak of."""
    yield from known.variables
    yield from _MISSPELT
    for practice in known.practices:
        yield from (_last(condition.name) for condition in practice.when)
    for option in known.options:
        if option.dead or option.domain.strict or option.since or option.until or option.kind is Kind.ENV:
            yield from map(_last, option.names)


def _last(name: str) -> str:
    """`fp16.enabled` → fp16, `actor_rollout_ref.nccl_timeout` → nccl_timeout: the part that tells most."""
    parts = re.findall(r"[A-Za-z_][A-Za-z0-9_-]{2,}", name)
    return max(parts, key=len, default=name)


def _shortest(names: Iterable[str]) -> list[str]:
    """Leave out each name that holds another one."""
    kept: list[str] = []
    for name in sorted({name for name in names if len(name) >= _SHORTEST}, key=lambda name: (len(name), name)):
        if not any(shorter in name for shorter in kept):
            kept.append(name)
    return kept
