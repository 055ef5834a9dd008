"""The map of a job's machines for the view: hosts, their ranks, GPUs and adapters; equal hosts stand in one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from nccl_logscan.diagnosis.host_names import short_host
from nccl_logscan.diagnosis.machines import Links, Machine, RankPlace
from nccl_logscan.diagnosis.verdict import Culprit
from nccl_logscan.report.wording import counted

ROWS = 64
HOSTS = 256
RANKS = 4_096
GPUS = 32
ADAPTERS = 256
# So few hosts are shown one by one, alike or not.
FEW = 4

_Value = TypeVar("_Value")
_Place = tuple[int | None, str | None]


class _Common(NamedTuple):
    """What most hosts have; None where no value is that of most, or too few hosts tell."""

    ranks: int | None
    gpus: tuple[_Place, ...] | None
    adapters: tuple[str, ...] | None


def machines_of(machines: Sequence[Machine], culprit: Culprit) -> dict[str, Any] | None:
    """Return the map: the culprit's host first, then hosts unlike the others; None where the log shows no machine.

    At most ROWS rows: hosts beyond them are in `host_count` alone.
    """
    if not machines:
        return None
    common = _common(machines)
    rows = [_row(group, common, culprit) for group in _groups(machines, culprit)]
    rows.sort(key=lambda row: (not row["culprit"], not row["differs"]))
    return {
        "host_count": len(machines),
        "rank_count": sum(len(machine.places) for machine in machines),
        "notes": list(_notes(machines, common)),
        "rows": rows[:ROWS],
    }


def _groups(machines: Sequence[Machine], culprit: Culprit) -> list[list[Machine]]:
    if len(machines) <= FEW:
        return [[machine] for machine in machines]
    groups: dict[object, list[Machine]] = {}
    for machine in machines:
        key = machine.host if _is_at_fault(machine, culprit) else (_gpus(machine), _own_adapters(machine))
        groups.setdefault(key, []).append(machine)
    return list(groups.values())


def _row(machines: Sequence[Machine], common: _Common, culprit: Culprit) -> dict[str, Any]:
    first = machines[0]
    is_at_fault = _is_at_fault(first, culprit)
    ranks = sorted(place.rank for machine in machines for place in machine.places)
    # Where there are very many, the one at fault is among those that are shown.
    places = sorted(first.places, key=lambda place: place.rank != culprit.rank)[:GPUS]
    return {
        "hosts": [machine.host for machine in machines[:HOSTS]],
        "host_count": len(machines),
        "ranks": ranks[:RANKS],
        "rank_count": len(ranks),
        "gpus": [
            _gpu(place, first, culprit, is_alone=len(machines) == 1)
            for place in sorted(places, key=lambda place: place.rank)
        ],
        "gpu_count": len(first.places),
        "adapters": list(first.adapters[:ADAPTERS]),
        "differs": list(_differences(first, common)),
        "culprit": is_at_fault,
        "culprit_adapter": _adapter_at_fault(first, culprit) if is_at_fault else None,
    }


def _gpu(place: RankPlace, machine: Machine, culprit: Culprit, *, is_alone: bool) -> dict[str, Any]:
    is_own = bool(place.adapters) and set(place.adapters) != set(machine.adapters)
    return {
        "rank": place.rank if is_alone else None,
        "device": place.device,
        "nvml_device": place.nvml_device,
        "bus_id": place.bus_id,
        "adapters": list(place.adapters) if is_own else None,
        "culprit": place.rank == culprit.rank,
    }


def _is_at_fault(machine: Machine, culprit: Culprit) -> bool:
    if culprit.host is not None:
        return short_host(culprit.host).lower() == short_host(machine.host).lower()
    return any(place.rank == culprit.rank for place in machine.places)


def _adapter_at_fault(machine: Machine, culprit: Culprit) -> str | None:
    """Return the adapter of the verdict as the host lists it: mlx5_0 is its port mlx5_0:1/RoCE."""
    named = culprit.adapter
    return next((name for name in machine.adapters if named and named in {name, *_prefixes(name)}), None)


def _prefixes(adapter: str) -> tuple[str, str]:
    port = adapter.partition("/")[0]
    return port, port.partition(":")[0]


# --- What differs --------------------------------------------------------------------------------------------


def _gpus(machine: Machine) -> tuple[_Place, ...]:
    return tuple((place.device, place.bus_id) for place in machine.places)


def _own_adapters(machine: Machine) -> tuple[object, ...]:
    return tuple(sorted(machine.adapters)), tuple(tuple(sorted(place.adapters)) for place in machine.places)


def _told(machines: Iterable[Machine]) -> tuple[list[int], list[tuple[_Place, ...]], list[tuple[str, ...]]]:
    """Return numbers of ranks, GPUs and adapters of the hosts of which the log tells them."""
    listed = list(machines)
    return (
        [len(machine.places) for machine in listed if machine.places],
        [_gpus(machine) for machine in listed if any(place.bus_id for place in machine.places)],
        [tuple(sorted(machine.adapters)) for machine in listed if machine.adapters],
    )


def _common(machines: Sequence[Machine]) -> _Common:
    ranks, gpus, adapters = _told(machines)
    return _Common(_of_most(ranks), _of_most(gpus), _of_most(adapters))


def _of_most(values: Sequence[_Value]) -> _Value | None:
    for value, count in Counter(values).most_common(1):
        return value if count > 1 and 2 * count > len(values) else None
    return None


def _differences(machine: Machine, common: _Common) -> Iterator[str]:
    """Say in what a host is unlike most others."""
    count = len(machine.places)
    if common.ranks is not None and count not in {0, common.ranks}:
        yield f"{counted(count, 'rank')} seen; most hosts have {common.ranks}"
    seen = any(place.bus_id for place in machine.places)
    if seen and common.gpus is not None and count == len(common.gpus) and _gpus(machine) != common.gpus:
        yield "its GPUs are not at the addresses that most hosts have them at"
    if machine.adapters and common.adapters is not None:
        yield from _adapters_unlike(set(machine.adapters), set(common.adapters))


def _adapters_unlike(own: set[str], most: set[str]) -> Iterator[str]:
    if missing := most - own:
        yield f"does not use {_listed(missing)}, as most hosts do"
    if further := own - most:
        yield f"uses {_listed(further)}, which most hosts do not"


def _listed(names: Iterable[str], limit: int = 8) -> str:
    ordered = sorted(names)
    return ", ".join(ordered[:limit]) + (f" and {len(ordered) - limit} more" if len(ordered) > limit else "")


def _notes(machines: Sequence[Machine], common: _Common) -> Iterator[str]:
    yield from _disagreements(machines, common)
    sharing = [machine for machine in machines if _shares_gpus(machine)]
    if sharing:
        yield f"On {'one host' if len(sharing) == 1 else f'{len(sharing):,} hosts'} several ranks share a GPU."


def _shares_gpus(machine: Machine) -> bool:
    """Whether two ranks are on one GPU by its address: CUDA's numbers may be each process's own."""
    addresses = [place.bus_id for place in machine.places if place.bus_id is not None]
    return len(set(addresses)) < len(addresses)


def _disagreements(machines: Sequence[Machine], common: _Common) -> Iterator[str]:
    """Say in what hosts differ where nothing is what most have."""
    ranks, gpus, adapters = _told(machines)
    if common.ranks is None and len(set(ranks)) > 1:
        yield "The hosts have different numbers of ranks in the log."
    if common.gpus is None and common.ranks is not None and len(set(gpus)) > 1:
        yield "The hosts have their GPUs at different addresses."
    if common.adapters is None and len(set(adapters)) > 1:
        yield "The hosts use different adapters."


# --- Links ---------------------------------------------------------------------------------------------------

# NCCL, src/include/graph.h. Pattern 1 had another meaning before 2.8, yet was a tree split over GPUs, too.
_PATTERNS: Mapping[int, str] = {
    1: "balanced tree",
    2: "split tree",
    3: "tree",
    4: "ring",
    5: "NVLS",
    6: "CollNet direct",
}
_FALLBACK = 0.1
_NO_PATH = "NCCL found no path for it and fell back to the simple order of GPUs"


def links_of(links: Links) -> dict[str, Any]:
    """Return the bandwidths, paths and channels that NCCL printed, each with the hosts that printed it."""
    return {
        "systems": [
            {"largest": system.largest, "total": system.total, **_who(hosts)}
            for system, hosts in sorted(links.systems.items())
        ],
        "graphs": [
            {
                "pattern": graph.pattern,
                "name": _PATTERNS.get(graph.pattern),
                "channels": graph.channels,
                "cross_nic": graph.cross_nic,
                "bandwidth_within": graph.bandwidth_within,
                "bandwidth_between": graph.bandwidth_between,
                "path_within": graph.path_within,
                "path_between": graph.path_between,
                # NCCL, src/graph/search.cc: 0.1 is what it sets then, and warns "Could not find a path for pattern".
                "remark": _NO_PATH if graph.bandwidth_within == graph.bandwidth_between == _FALLBACK else None,
                **_who(hosts),
            }
            for graph, hosts in sorted(links.graphs.items())
        ],
        "channels": [
            {**channels._asdict(), **_who(hosts)}
            for channels, hosts in sorted(links.channels.items(), key=lambda entry: entry[0].collective)
        ],
    }


def _who(hosts: Iterable[str]) -> dict[str, Any]:
    listed = list(hosts)
    return {"who": listed[:HOSTS], "who_count": len(listed)}
