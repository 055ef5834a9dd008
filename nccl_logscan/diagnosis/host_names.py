"""Hosts' names: what of a name is the host's, and which known host stands in a file's name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from nccl_logscan.expressions import deferred

_PARTS = deferred(r"[/\\!]")
_BETWEEN = deferred(r"([^A-Za-z0-9])")
_PIECES = 16


def short_host(name: str) -> str:
    """Return a host's name as NCCL prints it, to its first dot; an address whole."""
    head, dot, rest = name.partition(".")
    return head if dot and any(letter.isalpha() for letter in rest) else name


def by_lower_case(hosts: Iterable[str]) -> dict[str, str]:
    """Return hosts by their names in lower case, in which `hosts_in_name` looks them up."""
    return {host.lower(): host for host in hosts}


def hosts_in_name(name: str, known: Mapping[str, str]) -> frozenset[str]:
    """Return the `known` hosts (by lower case) whose names stand whole in a file's name: gpu-1, but not in gpu-12."""
    words = {word.lower() for part in _PARTS.split(name) for word in _words(part)}
    return frozenset(known[word] for word in words if word in known)


def host_in_name(name: str, known: Mapping[str, str]) -> str | None:
    """Return the host that a file's name tells, as in `node-3/dmesg.txt`; None if none or several."""
    return the_one(hosts_in_name(name, known))


def the_one(found: frozenset[str]) -> str | None:
    """Return the one host that is meant: the longest if the others are parts of it, as `n1` of `n1-ib0`."""
    longest = max(found, key=len, default=None)
    return longest if longest is not None and all(host.lower() in longest.lower() for host in found) else None


def _words(part: str) -> Iterator[str]:
    """Yield what may be a host's name in a part of a path: each run of its pieces between separators."""
    pieces = _BETWEEN.split(part)[: 2 * _PIECES]
    for first in range(0, len(pieces), 2):
        for last in range(first, len(pieces), 2):
            yield "".join(pieces[first : last + 1])
