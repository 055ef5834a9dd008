"""Reading dumps: real ones field by field, torn and malformed ones, and what is none."""

import json
import pickle
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nccl_logscan.recorder import Call, DumpError, Frame, Group, State, Status, read_dump

PATHS = sorted(Path("fixtures/cases/lab").glob("*/fr_*"))
REAL = PATHS[0].read_bytes()


def unpickled(pickled):
    return pickle.loads(pickled)  # noqa: S301 - written by our own lab


CONTENT = unpickled(REAL)
ENTRY = CONTENT["entries"][0]


def with_entries(*entries, **changes):
    return pickle.dumps({**CONTENT, "entries": list(entries), **changes}, 2)


def call_of(entry):
    """Return the call that an entry of version 2.10 is, for collectives."""
    return Call(
        record=entry["record_id"],
        group=entry["process_group"][0],
        operation=entry["profiling_name"].removeprefix("nccl:"),
        state=State(entry["state"]),
        sequence=entry["collective_seq_id"],
        input_sizes=tuple(map(tuple, entry["input_sizes"])),
        input_dtypes=tuple(entry["input_dtypes"]),
        output_sizes=tuple(map(tuple, entry["output_sizes"])),
        output_dtypes=tuple(entry["output_dtypes"]),
        created_ns=entry["time_created_ns"],
        started_ns=entry["time_discovered_started_ns"],
        completed_ns=entry["time_discovered_completed_ns"],
        timeout_ms=entry["timeout_ms"],
        retired=entry["retired"],
        frames=tuple(Frame(frame["name"], frame["filename"], frame["line"]) for frame in entry["frames"]),
    )


# --- real dumps ---


def test_the_lab_has_recorded_dumps():
    assert len(PATHS) == 28


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_real_dump_is_read_field_by_field(path):
    content = unpickled(path.read_bytes())

    dump = read_dump(path.read_bytes(), str(path))

    [group] = content["pg_config"].values()
    [status] = content["pg_status"].values()
    assert dump.source == str(path)
    assert (dump.version, dump.library) == (content["version"], content["comm_lib_version"])
    assert dump.rank == int(path.name.removeprefix("fr_"))
    assert dump.groups == {"0": Group("0", group["desc"], tuple(json.loads(group["ranks"])))}
    assert status["last_started_collective"] == -1
    assert dump.statuses == {"0": Status(status["last_enqueued_collective"], None, status["last_completed_collective"])}
    assert dump.calls == tuple(map(call_of, content["entries"]))
    assert dump.problems == ()


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_a_real_dump_says_the_same_in_every_form(path):
    content = unpickled(path.read_bytes())
    forms = [pickle.dumps(content, protocol) for protocol in range(2, 6)]
    forms += [json.dumps(content, indent=indent).encode() for indent in (None, 1)]

    assert {repr(read_dump(form, "fr_1")) for form in forms} == {repr(read_dump(path.read_bytes(), "fr_1"))}


# --- cut off ---


@given(st.integers(400, len(REAL) - 1))
def test_a_torn_dump_has_the_calls_that_were_whole_and_says_so(length):
    dump = read_dump(REAL[:length], "fr_0")
    whole = read_dump(REAL, "fr_0")

    assert dump.problems == ("is cut off",)
    assert dump.calls == whole.calls[: len(dump.calls)]
    assert (dump.rank, dump.groups, dump.library) == (0, whole.groups, whole.library)


@given(st.integers(400, len(json.dumps(CONTENT)) - 1))
def test_torn_json_has_the_calls_that_were_whole_and_says_so(length):
    dump = read_dump(json.dumps(CONTENT).encode()[:length], "fr_0")
    whole = read_dump(REAL, "fr_0")

    assert dump.problems == ("is cut off, or damaged from some place on",)
    assert dump.calls == whole.calls[: len(dump.calls)]
    assert (dump.rank, dump.groups) == (0, whole.groups)


