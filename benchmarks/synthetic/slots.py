"""Text with holes, filled block by block: one format call for thousands of values, so that gigabytes take seconds.

A hole is `{kind}`. Kinds whose values any line may have (`{f3}`, `{hex12}`, `{phrase1}`) come from pools that were made
beforehand and are entered at another place each time; kinds of the clock come in order of time within a block; kinds
of the step are the same throughout a block.
"""

from __future__ import annotations

import datetime as dt
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import itemgetter

_POOL = 1 << 13
_INSTANTS = 64  # of the clock in one block
_HOLE = re.compile(r"\{([a-z]+\d*)\}")
_WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "is",
    "that",
    "it",
    "for",
    "was",
    "on",
    "are",
    "as",
    "with",
    "they",
    "at",
    "be",
    "this",
    "from",
    "have",
    "or",
    "by",
    "one",
    "had",
    "not",
    "but",
    "what",
    "all",
    "were",
    "when",
    "we",
    "there",
    "can",
    "an",
    "your",
    "which",
    "their",
    "said",
    "if",
    "do",
    "will",
    "each",
    "about",
    "how",
    "up",
    "out",
    "them",
    "then",
    "she",
    "many",
    "some",
    "so",
    "these",
    "would",
    "other",
    "into",
    "has",
    "more",
    "her",
    "two",
    "like",
    "him",
    "see",
    "time",
    "could",
    "no",
    "make",
    "than",
    "first",
    "been",
    "its",
    "who",
    "now",
    "people",
    "my",
    "made",
    "over",
    "did",
    "down",
    "only",
    "way",
    "find",
    "use",
    "may",
    "water",
    "long",
    "little",
    "very",
    "after",
    "words",
    "called",
    "just",
    "where",
    "most",
    "know",
    "because",
    "number",
    "sequence",
    "gradient",
    "answer",
    "therefore",
    "equation",
    "substitute",
    "both",
    "sides",
    "divide",
    "remainder",
    "triangle",
    "angle",
    "sum",
    "product",
    "integer",
    "prime",
    "factor",
    "hence",
    "model",
    "token",
    "reward",
    "policy",
    "batch",
    "sample",
    "prompt",
    "response",
    "however",
    "although",
    "consider",
    "suppose",
    "function",
    "returns",
    "value",
    "loop",
    "index",
    "array",
    "condition",
    "network",
    "engine",
    "memory",
    "kernel",
    "matrix",
    "column",
    "vector",
    "energy",
    "river",
    "mountain",
    "winter",
    "doctor",
    "village",
    "letter",
    "morning",
    "garden",
    "window",
    "question",
    "history",
    "music",
    "science",
    "language",
    "travel",
    "careful",
    "simple",
    "certain",
    "different",
    "remember",
    "naïve",
    "café",
    "façade",
    "Zürich",
    "São",
    "señor",
    "模型",
    "回答",
    "因此",
    "数学",
    "問題",
    "Ελλάδα",
    "привет",
]

Clock = Callable[[dt.datetime], str]
_CLOCKS: dict[str, Clock] = {
    "py": lambda at: f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d}",
    "iso": lambda at: f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond:06d}Z",
    "day": lambda at: f"{at:%Y-%m-%d %H:%M:%S}",
    "vllm": lambda at: f"{at:%m-%d %H:%M:%S}",
    "glog": lambda at: f"{at:%m%d %H:%M:%S}.{at.microsecond:06d}",
    "cten": lambda at: f"{at:%m%d %H:%M:%S}.{at.microsecond:06d}417",
}


@dataclass(frozen=True, slots=True)
class Moment:
    """When a block is written: its first and last second, and the training step."""

    start: dt.datetime
    end: dt.datetime
    step: int
    steps: int


@dataclass(frozen=True, slots=True)
class Block:
    """A text with its holes: the format, how often each kind occurs, and in which order they are filled."""

    text: bytes
    counts: tuple[tuple[str, int], ...]
    order: Callable[[list[bytes]], tuple[bytes, ...]]
    lines: int


