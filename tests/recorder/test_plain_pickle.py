"""The machine that builds plain data from pickles, and nothing else."""

import contextlib
import math
import pickle
import pickletools
import re
import struct
import time
import tracemalloc
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nccl_logscan.recorder.plain_pickle import Bounds, PickleError, load

REAL = [path.read_bytes() for path in sorted(Path("fixtures/cases/lab").glob("*/fr_*"))]

atoms = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
)
keys = st.integers(-(1 << 63), (1 << 63) - 1) | st.text(st.characters(exclude_categories=["Cs"])) | st.binary()
plain = st.recursive(
    atoms,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(keys | st.tuples(keys, keys), inner),
    max_leaves=30,
)


class Calls:
    """Calls a function on loading, as a hostile pickle does."""

    def __reduce__(self):
        return pytest.fail, ("was called",)


def offset_of_error(pickled):
    """Return where a pickle is refused, 0 if it is read."""
    try:
        load(pickled)
    except PickleError as error:
        return error.offset
    return 0


@given(plain, st.integers(3, 5))
def test_plain_data_comes_back_as_it_was_pickled(value, protocol):
    unpickled = load(pickle.dumps(value, protocol))

    assert (unpickled.value, unpickled.problem) == (value, None)


@given(plain)
def test_a_pickle_without_memo_is_read_too(value):
    assert load(pickletools.optimize(pickle.dumps(value, 4))).value == value


@given(
    st.recursive(
        st.none() | st.integers(-(1 << 63), (1 << 63) - 1) | st.text("aé日"),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
    )
)
def test_protocol_2_is_read_as_the_c_plus_plus_pickler_writes_it(value):
    assert load(pickle.dumps(value, 2)).value == value


def test_types_are_kept_apart_as_pickle_keeps_them():
    value = [True, 1, 1.0, "1", b"1", (), [], {}, -1, 255, 256, 65536, -(1 << 40), math.inf]

    assert [(type(item), item) for item in load(pickle.dumps(value, 4)).value] == [(type(x), x) for x in value]


def test_what_a_pickle_shares_is_shared():
    frame = {"name": "f"}

    first, second = load(pickle.dumps([[frame], [frame]], 2)).value

    assert first[0] is second[0]


@pytest.mark.parametrize("protocol", range(2, 6))
@pytest.mark.parametrize(
    ("value", "opcode"),
    [
        (Calls(), "GLOBAL|STACK_GLOBAL"),
        (print, "GLOBAL|STACK_GLOBAL"),
        ({1}, "GLOBAL|EMPTY_SET"),
        (1j, "GLOBAL|STACK_"),
    ],
)
def test_nothing_but_plain_data_is_built(value, opcode, protocol):
    with pytest.raises(PickleError, match=f"has the opcode ({opcode})"):
        load(pickle.dumps({"entries": [value]}, protocol))


ALLOWED = frozenset(
    re.findall(
        "[A-Z0-9_]+",
        "MARK STOP PROTO FRAME MEMOIZE BINGET LONG_BINGET BINPUT LONG_BINPUT NONE NEWTRUE NEWFALSE BININT BININT1 "
        "BININT2 LONG1 LONG4 BINFLOAT BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 "
        "EMPTY_LIST APPEND APPENDS EMPTY_DICT SETITEM SETITEMS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3",
    )
)


@pytest.mark.parametrize("opcode", pickletools.opcodes, ids=lambda opcode: opcode.name)
def test_every_opcode_outside_the_list_is_refused_by_its_name_and_place(opcode):
    code = opcode.code.encode("latin-1")
    if opcode.name in ALLOWED:
        return
    with pytest.raises(PickleError, match=f"has the opcode {opcode.name}, which plain data does not need, at byte 3"):
        load(b"\x80\x02}" + code + b"\x01\x01\x01\x01builtins\nprint\n.")


def test_a_code_that_is_no_opcode_is_refused():
    with pytest.raises(PickleError, match=r"has the opcode 0xff.* at byte 2") as refused:
        load(b"\x80\x02\xff.")

    assert refused.value.offset == 2


