"""A dump's JSON → plain data, as far as it goes.

c10d's and torchcomms' control plane hand out the same dump as JSON (`dump_nccl_trace_json`, `torchcomms_fr_trace_json`;
FlightRecorderDetail.hpp, `dump_json`): without frames, without `entries` if there are none, keys in alphabetical order,
so that `entries` come before `pg_config`.
"""

from __future__ import annotations

import json
from typing import cast

from nccl_logscan.expressions import deferred
from nccl_logscan.recorder.plain_pickle import Plain

_CONTAINERS = 2_000_000
_VALUES = 8_000_000
_SPACE = deferred(r"[ \t\r\n]*+")


class JsonError(Exception):
    """No JSON, or more than is read; the text says which, as a clause."""


def load_json(data: bytes) -> tuple[Plain, str | None]:
    """Return what JSON holds, and None; of JSON that is cut off what was whole, and a clause that says so.

    Raises:
        JsonError: not even the beginning can be read, or it would take too much memory.
    """
    if data.count(b"[") + data.count(b"{") > _CONTAINERS or data.count(b",") > _VALUES:
        raise JsonError("is larger than what is read of one dump")
    source = data.decode("utf-8-sig", "replace")
    try:
        return cast("Plain", json.loads(source)), None
    except RecursionError as error:
        raise JsonError("is JSON that is nested too deep") from error
    except ValueError as error:
        reason = str(error)
    try:
        salvaged = _salvaged(source)
    except RecursionError as error:
        raise JsonError("is JSON that is nested too deep") from error
    if not salvaged:
        raise JsonError(f"is no JSON ({reason})")
    return salvaged, "is cut off, or damaged from some place on"


def _salvaged(source: str) -> Plain:
    """Return an object's members, or a list's items, up to the first that is not whole."""
    decoder = json.JSONDecoder()
    at = _skip(source, 0)
    if source.startswith("[", at):
        return _items(decoder, source, at)[0]
    members: dict[Plain, Plain] = {}
    while source[at : at + 1] in {"{", ","}:
        try:
            key, at = decoder.raw_decode(source, _skip(source, at + 1))
            at = _skip(source, at)
            if not isinstance(key, str) or source[at : at + 1] != ":":
                break
            at = _skip(source, at + 1)
            if source.startswith("[", at):
                members[key], at = _items(decoder, source, at)
            else:
                members[key], at = decoder.raw_decode(source, at)
        except ValueError:
            break
        at = _skip(source, at)
    return members


def _items(decoder: json.JSONDecoder, source: str, at: int) -> tuple[Plain, int]:
    """Return the whole items of a list that begins at `at`, and where reading stopped."""
    items: list[Plain] = []
    while source[at : at + 1] in {"[", ","}:
        start = _skip(source, at + 1)
        if source.startswith("]", start):
            return items, start + 1
        try:
            item, at = decoder.raw_decode(source, start)
        except ValueError:
            return items, len(source)
        items.append(item)
        at = _skip(source, at)
    return items, at + 1 if source.startswith("]", at) else len(source)


def _skip(source: str, at: int) -> int:
    space = _SPACE.match(source, at)
    return space.end() if space else at
