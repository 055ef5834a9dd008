"""Pickle bytes → plain data, with a machine of our own that can build nothing else and never runs anything.

It knows the opcodes that None, bools, integers, floats, strings, bytes, lists, tuples and dicts take in protocols 2 to
5: what PyTorch's C++ pickler writes (protocol 2, torch/csrc/jit/serialization/pickler.cpp) and what Python's `pickle`
makes of the same data. Every other opcode is refused by its name and place: there is no code here that could look up a
name, call something or build an object. Opcodes and their operands are those of Python's `pickletools`.

Data that was written by a pickler is a tree whose parts may be shared; nothing is changed any more once it lies in
something else. Holding the input to that bounds the depth and rules out a container that holds itself.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import TypeAlias

from nccl_logscan.records import dataclass

Plain: TypeAlias = "bool | int | float | str | bytes | list[Plain] | tuple[Plain, ...] | dict[Plain, Plain] | None"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one pickle may cost.

    `bytes`: read at most. `memory`: bytes that what it builds may take, as estimated: at least 32 for each operation,
    so that it bounds these as well. `depth`: of containers in one another. `integer_bytes`: 9 hold 64 bits, signed or
    not; longer ones could be chosen to hash alike. `key_items`: of a tuple that is a key.
    """

    bytes: int = 1 << 28
    memory: int = 1 << 29
    depth: int = 64
    integer_bytes: int = 9
    key_items: int = 8