def block(lines: Iterable[str]) -> Block:
    """Compile lines, each with its line feed (or carriage return), that hold at least two holes together."""
    joined = "".join(lines)
    kinds = _HOLE.findall(joined)
    counts = Counter(kinds)
    first = dict(zip(counts, _running_sums(counts.values()), strict=True))
    places = []
    for kind in kinds:
        places.append(first[kind])
        first[kind] += 1
    return Block(
        text=_HOLE.sub("%s", joined.replace("%", "%%")).encode(),
        counts=tuple(counts.items()),
        order=itemgetter(*places),
        lines=joined.count("\n"),
    )


class Pools:
    """Prepared values of every kind."""

    def __init__(self, chance: random.Random) -> None:
        """`chance` decides all values, and where each block enters a pool."""
        self._chance = chance
        self._pools = {kind: [made(chance).encode() for _ in range(_POOL)] * 2 for kind, made in _MAKERS.items()}

    def filled(self, form: Block, moment: Moment) -> bytes:
        """One block's bytes."""
        values: list[bytes] = []
        for kind, count in form.counts:
            values += self._values(kind, count, moment)
        # Bytes know %b and take %s as the same.
        return form.text % form.order(values)

    def _values(self, kind: str, count: int, moment: Moment) -> list[bytes]:
        pool = self._pools.get(kind)
        if pool is not None:
            taken: list[bytes] = []
            while len(taken) < count:
                start = self._chance.randrange(_POOL)
                taken += pool[start : start + min(count - len(taken), 512)]
            return taken
        if kind in _CLOCKS:
            return _clock(_CLOCKS[kind], count, moment)
        return [_STEPS[kind](moment).encode()] * count


def _running_sums(counts: Iterable[int]) -> list[int]:
    sums, total = [], 0
    for count in counts:
        sums.append(total)
        total += count
    return sums


def _clock(form: Clock, count: int, moment: Moment) -> list[bytes]:
    shown = min(count, _INSTANTS)
    span = (moment.end - moment.start) / shown
    each = -(-count // shown)
    return [text for n in range(shown) for text in [form(moment.start + n * span).encode()] * each][:count]


def _phrase(chance: random.Random) -> str:
    words = " ".join(chance.choices(_WORDS, k=chance.randint(3, 9)))
    return words + chance.choice((" ", " ", ", ", ". ", "; ", " - ", "? ", ": ", f" {chance.randrange(1000)} "))


def _gib(chance: random.Random) -> str:
    return f"{chance.uniform(3, 79):.2f}"


_MAKERS: dict[str, Callable[[random.Random], str]] = {
    "f2": lambda chance: f"{chance.uniform(0, 100):.2f}",
    "f3": lambda chance: f"{chance.random():.3f}",
    "f5": lambda chance: f"{chance.uniform(0.5, 4):.5f}",
    "f16": lambda chance: repr(chance.uniform(0, 10)),
    "sci": lambda chance: f"{chance.uniform(1, 9):.6E}",
    "ms": lambda chance: f"{chance.uniform(90, 999):.1f}",
    "i2": lambda chance: str(chance.randrange(10, 100)),
    "i3": lambda chance: str(chance.randrange(100, 1000)),
    "i4": lambda chance: str(chance.randrange(1_000, 10_000)),
    "i5": lambda chance: f"{chance.randrange(100_000):05d}",
    "i7": lambda chance: str(chance.randrange(1_000_000, 10_000_000)),
    "gib": _gib,
    "hex12": lambda chance: f"{chance.getrandbits(48):012x}",
    "hex40": lambda chance: f"{chance.getrandbits(160):040x}",
    "word": lambda chance: chance.choice(_WORDS),
    "phrase1": _phrase,
    "phrase2": _phrase,
    "phrase3": _phrase,
    "phrase4": _phrase,
}
_STEPS: dict[str, Callable[[Moment], str]] = {
    "step": lambda moment: str(moment.step),
    "steps": lambda moment: str(moment.steps),
    "samples": lambda moment: str(1024 * moment.step),
    "percent": lambda moment: f"{100 * moment.step // moment.steps:3d}%",
    "bar": lambda moment: "█" * (20 * moment.step // moment.steps) + "░" * (20 - 20 * moment.step // moment.steps),
    "epoch": lambda moment: f"{3 * moment.step / moment.steps:.2f}",
}