def test_torn_json_whose_entries_come_first_keeps_them():
    torn = json.dumps(CONTENT, sort_keys=True).encode().partition(b'"pg_config"')[0]

    dump = read_dump(torn, "fr_0")

    assert (len(dump.calls), dump.groups) == (len(CONTENT["entries"]), {"0": Group("0", "default_pg")})


def test_a_torn_list_of_json_keeps_its_items():
    text = json.dumps(CONTENT["entries"]).encode()

    assert len(read_dump(text[: len(text) // 2], "fr_0").calls) in range(10, len(CONTENT["entries"]))


# --- malformed parts ---


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (None, "is no dict"),
        (7, "is no dict"),
        ([ENTRY], "is no dict"),
        ({}, "names no operation"),
        ({**ENTRY, "profiling_name": None}, "names no operation"),
        ({**ENTRY, "profiling_name": 5}, "names no operation"),
        ({**ENTRY, "state": "paused", "time_discovered_completed_ns": None}, "has a state that is not known"),
        ({**ENTRY, "state": None, "time_discovered_completed_ns": None}, "has no state"),
        ({**ENTRY, "process_group": None, "pg_id": None}, None),
        ({**ENTRY, "process_group": (), "pg_id": [1]}, None),
        ({**ENTRY, "input_sizes": [[1], "x"]}, "has sizes that are no lists of numbers, or more than are read"),
        ({**ENTRY, "input_sizes": 5}, "has sizes that are no lists of numbers, or more than are read"),
        ({**ENTRY, "input_sizes": [[1, None]]}, "has sizes that are no lists of numbers, or more than are read"),
        ({**ENTRY, "frames": 5}, None),
        ({**ENTRY, "frames": [5, {}, "x", None]}, None),
        ({**ENTRY, "input_dtypes": 5, "output_dtypes": [None, 1]}, None),
        ({**ENTRY, "time_created_ns": "soon", "timeout_ms": -5, "retired": 1}, None),
        ({**ENTRY, "time_created_ns": 1.7e18, "record_id": "1", "pg_id": "0"}, None),
        ({**ENTRY, "record_id": -1, "collective_seq_id": 2.5, "is_p2p": None}, None),
    ],
)
def test_a_malformed_entry_loses_only_itself(entry, problem):
    dump = read_dump(with_entries(ENTRY, entry, {**ENTRY, "record_id": 2}), "fr_0")

    assert dump.problems == ((f"entry 1 {problem}",) if problem else ())
    assert (dump.calls[0], dump.calls[-1].record) == (call_of(ENTRY), 2)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"pg_config": 5}, "its pg_config is no dict"),
        (
            {"pg_config": {"0": {"name": "0", "desc": "", "ranks": "[0, x]"}}},
            "the group 0 has ranks that are no numbers",
        ),
        (
            {"pg_config": {"0": {"name": "0", "desc": "", "ranks": [0, None]}}},
            "the group 0 has ranks that are no numbers",
        ),
        ({"pg_config": {"0": {"name": "0", "desc": "", "ranks": 5}}}, "the group 0 has ranks that are no list"),
        ({"pg_config": {"0": {"ranks": "0-999999999"}}}, "the group 0 has more ranks than are read"),
        ({"pg_config": {"0": {"ranks": "range(0, 999999999)"}}}, "the group 0 has more ranks than are read"),
        ({"pg_config": {"0": 5}}, "the group 0 has ranks that are no list"),
        ({"pg_config": [[0, 1]]}, "the group None has no name"),
        ({"pg_status": 5}, "its pg_status is no dict"),
        ({"pg_status": {"0": 5}}, "the status 0 is no dict"),
        ({"pg_status": {"7": {}, "0": {}}}, "does not say which group its status 7 is of"),
        ({"entries": 5}, "its entries are no list"),
        ({"version": None}, None),
        ({"version": 2.1, "comm_lib_version": 22809}, None),
    ],
)
def test_a_malformed_part_is_told_and_the_rest_is_read(changes, problem):
    dump = read_dump(pickle.dumps({**CONTENT, **changes}, 2), "fr_0")

    assert dump.problems == ((problem,) if problem else ())
    assert len(dump.calls) == (0 if "entries" in changes else len(CONTENT["entries"]))