class PickleError(Exception):
    """No pickle of plain data; the text says why, as a clause. `offset` is that of the opcode, in bytes from 0."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(f"{reason} at byte {offset}")
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Unpickled:
    """What a pickle holds. `problem`: a clause that says why it is not all, where it was cut off; else None."""

    value: Plain
    problem: str | None = None


DEFAULTS = Bounds()

_REFUSED = {
    0x30: "POP",
    0x31: "POP_MARK",
    0x32: "DUP",
    0x46: "FLOAT",
    0x49: "INT",
    0x4C: "LONG",
    0x50: "PERSID",
    0x51: "BINPERSID",
    0x52: "REDUCE",
    0x53: "STRING",
    0x54: "BINSTRING",
    0x55: "SHORT_BINSTRING",
    0x56: "UNICODE",
    0x62: "BUILD",
    0x63: "GLOBAL",
    0x64: "DICT",
    0x67: "GET",
    0x69: "INST",
    0x6C: "LIST",
    0x6F: "OBJ",
    0x70: "PUT",
    0x81: "NEWOBJ",
    0x82: "EXT1",
    0x83: "EXT2",
    0x84: "EXT4",
    0x8F: "EMPTY_SET",
    0x90: "ADDITEMS",
    0x91: "FROZENSET",
    0x92: "NEWOBJ_EX",
    0x93: "STACK_GLOBAL",
    0x96: "BYTEARRAY8",
    0x97: "NEXT_BUFFER",
    0x98: "READONLY_BUFFER",
}

_LONGS = (0x8A, 0x8B)
_BYTES = (0x43, 0x42)
_LONG_TEXTS = (0x8D, 0x8E)

_PAST_THE_END = "past the end"

_U16 = struct.Struct("<H").unpack_from
_U32 = struct.Struct("<I").unpack_from
_I32 = struct.Struct("<i").unpack_from
_U64 = struct.Struct("<Q").unpack_from
_F64 = struct.Struct(">d").unpack_from

_CONTAINERS = frozenset({list, tuple, dict})
_SCALAR_KEYS = frozenset({str, int, bool, float, bytes, type(None)})

# Estimates in bytes, of CPython 3.11 on 64 bits, rounded up. What an operation costs is at least _STEP.
_STEP = 32
_ATOM = 64
_LIST = 96
_DICT = 256
_MEMO = 96


class _Torn(Exception):  # noqa: N818 - an end with a reason, which `load` turns into a problem
    """The pickle ends before its STOP, or is more than was asked for: `frames` is the stack, cut at its marks."""

    def __init__(self, reason: str, frames: list[list[Plain]]) -> None:
        super().__init__(reason)
        self.frames = frames


class _Tree:
    """Puts items into containers, and sees to it that no container grows too deep or is changed once it lies in one."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        # By identity, which stays true since `_kept` lets no container go: how deep each is, if deeper than one.
        self._depths: dict[int, int] = {}
        self._placed: set[int] = set()
        self._kept: list[Plain] = []

    def keep(self, container: Plain) -> Plain:
        """Take note of a new container and return it."""
        self._kept.append(container)
        return container

    def extend(self, target: Plain, items: list[Plain]) -> None:
        """Append items to a list; ValueError says what is wrong with it."""
        if type(target) is not list:
            raise ValueError("appends to what is no list")
        self._place(target, items)
        target.extend(items)

    def update(self, target: Plain, items: list[Plain]) -> None:
        """Set keys and values, which alternate, of a dict; ValueError says what is wrong with it."""
        if type(target) is not dict:
            raise ValueError("sets a key of what is no dict")
        if len(items) % 2:
            raise ValueError("sets a key without a value")
        keys, values = items[::2], items[1::2]
        for key in keys:
            if type(key) is not str and not self._can_be_key(key):
                raise ValueError(f"has a key that is a {type(key).__name__}")
        self._place(target, values)
        target.update(zip(keys, values, strict=True))

    def tuple_of(self, items: Iterable[Plain]) -> Plain:
        """Return a tuple of items."""
        made = tuple(items)
        if made:
            self._place(made, made)
        return self.keep(made)

    def _can_be_key(self, key: Plain) -> bool:
        """Tell whether a key is hashed in bounded time: a number, a text, or a short flat tuple of these."""
        if type(key) is tuple:
            return len(key) <= self._bounds.key_items and all(type(item) in _SCALAR_KEYS for item in key)
        return type(key) in _SCALAR_KEYS

    def _place(self, target: Plain, items: Iterable[Plain]) -> None:
        if id(target) in self._placed:
            raise ValueError("changes a container that lies in another one")
        deepest, depths, placed = 0, self._depths, self._placed
        for item in items:
            if type(item) in _CONTAINERS:
                if item is target:
                    raise ValueError("puts a container into itself")
                key = id(item)
                depth = depths.get(key, 1)
                if depth > deepest:  # noqa: PLR1730 - a third of the time that max takes
                    deepest = depth
                placed.add(key)
        if deepest:
            if deepest >= self._bounds.depth:
                raise ValueError(f"is nested deeper than {self._bounds.depth}")
            depths[id(target)] = max(depths.get(id(target), 1), deepest + 1)


def load(data: bytes, bounds: Bounds = DEFAULTS) -> Unpickled:
    """Return the plain data that a pickle holds.

    A pickle that is cut off gives what was whole by then: lists and dicts that were being filled hold what had been
    read for them, but lists no unfinished dict. Bytes that are no UTF-8 are replaced in strings.

    Raises:
        PickleError: an opcode outside of plain data, or operations that no pickler writes.
    """
    tree = _Tree(bounds)
    try:
        return Unpickled(_run(data[: bounds.bytes], bounds, tree))
    except _Torn as torn:
        problem, frames = str(torn), torn.frames
    value = _salvaged(tree, frames)
    if type(value) not in {list, dict}:
        raise PickleError(f"{problem} before anything was whole,", len(data))
    return Unpickled(value, problem)


