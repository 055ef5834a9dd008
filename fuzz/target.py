"""A target: a part of the program, inputs to begin with, and what must hold whatever the input is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "fixtures" / "cases"
FOUND = ROOT / "fuzz" / "found"


@dataclass(frozen=True, slots=True)
class Target:
    """`attempt` raises if what must hold does not.

    `seeds`: inputs made of real logs. `holds`: what must hold, for the report. `longest`: bytes of an input. `words`:
    what the fuzzer may put into an input as a whole.
    """

    name: str
    attempt: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    holds: str
    longest: int = 1_024
    words: Callable[[], Iterable[str]] = tuple

    def found(self) -> list[Path]:
        """Return the inputs that once showed a fault; each is tried again by the tests."""
        return sorted((FOUND / self.name).glob("*"))


def text_of(data: bytes) -> str:
    """Return bytes as a line of a log has them."""
    return data.decode("utf-8", "replace")
