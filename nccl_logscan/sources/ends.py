"""EarlyEnd: why an input gives no more; and the sizes in which bytes go from hand to hand."""

from __future__ import annotations

PIECE = 1 << 20
"""How many bytes go from hand to hand at a time."""


class EarlyEnd(Exception):  # noqa: N818 - an end with a reason, not a mistake of ours
    """The input cannot be read on; the text says why, as a clause that follows the input's name."""


def torn(name: str) -> EarlyEnd:
    """Return the end of an input that stops within its compressed data."""
    return EarlyEnd(f"ends in the middle of its {name} data; what it holds was read")


def damaged(name: str, reason: object) -> EarlyEnd:
    """Return the end of an input whose compressed data makes no sense from here on."""
    return EarlyEnd(f"has damaged {name} data ({reason}); what came before it was read")


def outgrown(ratio: int) -> EarlyEnd:
    """Return the end of an input that has grown so much that it is no log."""
    return EarlyEnd(f"grows to more than {ratio:,} times its size and was read up to that ({raised('ratio')})")


def too_large_a_window(name: str) -> EarlyEnd:
    """Return the end of an input that asks for more memory to be unpacked than it gets."""
    return EarlyEnd(f"asks for too much memory to unpack its {name} data ({raised('window_bytes')})")


def raised(limit: str) -> str:
    """Return how a limit that was reached is raised, for the note that says so."""
    return f"--limit {limit}=N reads more"
