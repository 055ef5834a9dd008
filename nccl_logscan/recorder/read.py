"""A flight recorder's dump, pickled or as JSON, of any version → Dump.

What each version has (torch/csrc/distributed/c10d/ of PyTorch; `version` is the dump's own number). The releases are
those that the sources' state and the analyser's remarks point to; that 2.11 writes 2.10 was seen in recorded dumps.

    TraceUtils.h    none  about 2.2: a bare list of entries with pg_id, seq_id, time_created_us, state, frames
                    1.1   a dict of version and entries; time_created_ns, time_discovered_*_ns, duration_ms
                    1.4   about 2.3: record_id, op_id, nccl_comm_state; pg_config: {pg_id: [ranks]}
                    2.0   process_group: (name, desc); pg_config: {name: {name, desc, ranks: "[0, 1]"}}
                    2.2   about 2.4: collective_seq_id, p2p_seq_id and is_p2p in place of seq_id, and dtypes
                    2.3   about 2.5: pg_status: {pg_id: {last_*_collective}}
    NCCLUtils.hpp,  2.4   timeout_ms; JSON as well, where pg_status has texts and a time not seen is 0
    FlightRecorder  2.7   nccl_version; collectives of a coalesced group have entries of their own
    *.hpp           2.10  comm_lib_version in its place, thread_id, thread_name; still so in main of 2026

Before 2.2 a group's collectives and point-to-point calls count in one sequence. torchcomms
(comms/torchcomms/hooks/fr/FlightRecorder.cpp) writes 2.10 with `ncclx:` and the like, no status, no peers, and one
sequence over all communicators; forks for other devices write `hccl_comm_state` and `hccl:`; PyTorch's CUPTI plugin
(torch/profiler/_cupti) adds process_group_ranks. The analyser (torch/distributed/flight_recorder/components/loader.py)
hands dumps on with a `rank`. Frames are innermost first (torch::symbolize).
"""

from __future__ import annotations

from nccl_logscan.recorder.calls import ENTRY_KEYS, CallReader
from nccl_logscan.recorder.groups import GroupReader, read_statuses
from nccl_logscan.recorder.json_form import JsonError, load_json
from nccl_logscan.recorder.model import Dump
from nccl_logscan.recorder.plain_pickle import PickleError, Plain, load
from nccl_logscan.recorder.rank import rank_in_dump_name, rank_of
from nccl_logscan.recorder.values import Problems, count, text

UNVERSIONED = "0"
"""Stands for the version of dumps that have none: those before 1.0."""

_HEAD = 64
_LOOKED_AT = 64
_KEYS_OF_AN_ENTRY = 3


class DumpError(Exception):
    """The bytes are no dump, or cannot be read as one; the text says why, as a clause that follows the input's name."""


def read_dump(data: bytes, source: str) -> Dump:
    """Return what a dump holds; `source` is its name, from which the rank is learnt.

    Parts that cannot be read are left out and told in `Dump.problems`, and so is that a dump is cut off. A dump
    without a version is of version "0". An entry may have no name for its operation: then that is empty.

    Raises:
        DumpError: it is neither pickle nor JSON, holds more than plain data, or has nothing of a dump in it.
    """
    problems = Problems()
    held, is_torn = _content(data, problems)
    content = _as_dict(held)
    entries = content.get("entries")
    group_reader = GroupReader(problems)
    calls = CallReader(group_reader.read(content.get("pg_config")), group_reader, problems)
    if entries is not None and type(entries) is not list:
        problems.add("its entries are no list")
    read = calls.read(entries) if type(entries) is list else ()
    statuses = read_statuses(content.get("pg_status"), calls.groups, calls.names, problems)
    rank = rank_of(rank_in_dump_name(source), count(content.get("rank")), calls.groups, read, problems)
    return Dump(
        source=source,
        version=text(content.get("version")) or UNVERSIONED,
        rank=rank,
        library=text(content.get("comm_lib_version")) or text(content.get("nccl_version")) or None,
        groups=calls.groups,
        statuses=statuses,
        calls=read,
        problems=problems.clauses(),
        whole=not is_torn and not calls.left_out and (entries is None or type(entries) is list),
    )


def _content(data: bytes, problems: Problems) -> tuple[Plain, bool]:
    """Return a pickle's or JSON's content, and whether it is torn."""
    start = data[:_HEAD].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    value: Plain
    try:
        if data[:1] == b"\x80":
            unpickled = load(data)
            value, problem = unpickled.value, unpickled.problem
        elif start in {b"{", b"["}:
            value, problem = load_json(data)
        else:
            raise DumpError("is neither a pickle nor JSON")
    except PickleError as error:
        raise DumpError(f"is no pickle of a flight recorder: it {error}") from error
    except JsonError as error:
        raise DumpError(str(error)) from error
    if problem is not None:
        problems.add(problem)
    return value, problem is not None


def _as_dict(content: Plain) -> dict[Plain, Plain]:
    """Return a dump's dict; a bare list is that of the entries."""
    if type(content) is list:
        content = {"entries": content}
    if type(content) is not dict:
        raise DumpError("holds no flight recorder's dump")
    entries, config = content.get("entries"), content.get("pg_config")
    if type(entries) is list and any(map(_is_entry, entries[:_LOOKED_AT])):
        return content
    if "version" in content and (type(config) is dict or type(content.get("pg_status")) is dict):
        return content
    if "version" in content and entries == []:
        return content
    raise DumpError("holds no flight recorder's dump")


def _is_entry(value: Plain) -> bool:
    return type(value) is dict and sum(key in value for key in ENTRY_KEYS) >= _KEYS_OF_AN_ENTRY
