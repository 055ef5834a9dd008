"""Lines, prefixes and events: bytes of a log to what each line says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import islice
from typing import Any

import yaml

from fuzz.target import CASES, ROOT, Target, text_of
from nccl_logscan.events import EVENT_TYPES, Event, Tokeniser
from nccl_logscan.lines import LogLine, Peeler
from nccl_logscan.position import Position
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.raw import RawLine
from nccl_logscan.sources.text import cut_lines

_LIMITS = Limits(line_bytes=64)
_LARGEST = 1 << 63
_BLOCKS = (1, 2, 3, 7, 17, 31)


def _cut(data: bytes) -> None:
    """How a log is cut into lines does not hang on the blocks it comes in, and loses no line."""
    size, log = _BLOCKS[data[0] % len(_BLOCKS)] if data else 1, data[1:]
    lines = list(cut_lines("log", [log], _LIMITS))
    assert list(cut_lines("log", _blocks(log, size), _LIMITS)) == lines, "the blocks change the lines"
    offset = -1
    for at, line in enumerate(lines, 1):
        assert line.at.line == at, line
        assert line.at.offset > offset, line
        assert "\n" not in line.text
        line.text.encode()
        offset = line.at.offset


def _blocks(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def _peel(data: bytes) -> None:
    """Peeling raises nothing, loses no line that holds more than prefixes, and invents no text."""
    peeler = Peeler(may_be_pasted=bool(data) and data[0] < 0x40)
    raw = [RawLine(Position("log", at, at), text) for at, text in enumerate(text_of(data[1:]).split("\n"), 1)]
    peeled = [line for one in raw for line in peeler.peel(one)]
    peeled += peeler.finish()
    for line in peeled:
        assert 1 <= line.at.line <= len(raw), line
        assert line.repeated >= 1, line
        assert line.text == line.text.rstrip(), line
        _whole(line.origin)
    told = {line.at.line for line in peeled}
    for one in raw:
        assert one.at.line in told or _may_be_a_part(one.text), one


def _may_be_a_part(text: str) -> bool:
    """Whether a line may belong to one before it: a container's runtime cuts long lines into parts."""
    return text[:2] == '{"' or " std" in text[20:48]


def _tell(data: bytes) -> None:
    """Telling what lines say raises nothing, and gives only facts that tables and reports can hold."""
    peeler, tokeniser = Peeler(), Tokeniser()
    for at, text in enumerate(text_of(data).split("\n"), 1):
        for line in peeler.peel(RawLine(Position("log", at, at), text)):
            _read(tokeniser, line)
    for line in peeler.finish():
        _read(tokeniser, line)
    assert tokeniser.reach >= 0


def _read(tokeniser: Tokeniser, line: LogLine) -> None:
    for event in tokeniser.read(line):
        assert type(event) in _event_types(), event
        _whole(event)


@cache
def _event_types() -> frozenset[type[Event]]:
    return frozenset(EVENT_TYPES.values() if isinstance(EVENT_TYPES, dict) else EVENT_TYPES)


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _whole(part: Any) -> None:
    """No number is too large for a column, and each text can be written."""
    if isinstance(part, bool) or part is None:
        return
    if isinstance(part, int):
        assert -_LARGEST <= part < _LARGEST, part
    elif isinstance(part, str):
        part.encode()
    elif isinstance(part, tuple):
        for entry in part:
            _whole(entry)
    elif is_dataclass(part):
        for name in _names(type(part)):
            _whole(getattr(part, name))


def _logs() -> Iterator[str]:
    for path in sorted(CASES.rglob("*.log")):
        if "storm" not in path.parts and path.stat().st_size < 1 << 20:
            yield path.read_text("utf-8", "replace")


def parts_of_logs() -> Iterator[bytes]:
    """Some lines of each real log, from its middle and its end."""
    for text in _logs():
        lines = text.split("\n")
        for start in {len(lines) // 2, max(0, len(lines) - 8)}:
            yield "\n".join(line[:240] for line in lines[start : start + 4]).encode()


def _forms() -> list[dict[str, Any]]:
    forms: list[dict[str, Any]] = yaml.safe_load((ROOT / "fixtures/lines/prefixes.yaml").read_text("utf-8"))
    return forms


def _prefixed() -> Iterator[bytes]:
    for form in _forms():
        yield b"\xff" + "\n".join([str(form["line"]), *map(str, form.get("after", ()))]).encode()
    for part in parts_of_logs():
        yield b"\x00" + part


def _prefix_words() -> Iterable[str]:
    for form in _forms():
        line, text = str(form["line"]), str(form.get("text", ""))
        if text and line.endswith(text):
            yield line[: -len(text)]


def _encoded() -> Iterator[bytes]:
    for part in islice(parts_of_logs(), 40):
        text = part.decode()[:80]
        forms = (text.encode(), text.encode("utf-16"), text.encode("utf-16-be"), text.replace(" ", "\r\n").encode())
        yield from (bytes([number]) + form for number, form in enumerate(forms))


def _event_words() -> Iterator[str]:
    for text in _logs():
        for line in text.split("\n")[-3:]:
            yield line.strip()[-40:]


TARGETS = (
    Target(
        "lines",
        _cut,
        _encoded,
        "bytes are cut into the same lines however they arrive; no line is lost; each can be written as UTF-8",
        longest=160,
    ),
    Target(
        "prefixes",
        _peel,
        _prefixed,
        "peeling raises nothing, loses no line, and gives no rank or process number that a table cannot hold",
        longest=512,
        words=_prefix_words,
    ),
    Target(
        "events",
        _tell,
        parts_of_logs,
        "what lines say is of a known type, its numbers fit 64 bits, and its texts can be written as UTF-8",
        longest=512,
        words=_event_words,
    ),
)