# One loop with all opcodes in it, the frequent ones first: a call for each operation would take three times as long.
def _run(data: bytes, bounds: Bounds, tree: _Tree) -> Plain:  # noqa: PLR0912, PLR0915 - see above
    """Run a pickle to its STOP and return what it holds."""
    stack: list[Plain] = []
    marks: list[list[Plain]] = []
    memo: dict[int, Plain] = {}
    size = len(data)
    room = bounds.memory
    at = start = 0
    try:
        while True:
            start = at
            op = data[at]
            at += 1
            room -= _STEP
            if room < 0:
                raise _Torn("is larger than what is read of one pickle", [*marks, stack])
            if op == 0x68:  # BINGET
                stack.append(memo[data[at]])
                at += 1
            elif op == 0x71:  # BINPUT
                memo[data[at]] = stack[-1]
                at += 1
                room -= _MEMO
            elif op == 0x94:  # MEMOIZE
                memo[len(memo)] = stack[-1]
                room -= _MEMO
            elif op == 0x58:  # BINUNICODE
                [length] = _U32(data, at)
                at += 4
                end = at + length
                if end > size:
                    raise IndexError(_PAST_THE_END)
                stack.append(data[at:end].decode("utf-8", "replace"))
                at = end
                room -= _ATOM + length
            elif op == 0x8C:  # SHORT_BINUNICODE
                end = at + 1 + data[at]
                if end > size:
                    raise IndexError(_PAST_THE_END)
                stack.append(data[at + 1 : end].decode("utf-8", "replace"))
                at = end
                room -= _ATOM
            elif op == 0x4B:  # BININT1
                stack.append(data[at])
                at += 1
            elif op == 0x6A:  # LONG_BINGET
                stack.append(memo[_U32(data, at)[0]])
                at += 4
            elif op == 0x72:  # LONG_BINPUT
                memo[_U32(data, at)[0]] = stack[-1]
                at += 4
                room -= _MEMO
            elif op == 0x4A:  # BININT
                stack.append(_I32(data, at)[0])
                at += 4
            elif op == 0x4D:  # BININT2
                stack.append(_U16(data, at)[0])
                at += 2
            elif op in _LONGS:  # LONG1, LONG4; the second's length is signed, and so long in neither
                length = data[at] if op == 0x8A else _U32(data, at)[0]
                at += 1 if op == 0x8A else 4
                if length > bounds.integer_bytes:
                    raise PickleError(f"has an integer of {length} bytes", start)
                end = at + length
                if end > size:
                    raise IndexError(_PAST_THE_END)
                stack.append(int.from_bytes(data[at:end], "little", signed=True))
                at = end
            elif op == 0x4E:  # NONE
                stack.append(None)
            elif op == 0x88:  # NEWTRUE
                stack.append(True)
            elif op == 0x89:  # NEWFALSE
                stack.append(False)
            elif op == 0x28:  # MARK
                if len(marks) > bounds.depth:
                    raise PickleError(f"is nested deeper than {bounds.depth}", start)
                marks.append(stack)
                stack = []
            elif op == 0x5D:  # EMPTY_LIST
                stack.append(tree.keep([]))
                room -= _LIST
            elif op == 0x7D:  # EMPTY_DICT
                stack.append(tree.keep({}))
                room -= _DICT
            elif op == 0x65:  # APPENDS
                items, stack = stack, marks.pop()
                tree.extend(stack[-1], items)
            elif op == 0x75:  # SETITEMS
                items, stack = stack, marks.pop()
                tree.update(stack[-1], items)
                room -= _STEP * len(items)
            elif op == 0x61:  # APPEND
                item = stack.pop()
                tree.extend(stack[-1], [item])
            elif op == 0x73:  # SETITEM
                value = stack.pop()
                key = stack.pop()
                tree.update(stack[-1], [key, value])
            elif 0x85 <= op <= 0x87:  # TUPLE1, TUPLE2, TUPLE3
                count = op - 0x84
                if len(stack) < count:
                    raise ValueError("makes a tuple of more than there is")
                made = tree.tuple_of(stack[-count:])
                stack[-count:] = [made]
                room -= _LIST
            elif op == 0x29:  # EMPTY_TUPLE
                stack.append(())
            elif op == 0x74:  # TUPLE
                items, stack = stack, marks.pop()
                stack.append(tree.tuple_of(items))
                room -= _LIST
            elif op == 0x47:  # BINFLOAT
                stack.append(_F64(data, at)[0])
                at += 8
            elif op in _BYTES:  # SHORT_BINBYTES, BINBYTES
                length = data[at] if op == 0x43 else _U32(data, at)[0]
                at += 1 if op == 0x43 else 4
                end = at + length
                if end > size:
                    raise IndexError(_PAST_THE_END)
                stack.append(data[at:end])
                at = end
                room -= _ATOM + length
            elif op in _LONG_TEXTS:  # BINUNICODE8, BINBYTES8
                [length] = _U64(data, at)
                at += 8
                end = at + length
                if end > size:
                    raise IndexError(_PAST_THE_END)
                stack.append(data[at:end].decode("utf-8", "replace") if op == 0x8D else data[at:end])
                at = end
                room -= _ATOM + length
            elif op == 0x95:  # FRAME, whose length only helps to read ahead
                _U64(data, at)
                at += 8
            elif op == 0x80:  # PROTO
                if data[at] > 5:
                    raise PickleError(f"is of pickle protocol {data[at]}, which is not known", start)
                at += 1
            elif op == 0x2E:  # STOP
                if len(stack) != 1 or marks:
                    raise PickleError("stops in the middle of its data", start)
                return stack[0]
            elif op == 0 and not data[start:].strip(b"\0"):  # as where a disk was full, or a host went down
                raise _Torn("is cut off", [*marks, stack])
            else:
                name = _REFUSED.get(op, f"0x{op:02x}")
                raise PickleError(f"has the opcode {name}, which plain data does not need,", start)
    except (IndexError, struct.error) as error:
        # Reading past the end and taking what is not on the stack look alike; only at the end is it the former.
        if at >= size or isinstance(error, struct.error) or error.args == (_PAST_THE_END,):
            raise _Torn("is cut off", [*marks, stack]) from error
        raise PickleError("takes what was never put there,", start) from error
    except KeyError as error:
        raise PickleError("asks for what was never remembered,", start) from error
    except ValueError as error:
        raise PickleError(f"{error},", start) from error