@pytest.mark.parametrize(
    ("pickled", "reason"),
    [
        (b"\x80\x02h\x05.", "asks for what was never remembered"),
        (b"\x80\x02a..", "takes what was never put there"),
        (b"\x80\x02q\x00..", "takes what was never put there"),
        (b"\x80\x02N\x86..", "makes a tuple of more than there is"),
        (b"\x80\x02NNa.", "appends to what is no list"),
        (b"\x80\x02NNNs.", "sets a key of what is no dict"),
        (b"\x80\x02}(Nu.", "sets a key without a value"),
        (b"\x80\x02}]Ns.", "has a key that is a list"),
        (b"\x80\x02NN.", "stops in the middle of its data"),
        (b"\x80\x02(N.", "stops in the middle of its data"),
        (b"\x80\x06N.", "is of pickle protocol 6"),
        (b"\x80\x02]q\x00h\x00a.", "puts a container into itself"),
        (b"\x80\x02]q\x00]q\x01h\x00ah\x00h\x01a.", "changes a container that lies in another one"),
        (b"\x80\x02\x8a\x0a0123456789.", "has an integer of 10 bytes"),
        (b"\x80\x02\x8b\xff\xff\xff\xff.", "has an integer of 4294967295 bytes"),
        (b"\x80\x02N" + b"\x85" * 100 + b".", "is nested deeper than 64"),
        (b"\x80\x02" + b"]" * 100 + b"a" * 99 + b".", "is nested deeper than 64"),
        (b"\x80\x02" + b"(" * 100 + b"N.", "is nested deeper than 64"),
        (b"\x80\x02}" + b"K\x01" * 9 + b"t.", "takes what was never put there"),
    ],
)
def test_what_no_pickler_writes_is_refused(pickled, reason):
    with pytest.raises(PickleError, match=reason):
        load(pickled)


def test_a_key_is_hashed_in_bounded_time():
    # Each tuple holds the one before twice: its hash would take 2 ** 60 steps.
    doubling = b"\x80\x02}K\x00" + b"".join(b"q" + bytes([n]) + b"h" + bytes([n]) + b"\x86" for n in range(60)) + b"Ns."

    with pytest.raises(PickleError, match="has a key that is a tuple"):
        load(doubling)


def test_bytes_that_are_no_text_are_replaced():
    assert load(b"\x80\x02X\x03\x00\x00\x00a\xffb.").value == "a�b"


def test_a_huge_place_in_the_memo_costs_nothing():
    assert load(b"\x80\x02Nr\xff\xff\xff\xffj\xff\xff\xff\xff\x86.").value == (None, None)


@pytest.mark.parametrize("pickled", REAL)
def test_a_real_dump_is_what_pickle_makes_of_it(pickled):
    expected = pickle.loads(pickled)  # noqa: S301 - written by our own lab

    assert load(pickled).value == expected
    for protocol in range(2, 6):
        assert load(pickle.dumps(expected, protocol)).value == expected


@cache
def ends_of_entries(pickled):
    """Return the offsets of the SETITEMS that complete a dump's entries, the third marks from the outermost."""
    ends, marks, in_entries = [], 0, False
    for opcode, argument, at in pickletools.genops(pickled):
        marks += (opcode.name == "MARK") - (opcode.name in {"SETITEMS", "APPENDS"})
        in_entries = in_entries or argument == "entries"
        if in_entries and marks == 2 and opcode.name == "SETITEMS":
            ends.append(at)
    return ends


@given(st.sampled_from(REAL), st.data())
def test_a_torn_dump_gives_the_entries_that_were_whole(pickled, data):
    whole = pickle.loads(pickled)  # noqa: S301 - written by our own lab
    length = data.draw(st.integers(10, len(pickled) - 1))

    torn = load(pickled[:length])

    assert torn.problem == "is cut off"
    assert torn.value.keys() <= whole.keys()
    entries = torn.value.get("entries", [])
    assert entries == whole["entries"][: len(entries)]
    assert torn.value.get("version", whole["version"]) == whole["version"]
    assert torn.value.get("comm_lib_version", whole["comm_lib_version"]) == whole["comm_lib_version"]
    assert len(entries) == sum(end < length for end in ends_of_entries(pickled))


def test_a_tuple_that_was_cut_off_is_not_taken_for_its_first_item():
    pickled = pickle.dumps({"version": "2.10", "process_group": ("0", "default_pg"), "last": 1}, 2)
    values = [load(pickled[:length]).value.get("process_group") for length in range(6, len(pickled))]

    assert set(values) == {None, ("0", "default_pg")}


