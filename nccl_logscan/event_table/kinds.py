"""Kinds of events by the names that people give."""

from __future__ import annotations

from collections.abc import Iterable

from nccl_logscan.events.model import EVENT_TYPES


def kinds_named(names: Iterable[str]) -> frozenset[str]:
    """Return the kinds that names ask for: `nccl.warn` for itself, `nccl` for all whose name begins so.

    Raises ValueError where a name asks for none.
    """
    kinds: set[str] = set()
    for name in names:
        asked = {kind for kind in EVENT_TYPES if kind == name or kind.startswith(f"{name}.")}
        if not asked:
            raise ValueError(f"{name!r} is no kind of event; docs/events.md lists them: {', '.join(families())}")
        kinds |= asked
    return frozenset(kinds)


def families() -> tuple[str, ...]:
    """Return the first words of the kinds."""
    return tuple(dict.fromkeys(kind.partition(".")[0] for kind in EVENT_TYPES))
