"""The skim in C: kernel.c, as a shared library beside this file that the wheel's build made."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Collection
from functools import cache
from pathlib import Path

from nccl_logscan.events.words import Needs
from nccl_logscan.skim.told import NO_PREFIX, Answer, Ask, Key, Tale, Told

LIBRARY = Path(__file__).with_name("kernel.lib")
INTERFACE = 2
"""What `skim_version` returns: another number whenever functions, structures or what they mean change."""

_NO_MEMORY, _ASKS = -1, 1
_READ, _FIRST, _LAST, _CENTRE, _FIRST_OF_GROUP = 1, 4, 8, 16, 32
_RECORD = struct.Struct("=qqQIIIIII")
_CLASS = struct.Struct("=QQII")
_ANSWER = struct.Struct("=QQQQIIIIIIIIiIII")
_OWNER = struct.Struct("=II")
_WHOLE = struct.Struct("=I")
_MOST_SETS = 32
_NOWHERE = 0xFFFFFFFF


class _Question(ctypes.Structure):
    _fields_ = (
        ("text", ctypes.c_void_p),
        ("length", ctypes.c_uint64),
        ("shape", ctypes.c_void_p),
        ("shape_length", ctypes.c_uint64),
    )


@cache
def library() -> ctypes.CDLL | None:
    """Return the library; None where it was built without a C compiler, for another machine or from another source."""
    if os.environ.get("NCCL_LOGSCAN_KERNEL") == "off":
        return None
    try:
        loaded = ctypes.CDLL(str(LIBRARY))
        version = loaded.skim_version()
    except (OSError, AttributeError):
        return None
    if version != INTERFACE:
        return None
    skim, size = ctypes.c_void_p, ctypes.c_uint64
    loaded.skim_new.argtypes, loaded.skim_new.restype = (size, ctypes.c_int32), skim
    loaded.skim_free.argtypes, loaded.skim_free.restype = (skim,), None
    loaded.skim_clear.argtypes, loaded.skim_clear.restype = (skim,), None
    loaded.skim_begin.argtypes = (skim, skim, size, size, size, ctypes.c_int64, ctypes.c_uint32)
    loaded.skim_begin.restype = ctypes.c_int32
    loaded.skim_answer.argtypes, loaded.skim_answer.restype = (skim, ctypes.c_char_p), ctypes.c_int32
    text = ctypes.c_char_p
    loaded.skim_needs.argtypes = (skim, text, size, text, text, ctypes.c_uint32)
    loaded.skim_needs.restype = ctypes.c_int32
    loaded.skim_overflowed.argtypes, loaded.skim_overflowed.restype = (skim,), ctypes.c_int32
    loaded.skim_question.argtypes, loaded.skim_question.restype = (skim,), ctypes.POINTER(_Question)
    loaded.skim_end.argtypes, loaded.skim_end.restype = (skim,), ctypes.c_int64
    loaded.skim_tell.argtypes, loaded.skim_tell.restype = (skim,), ctypes.c_int32
    loaded.skim_held.argtypes, loaded.skim_held.restype = (skim,), size
    for name in ("skim_bytes", "skim_records", "skim_classes", "skim_tallies"):
        function = getattr(loaded, name)
        function.argtypes, function.restype = (skim, ctypes.POINTER(size)), skim
    return loaded


class KernelSkimmer:
    """The C kernel as a `Skimmer`; Python's lock is let go while it runs. Raises MemoryError; OSError without it.

    `is_wide` False leaves AVX-512 aside where the processor has it.
    """

    def __init__(self, *, is_wide: bool = True) -> None:
        loaded = library()
        if loaded is None:
            raise OSError("the kernel was not built")
        self._library = loaded
        self._seed = int.from_bytes(os.urandom(8), "little")
        self._skim = loaded.skim_new(self._seed, is_wide)
        if not self._skim:
            raise MemoryError

    def __del__(self) -> None:
        if getattr(self, "_skim", None):
            self._library.skim_free(self._skim)

    @property
    def held(self) -> int:
        """See `Skimmer`."""
        held: int = self._library.skim_held(self._skim)
        return held

    def learn_needs(self, needs: Collection[Needs]) -> None:
        """See `Skimmer`."""
        ordered = sorted(needs, key=lambda one: sorted(map(sorted, one)))
        told = [
            (word, number, 1 << place)
            for number, sets in enumerate(ordered)
            for place, words in enumerate(sets[:_MOST_SETS])
            for word in sorted(words)
        ]
        text = "".join(f"{word}\n" for word, _, _ in told).encode()
        owners = b"".join(_OWNER.pack(number, bit) for _, number, bit in told)
        wholes = b"".join(_WHOLE.pack((1 << min(len(sets), _MOST_SETS)) - 1) for sets in ordered)
        if self._library.skim_needs(self._skim, text, len(text), owners, wholes, len(ordered)) == _NO_MEMORY:
            raise MemoryError

    def skim(self, buffer: bytearray, start: int, own_end: int, end: int, *, base: int, segment: int, ask: Ask) -> int:
        """See `Skimmer`."""
        library, skim = self._library, self._skim
        pinned = (ctypes.c_uint8 * len(buffer)).from_buffer(buffer)
        result = library.skim_begin(skim, ctypes.addressof(pinned), start, own_end, end, base, segment)
        while result == _ASKS:
            question = library.skim_question(skim).contents
            text = ctypes.string_at(question.text, question.length)
            shape = ctypes.string_at(question.shape, question.shape_length) if question.shape_length else b""
            result = library.skim_answer(skim, _packed(ask(text, shape)))
        lines: int = library.skim_end(skim) if result != _NO_MEMORY else _NO_MEMORY
        if lines == _NO_MEMORY:
            raise MemoryError
        return lines

    def tell(self) -> Tale:
        """See `Skimmer`."""
        if self._library.skim_tell(self._skim) == _NO_MEMORY:
            raise MemoryError
        text = self._handed("skim_bytes")
        tale = Tale(overflowed=bool(self._library.skim_overflowed(self._skim)))
        keys: list[Key | None] = [None]
        for count, at, length, group in _CLASS.iter_unpack(self._handed("skim_classes")):
            key = (group, text[at : at + length].tobytes())
            keys.append(key)
            tale.counts[key] = count
        tale.tallies = dict(enumerate(self._handed("skim_tallies").cast("Q")))
        for line, offset, at, length, flags, segment, chosen, counted, tally in _RECORD.iter_unpack(
            self._handed("skim_records")
        ):
            is_group = bool(flags & _FIRST_OF_GROUP)
            tale.lines.append(
                Told(
                    segment,
                    line,
                    offset,
                    text[at : at + length].tobytes(),
                    bool(flags & _READ),
                    bool(flags & _FIRST),
                    bool(flags & _LAST),
                    is_group,
                    bool(flags & _CENTRE),
                    (chosen, b"") if is_group else keys[chosen],
                    keys[counted],
                    tally,
                )
            )
        self._library.skim_clear(self._skim)
        return tale

    def _handed(self, name: str) -> memoryview:
        """Return what the kernel holds, where it holds it: until it is cleared."""
        size = ctypes.c_uint64()
        address = getattr(self._library, name)(self._skim, ctypes.byref(size))
        return memoryview((ctypes.c_uint8 * size.value).from_address(address) if size.value else b"").cast("B")


def _packed(answer: Answer) -> bytes:
    flags = (
        answer.around
        | answer.boundary << 1
        | answer.once << 2
        | answer.awaits << 3
        | answer.awaited << 4
        | answer.group_first << 5
        | answer.plain << 6
    )
    return _ANSWER.pack(
        answer.keyed,
        answer.of_sayer,
        answer.changing,
        answer.spare_keyed,
        answer.spare,
        answer.folds,
        answer.tally,
        answer.group,
        answer.sayer,
        answer.firsts,
        answer.lasts,
        answer.window,
        answer.watched,
        _NOWHERE if answer.prefix == NO_PREFIX else answer.prefix,
        flags,
        0,
    )
