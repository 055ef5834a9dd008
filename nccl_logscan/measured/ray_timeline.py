"""A timeline of `ray timeline` → Slices: which task ran on which worker, and when it waited. Bounded.

The file is a list of events in Chrome's trace event format (Ray's `chrome_tracing_dump`): `ph` is X for a slice, with
`ts` and `dur` in microseconds since 1970. `pid` and `tid` are the node's address and `worker:<id>`, or in later
versions numbers to which events of `ph` M give these names. A task's slice has the category `task::<function>`;
inside it lie `task:deserialize_arguments`, `task:execute`, `task:store_outputs` and, where the task waited for
others, `ray.get` and `ray.wait`. A task that has not ended when the file is written is not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

SLICES = 4_000
"""Of one file; of more the latest are kept."""
_CONTAINERS = 2_000_000
_EVENTS = 1_000_000
_NAME = 200
_LATEST_US = 1 << 53
_NAMES = {"process_name": "pid", "thread_name": "tid"}
WAITS = frozenset({"ray.get", "ray.wait", "get_objects", "worker_idle"})
"""Categories of slices in which a worker waits for what others make."""


class Slice(NamedTuple):
    """What a worker of a node did from `start_us` to `end_us`, in microseconds since 1970 by the node's clock.

    `category`: as Ray writes it. `task`: the function that ran; None where the slice is of none.
    """

    node: str
    worker: str
    category: str
    name: str
    task: str | None
    start_us: int
    end_us: int

    @property
    def waits(self) -> bool:
        """Whether the worker waited in it."""
        return self.category in WAITS


class RayTimeline(NamedTuple):
    """The slices of a file in the order of their starts; `left_out` counts those that a bound left out.

    `problem`: why the file, or an event of it, could not be read, as a clause that follows its name; None: it could.
    """

    slices: tuple[Slice, ...]
    left_out: int = 0
    problem: str | None = None


def read_ray_timeline(data: bytes) -> RayTimeline:
    """Return what a file of `ray timeline` holds."""
    if data.count(b"[") + data.count(b"{") > _CONTAINERS:
        return RayTimeline((), problem="is larger than what is read of one timeline of Ray")
    try:
        events = json.loads(data.decode("utf-8-sig", "replace"))
    except RecursionError:
        return RayTimeline((), problem="is JSON that is nested too deep")
    except ValueError:
        return RayTimeline((), problem="is cut off or damaged: a timeline of Ray is one list in JSON")
    if not isinstance(events, list):
        return RayTimeline((), problem="is no timeline of Ray: that is a list of events")
    names = _names(events[:_EVENTS])
    slices = sorted(_slices(events[:_EVENTS], names), key=lambda one: (one.start_us, -one.end_us, one.node, one.worker))
    strange = sum(1 for event in events if isinstance(event, dict) and event.get("ph") == "X") - len(slices)
    kept = tuple(slices[max(0, len(slices) - SLICES) :])
    said = "1 event" if strange == 1 else f"{strange:,} events"
    problem = f"has {said} without a time or a name, left out" if strange > 0 else None
    return RayTimeline(kept, len(slices) - len(kept), problem)


def _names(events: list[Any]) -> dict[tuple[str, Any], str]:
    """Return what the numbers of nodes and workers stand for."""
    names: dict[tuple[str, Any], str] = {}
    for event in events:
        if not isinstance(event, dict) or event.get("ph") != "M":
            continue
        key, told = _NAMES.get(_text(event.get("name")) or ""), event.get("args")
        number, name = event.get(key or ""), _text(told.get("name")) if isinstance(told, dict) else None
        if key is not None and isinstance(number, int) and name is not None:
            names[key, number] = name.removeprefix("Node ") if key == "pid" else name
    return names


def _slices(events: list[Any], names: dict[tuple[str, Any], str]) -> Iterator[Slice]:
    for event in events:
        if not isinstance(event, dict) or event.get("ph") != "X":
            continue
        start, length = _microseconds(event.get("ts")), _microseconds(event.get("dur"))
        node, worker = _named("pid", event, names), _named("tid", event, names)
        category = _text(event.get("cat")) or _text(event.get("name"))
        if start is None or length is None or node is None or worker is None or category is None:
            continue
        yield Slice(
            node, worker, category, _text(event.get("name")) or category, _task(category, event), start, start + length
        )


def _named(key: str, event: dict[str, Any], names: dict[tuple[str, Any], str]) -> str | None:
    value = event.get(key)
    if isinstance(value, int):
        return names.get((key, value), f"{value}"[:_NAME])
    return _text(value)


def _task(category: str, event: dict[str, Any]) -> str | None:
    """Return the function of a task's slice, or of one inside of it."""
    args = event.get("args")
    told = _text(args.get("func_or_class_name")) if isinstance(args, dict) else None
    if category.startswith("task::"):
        return category.removeprefix("task::") or told
    return told


def _microseconds(value: Any) -> int | None:
    """Return a time or a length; what is no number, or lies beyond what a double holds exactly, is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and 0 <= value < _LATEST_US else None


def _text(value: Any) -> str | None:
    return value[:_NAME] if isinstance(value, str) and value else None