def test_only_the_first_problems_are_listed():
    dump = read_dump(with_entries(ENTRY, *([None] * 1000)), "fr_0")

    assert len(dump.problems) == 13
    assert dump.problems[-1] == "988 further parts could not be read"


def test_a_text_that_no_output_could_encode_is_replaced():
    content = {**CONTENT, "entries": [{**ENTRY, "profiling_name": "nccl:\ud800x"}]}

    assert read_dump(json.dumps(content).encode(), "fr_0").calls[0].operation == "?x"


# --- what is no dump ---


class Calls:
    """Calls a function on loading, as a hostile pickle does."""

    def __reduce__(self):
        return pytest.fail, ("was called",)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is neither a pickle nor JSON"),
        (b"vm:1:2 [0] NCCL INFO text\n", "is neither a pickle nor JSON"),
        (bytes(range(256)), "is neither a pickle nor JSON"),
        (b"{broken", "is no JSON"),
        (b"{}", "holds no flight recorder's dump"),
        (b"[]", "holds no flight recorder's dump"),
        (b"[1, 2, 3]", "holds no flight recorder's dump"),
        (b'{"version": "1", "entries": [1, 2, 3]}', "holds no flight recorder's dump"),
        (b"[" * 100_000, "is JSON that is nested too deep"),
        (b'{"entries":' + b"[" * 100_000, "is JSON that is nested too deep"),
        (b"[" + b"{}," * 3_000_000, "is larger than what is read of one dump"),
        (pickle.dumps([1, 2, 3]), "holds no flight recorder's dump"),
        (pickle.dumps("text"), "holds no flight recorder's dump"),
        (pickle.dumps({"entries": []}), "holds no flight recorder's dump"),
        (b"\x80\x02", "is no pickle of a flight recorder: it is cut off before anything was whole"),
        (with_entries(ENTRY, Calls()), "is no pickle of a flight recorder: it has the opcode GLOBAL"),
        (pickle.dumps({**CONTENT, "entries": {1}}, 4), "has the opcode EMPTY_SET"),
    ],
    ids=str,
)
def test_what_is_no_dump_is_refused_with_the_reason(content, reason):
    with pytest.raises(DumpError, match=reason):
        read_dump(content, "fr_0")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["0", "[0, 1]", "nccl:send 0->1"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from([*ENTRY, *CONTENT]), inner),
    max_leaves=10,
)


@settings(max_examples=300)
@given(st.data())
def test_any_value_in_place_of_any_part_gives_a_dump_or_an_error_of_ours(data):
    content = json.loads(json.dumps({**CONTENT, "entries": CONTENT["entries"][:3]}))
    for _ in range(data.draw(st.integers(1, 4))):
        part = data.draw(st.sampled_from([content, *content["entries"]])) if _has_entries(content) else content
        part[data.draw(st.sampled_from(sorted(part)))] = data.draw(json_values)
    try:
        dump = read_dump(json.dumps(content).encode(), "fr_0")
    except DumpError:
        return

    assert all(call.group in dump.groups for call in dump.calls)
    assert dump.statuses.keys() <= dump.groups.keys()
    repr(dump).encode()


def _has_entries(content):
    return type(content["entries"]) is list and all(type(entry) is dict and entry for entry in content["entries"])