def test_each_byte_more_of_a_dump_loses_nothing():
    counts = [len(load(REAL[0][:length]).value.get("entries", [])) for length in range(10, len(REAL[0]))]

    assert counts == sorted(counts)
    assert counts[-1] == len(load(REAL[0]).value["entries"])


def test_a_dump_whose_rest_is_zeros_is_a_torn_one():
    torn = load(REAL[0][:3000] + bytes(2000))

    assert torn == load(REAL[0][:3000])


@pytest.mark.parametrize("length", range(4))
def test_a_pickle_that_was_cut_off_before_anything_was_whole_is_none(length):
    with pytest.raises(PickleError, match="is cut off before anything was whole"):
        load(b"\x80\x02N"[:length])


@given(st.binary(max_size=200))
@example(b"")
@example(b"(t(tu")
def test_any_bytes_give_a_value_or_an_error_of_ours(content):
    for start in (b"", b"\x80\x02", b"\x80\x02}(", b"\x80\x04\x95\0\0\0\0\0\0\0\0]("):
        assert offset_of_error(start + content) in range(len(start + content) + 1)


@settings(max_examples=300)
@given(st.sampled_from(REAL), st.lists(st.tuples(st.integers(0, 5000), st.binary(min_size=1, max_size=4)), max_size=5))
def test_a_damaged_dump_gives_a_value_or_an_error_of_ours(pickled, damages):
    damaged = bytearray(pickled)
    for at, content in damages:
        damaged[at : at + len(content)] = content
    assert offset_of_error(bytes(damaged)) in range(len(damaged) + 1)


@given(st.binary(max_size=100))
def test_what_is_read_is_what_pickle_reads(content):
    pickled = b"\x80\x04](" + content + b"e."
    try:
        unpickled = load(pickled)
    except PickleError:
        return
    if unpickled.problem is None and b"\xef\xbf\xbd" not in repr(unpickled.value).encode():
        assert repr(unpickled.value) == repr(pickle.loads(pickled))  # noqa: S301 - ours has let through plain data only


@pytest.mark.parametrize(
    "content",
    [
        b"}" * 4_000_000,
        b"]" * 4_000_000,
        b"N\x94" * 3_000_000,
        b"M\xff\xff" * 3_000_000,
        b"\x8c\x02ab" * 3_000_000,
        b"X\xff\xff\xff\xff" * 100,
        b"(" * 1_000_000,
        b"N" * 5_000_000,
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff" * 100,
    ],
)
def test_a_hostile_pickle_costs_no_more_than_its_bounds(content):
    bounds = Bounds(memory=1 << 24)
    pickled = b"\x80\x02](" + content
    tracemalloc.start()
    with contextlib.suppress(PickleError):
        load(pickled, bounds)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 2 * bounds.memory


def test_a_pickle_that_is_too_large_gives_its_first_part():
    unpickled = load(pickle.dumps(list(range(10_000)), 2), Bounds(memory=100_000))

    assert unpickled.problem == "is larger than what is read of one pickle"
    assert unpickled.value == list(range(len(unpickled.value)))
    assert 1000 < len(unpickled.value) < 10_000


def test_a_pickle_that_is_too_long_gives_its_first_part():
    unpickled = load(pickle.dumps(list(range(10_000)), 2), Bounds(bytes=1000))

    assert unpickled.problem == "is cut off"
    assert unpickled.value == list(range(len(unpickled.value)))


def test_a_ring_of_two_thousand_calls_with_their_stacks_is_read_at_once():
    frames = [{"name": f"f{n}", "filename": f"/opt/train/model{n}.py", "line": n} for n in range(300)]
    [entry] = pickle.loads(REAL[0])["entries"][:1]  # noqa: S301 - written by our own lab
    entries = [{**entry, "record_id": n, "frames": [frames[(n + m) % 300] for m in range(25)]} for n in range(2000)]
    pickled = pickle.dumps({"version": "2.10", "entries": entries}, 2)
    started = time.process_time()
    load(pickled)

    # Measured: 0.06 s; ten times that on a slow and busy machine.
    assert time.process_time() - started < 0.6


def test_floats_are_read_to_their_last_bit():
    value = struct.unpack("<d", b"\x01\x02\x03\x04\x05\x06\x07\x08")[0]

    assert load(pickle.dumps(value, 2)).value == value
