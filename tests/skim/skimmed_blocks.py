"""Blocks of hostile and of log-like lines, answers that are a function of the shape alone, and what a skim tells."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from random import Random

from nccl_logscan.skim.told import LONGEST, NO_PREFIX, Answer

WORDS = (
    b"INFO", b"WARN", b"NET/IB", b"step", b"loss:", b"rank", b"deadbeef", b"cafe", b"0x7f", b"mlx5_0", b"node-17", b"[0]",
    b"12.5", b"abc", b"zz", b"g1g", b"00", b"1", b"0000", b"Traceback", b"(most", b"|", b"a-b", b"\t", b"#", b"e9" * 40,
    "rang é".encode(), b"\xc3", b"\xff\xfe", b"\xe2\x82\xac", b"\x1b[31m", b"\x1b[0m", b"error", b"Error", b"pid=4711", b"",
)  # fmt: skip
_EDGES = (63, 64, 65, 127, 128, 8_127, 8_128, 8_191, 8_192, 8_193, 8_256, 20_000)


def line_of(chance: Random) -> bytes:
    """A line without its line feed: mostly of a few words, now and then odd or as long as it hurts."""
    kind = chance.random()
    if kind < 0.05:
        return b""
    if kind < 0.12:
        return chance.randbytes(chance.randrange(90)).replace(b"\n", b"")
    if kind < 0.15:
        length = chance.choice(_EDGES)
        text = (chance.choice((b"x", b"7", b"f", b"ab1 ", b"a\r")) * length)[: length - 1]
        return text + chance.choice((b"x", b"7", b"f", b"\r"))
    text = b" ".join(chance.choice(WORDS) for _ in range(chance.randrange(1, 9)))
    if kind < 0.25:
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice((b"\r", b"\r\r", b"\0", b"\r\0", b"7\r")) + text[at:]
    return text + b"\r" if chance.random() < 0.06 else text


def log_of(chance: Random, lines: int) -> bytes:
    """Lines of which many come again with other numbers."""
    known = [line_of(chance) for _ in range(max(1, lines // 3))]
    found = (
        line_of(chance) if chance.random() < 0.3 else _with_other_numbers(chance.choice(known), chance)
        for _ in range(lines)
    )
    return b"\n".join(found) + (b"\n" if chance.random() < 0.7 else b"")


def _with_other_numbers(line: bytes, chance: Random) -> bytes:
    digits = bytes(range(48, 58))
    return line.translate(bytes.maketrans(digits, bytes(chance.choice(digits[:3]) for _ in digits)))


@dataclass
class Asked:
    """Answers any shape, by chance but always the same; counts how often it was asked."""

    salt: int
    folding: float = 0.8
    prefixes: bool = False
    questions: int = 0
    _given: dict[bytes, Answer] = field(default_factory=dict)

    def __call__(self, text: bytes, shape: bytes) -> Answer:
        self.questions += 1
        if shape not in self._given:
            self._given[shape] = self.answer(shape)
        return self._given[shape]

    def answer(self, shape: bytes) -> Answer:
        digest = hashlib.blake2b(shape, digest_size=8, key=self.salt.to_bytes(8, "little")).digest()
        chance = Random(int.from_bytes(digest, "little"))  # noqa: S311 - no secret
        group = chance.choice((0, 0, 0, 1, 2, 3, 4, 5))
        sayer = chance.choice((0, 101, 102, 103))
        return Answer(
            folds=chance.random() < self.folding,
            tally=chance.randrange(9),
            group=group,
            keyed=_runs(chance),
            changing=_runs(chance) if chance.random() < 0.2 else 0,
            firsts=(0, 1, 2, 0, 4, 1)[group],
            lasts=(0, 1, 0, 3, 24, 2)[group],
            sayer=sayer,
            of_sayer=_runs(chance),
            window=chance.choice((0, 0, 1, 3, 9)),
            watched=chance.choice((-1, -1, 0, 1, 3)),
            prefix=chance.randrange(min(len(shape), 6) + 1) if self.prefixes and sayer and shape else NO_PREFIX,
            around=chance.random() < 0.3,
            boundary=chance.random() < 0.2,
            once=chance.random() < 0.3,
            awaits=chance.random() < 0.2,
            awaited=chance.random() < 0.3,
            group_first=group > 0 and chance.random() < 0.3,
            plain=chance.random() < 0.7,
        )


def _runs(chance: Random) -> int:
    return chance.choice((0, 0, 1, 2, 5, 1 << 63, (1 << 64) - 1, chance.getrandbits(64)))


def skimmed(skimmer, buffer, cuts, ask):
    """Skim a buffer as the segments between `cuts`, each with up to 200 bytes on both sides; return the line counts."""
    counts = []
    for segment, (first, end) in enumerate(zip(cuts, cuts[1:], strict=False)):
        base, limit = max(0, first - 200), min(len(buffer), end + 200)
        while limit < len(buffer) and b"\n" not in buffer[end - 1 : limit]:
            limit += 4_096
        window = bytearray(buffer[base:limit])
        own_end = min(end - base, len(window))
        feed = window.find(b"\n", first - base - 1, own_end) if first else -1
        start = 0 if not first else own_end if feed < 0 else feed + 1
        counts.append(skimmer.skim(window, start, own_end, len(window), base=base, segment=segment, ask=ask))
    return counts


def told_of(tale):
    """What a tale says: lines that only stand around another one, of which only the place counts; counts but for naughts."""
    read = {line for line in tale.lines if line.is_read}
    places = {(line.segment, line.line, line.offset, line.text) for line in read}
    around = {(line.segment, line.line, line.offset, line.text) for line in tale.lines if not line.is_read} - places
    counts = {key: count for key, count in tale.counts.items() if count}
    return read, around, counts, {tally: count for tally, count in tale.tallies.items() if count}, tale.overflowed