@settings(max_examples=300)
@given(st.sampled_from(PATHS), st.lists(st.tuples(st.integers(0, 5500), st.binary(min_size=1, max_size=3)), max_size=4))
def test_a_damaged_dump_gives_a_dump_or_an_error_of_ours(path, damages):
    damaged = bytearray(path.read_bytes())
    for at, content in damages:
        damaged[at : at + len(content)] = content
    for form in (bytes(damaged), json.dumps(unpickled(path.read_bytes())).encode()[: damages[0][0] if damages else 9]):
        try:
            dump = read_dump(form, path.name)
        except DumpError:
            continue
        assert len(dump.problems) <= 13


@given(st.binary())
def test_any_bytes_give_a_dump_or_an_error_of_ours(content):
    for start in (b"", b"{", b"[", b"\x80\x02}("):
        with pytest.raises(DumpError):
            read_dump(start + content, "fr_0")


# --- cost ---


def test_one_entry_that_is_there_very_often_costs_little():
    sizes = [[1] * 1000] * 1000
    pickled = with_entries(*([{**ENTRY, "input_sizes": sizes}] * 250_000))
    started = time.process_time()
    dump = read_dump(pickled, "fr_0")

    assert dump.problems[0] == "has 250000 entries, of which the first 50000 were left out"
    assert len(dump.calls) == 200_000
    # Measured: 2 s.
    assert time.process_time() - started < 20


def test_a_ring_of_two_thousand_calls_with_their_stacks_is_read_at_once():
    frames = [{"name": f"f{n}", "filename": f"/opt/train/model{n}.py", "line": n} for n in range(300)]
    entries = [{**ENTRY, "record_id": n, "frames": [frames[(n + m) % 300] for m in range(25)]} for n in range(2000)]
    pickled = with_entries(*entries)
    started = time.process_time()
    dump = read_dump(pickled, "fr_0")

    # Measured: 0.1 s; eight times that on a slow and busy machine.
    assert time.process_time() - started < 0.8
    assert (len(dump.calls), len(dump.calls[1999].frames)) == (2000, 25)


@pytest.mark.parametrize("cut", range(40, len(REAL), max(7, len(REAL) // 60 // 7 * 7)))
def test_a_dump_that_is_cut_off_says_that_it_is_not_whole(cut):
    with suppress(DumpError):
        assert not read_dump(REAL[:cut], "fr_0").whole


def test_a_dump_with_an_entry_that_cannot_be_read_is_not_whole():
    assert read_dump(with_entries(ENTRY), "fr_0").whole
    assert not read_dump(with_entries(ENTRY, {**ENTRY, "profiling_name": None}), "fr_0").whole


@pytest.mark.parametrize(
    "ranks", ["[0, 1048576]", "0-999999999", [0, 2**62], "0-1000000 " * 1000, "[0, 1, " * 5_000_000]
)
def test_more_ranks_than_any_job_has_are_left_out(ranks):
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": ranks}}
    assert read_dump(with_entries(ENTRY, pg_config=config), "fr_0").groups["0"].ranks == ()


def test_a_rank_that_no_job_has_is_none():
    plain = json.dumps({"version": "2.10", "rank": 1 << 62, "entries": [{**ENTRY, "frames": []}]}).encode()
    assert read_dump(plain, "dump").rank is None
    assert read_dump(plain, "fr_9999999").rank is None


@pytest.mark.parametrize("sizes", [[[-1]], [[2**63]], [[2] * 65], [[1.5]]])
def test_sizes_that_no_tensor_has_are_left_out(sizes):
    plain = json.dumps({"version": "2.10", "entries": [{**ENTRY, "frames": [], "input_sizes": sizes}]}).encode()
    assert read_dump(plain, "fr_0").calls[0].input_sizes == ()


def test_a_long_list_of_ranks_is_the_same_object_in_all_dumps_of_a_job():
    spelt = str(list(range(4096)))
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": spelt}}
    one, other = (read_dump(with_entries(ENTRY, pg_config=config), f"fr_{rank}") for rank in (0, 1))
    assert one.groups["0"].ranks is other.groups["0"].ranks