def _salvaged(tree: _Tree, frames: list[list[Plain]]) -> Plain:
    """Put what was read of each unfinished container into it, from the innermost on, and return the outermost.

    A dict that was to be a list's item is left out if it is unfinished: an entry is whole, or is none.
    """
    items, is_innermost = frames.pop(), True
    if items and items[-1] == {}:
        items.pop()
    while frames:
        outer = frames.pop()
        target = outer[-1] if outer else None
        if type(target) is dict and frames and frames[-1] and type(frames[-1][-1]) is list:
            outer.pop()
        elif type(target) is dict:
            _set(tree, target, _certain(items) if is_innermost else items)
        elif type(target) is list:
            _append(tree, target, items)
        items, is_innermost = outer, False
    return items[0] if items else None


def _certain(items: list[Plain]) -> list[Plain]:
    """Return the keys and values of which each value is whole.

    The last items may be the parts of a tuple, of up to three, that was to follow a key; a list or a dict is no such
    part in any dump.
    """
    end = max(0, len(items) - 3) // 2 * 2
    for at in range(len(items) - 1, end, -1):
        if at % 2 and type(items[at]) in {list, dict}:
            return items[: at + 1]
    return items[:end]


def _set(tree: _Tree, target: Plain, items: list[Plain]) -> None:
    """Set an unfinished dict's keys, up to the first that is none."""
    with suppress(ValueError):
        for at in range(0, len(items) - 1, 2):
            tree.update(target, items[at : at + 2])


def _append(tree: _Tree, target: Plain, items: list[Plain]) -> None:
    with suppress(ValueError):
        tree.extend(target, items)
