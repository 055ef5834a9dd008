"""The course of a job as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open: a process a rank.

The form is the object form of Google's Trace Event Format
(https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): X a slice with its length, i a
moment, M a name; times in microseconds, here from the first moment on. A rank's threads are the log's lines on it and
its process groups; calls of a group that overlap lie in further threads of it, since slices of one thread have to nest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from nccl_logscan.lines.stamps import NO_YEAR
from nccl_logscan.records import dataclass, field
from nccl_logscan.report.view import ReportView
from nccl_logscan.report.visible import json_harmless_to_runners, short, visible
from nccl_logscan.report.wording import ranks_said

LANES = 8
"""Threads that one process group of a rank has at most."""
_NAME = 120
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COMPLETED = 2
_RAY = "ray"
_LOG = "log"
_JOB = "job"


class _Moment(NamedTuple):
    """What is marked at a time: `scope` g across all tracks, p across those of its process, t in its thread."""

    track: tuple[str, str]
    name: str
    at_us: int
    scope: str
    args: Mapping[str, Any]


class _Slice(NamedTuple):
    """What lasts from a time to another; `end_us` None: to the end of the trace."""

    track: tuple[str, str]
    name: str
    start_us: int
    end_us: int | None
    kind: str
    args: Mapping[str, Any]


@dataclass(slots=True)
class _Tracks:
    """Numbers for processes and threads, in the order in which they are named; 0 is the kernel's to Perfetto."""

    processes: dict[str, int] = field(default_factory=dict)
    threads: dict[tuple[str, str], int] = field(default_factory=dict)

    def place(self, track: tuple[str, str]) -> dict[str, int]:
        """Return the `pid` and `tid` of a track."""
        pid = self.processes.setdefault(track[0], len(self.processes) + 1)
        return {"pid": pid, "tid": self.threads.setdefault(track, len(self.threads) + 1)}

    def names(self) -> Iterator[dict[str, Any]]:
        """Yield the events that name all tracks and put them in order."""
        for process, pid in self.processes.items():
            place = {"ph": "M", "pid": pid, "tid": 0}
            yield {"name": "process_name", **place, "args": {"name": _shown(process)}}
            yield {"name": "process_sort_index", **place, "args": {"sort_index": pid}}
        for (process, thread), tid in self.threads.items():
            place = {"ph": "M", "pid": self.processes[process], "tid": tid}
            yield {"name": "thread_name", **place, "args": {"name": _shown(thread)}}
            yield {"name": "thread_sort_index", **place, "args": {"sort_index": tid}}


def render_trace(view: ReportView) -> str:
    """Return the trace, in ASCII; without a time in the log, a dump or a timeline it has no events."""
    spans = view["spans"] or {"names": [], "tracks": [], "workers": [], "stall": None}
    hosts = _hosts(view)
    year = _year(view, spans)
    slices = [*_stalls(spans["stall"]), *_calls(spans, hosts), *_workers(spans)]
    moments = [*_verdict(view["verdict"], year), *_moments(view, hosts, year)]
    times = [time for one in slices for time in (one.start_us, one.end_us) if time is not None]
    times += [moment.at_us for moment in moments]
    began, ended = min(times, default=0), max(times, default=0)
    tracks = _Tracks()
    for process in (_JOB, *(_rank(rank, hosts) for rank in sorted(_ranks(view, spans)))):
        tracks.processes[process] = len(tracks.processes) + 1
    events = [_moment(moment, began, tracks) for moment in moments]
    events += [_event(one, began, tracks) for one in _laid_out(slices, ended)]
    events.sort(key=lambda event: (event["ts"], -event.get("dur", 0)))
    about = {
        "tool": f"nccl-logscan {view['tool']['version']}",
        "verdict": visible(view["verdict"]["headline"]),
        "began": _date(began).isoformat(),
        "clocks": "times of a log that prints no zone are drawn as if they were UTC; clocks of hosts may differ",
        "left_out": view["omitted"]["spans"] + view["omitted"]["timeline"],
    }
    lines = ",\n".join(_dumped(event) for event in (*tracks.names(), *events))
    return json_harmless_to_runners(
        f'{{"otherData": {_dumped(about)},\n"displayTimeUnit": "ms",\n"traceEvents": [\n{lines}\n]}}\n'
    )


def _dumped(part: Mapping[str, Any]) -> str:
    return json.dumps(part, ensure_ascii=True, allow_nan=False)


# --- tracks --------------------------------------------------------------------------------------------------


def _hosts(view: ReportView) -> dict[int, str]:
    """Return the host of each rank, as the parts of the report tell it."""
    told = (*view["timeline"], *view["ranks"], *((view["spans"] or {}).get("tracks", ())))
    return {entry["rank"]: entry["host"] for entry in told if entry["rank"] is not None and entry["host"] is not None}


def _ranks(view: ReportView, spans: Mapping[str, Any]) -> set[int]:
    told = (*view["timeline"], *spans["tracks"])
    return {entry["rank"] for entry in told if entry["rank"] is not None and (entry.get("time", "") is not None)}


def _rank(rank: int, hosts: Mapping[int, str]) -> str:
    return f"rank {rank}" + (f", {hosts[rank]}" if rank in hosts else "")


def _process(entry: Mapping[str, Any], hosts: Mapping[int, str]) -> str:
    """Return the process of a moment: its rank's, else its host's."""
    return _rank(entry["rank"], hosts) if entry["rank"] is not None else entry["host"] or _JOB


# --- moments -------------------------------------------------------------------------------------------------


def _year(view: ReportView, spans: Mapping[str, Any]) -> int | None:
    """Return the year that dumps, or else other lines, tell: that of lines which print none."""
    times = [call[3] for track in spans["tracks"] for call in track["calls"]]
    times += [row[2] for worker in spans["workers"] for row in worker["slices"]]
    if times:
        return _date(max(times)).year
    years = (datetime.fromisoformat(entry["time"]).year for entry in view["timeline"] if entry["time"] is not None)
    return max((year for year in years if year != NO_YEAR), default=None)


def _at(time: str | None, year: int | None) -> int | None:
    """Return a time of the report in microseconds since 1970; None: it is not told, or that year has no such day."""
    if time is None:
        return None
    moment = datetime.fromisoformat(time)
    if moment.year == NO_YEAR and year is not None:
        try:
            moment = moment.replace(year=year)
        except ValueError:
            return None
    return _microseconds(moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC))


def _date(time_us: int) -> datetime:
    return _EPOCH + timedelta(microseconds=time_us)


def _microseconds(moment: datetime) -> int:
    since: timedelta = moment - _EPOCH
    return since // timedelta(microseconds=1)


def _moments(view: ReportView, hosts: Mapping[int, str], year: int | None) -> Iterator[_Moment]:
    """Yield first lines of findings, across all of their rank's tracks, and first and last steps, starts and exits."""
    for entry in view["timeline"]:
        at = _at(entry["aligned"]["time"] if entry["aligned"] else entry["time"], year)
        if at is None:
            continue
        args = {name: entry[name] for name in ("text", "file", "line", "time", "clock") if entry[name] is not None}
        scope = "p" if "/" in entry["kind"] else "t"
        yield _Moment((_process(entry, hosts), _LOG), entry["kind"], at, scope, args)


def _verdict(verdict: Mapping[str, Any], year: int | None) -> Iterator[_Moment]:
    """Yield where the decisive line of the verdict stands."""
    for cited in verdict["evidence"]:
        at = _at(cited["time"], year)
        if cited["role"] == "cause" and at is not None:
            args = {"headline": verdict["headline"], "file": cited["file"], "line": cited["line"]}
            yield _Moment((_JOB, _LOG), f"verdict: {verdict['category']}", at, "g", args)
            return


# --- slices --------------------------------------------------------------------------------------------------


def _stalls(stall: Mapping[str, Any] | None) -> Iterator[_Slice]:
    """Yield the stall, which lasts to the end of the trace."""
    if stall is None:
        return
    number = "" if stall["sequence"] is None else f" number {stall['sequence']}"
    waiting = ranks_said(stall["ranks"], stall["rank_count"])
    args = {"process_group": stall["process_group"], "ranks": waiting}
    yield _Slice((_JOB, "stall"), f"stall: {stall['operation']}{number}", stall["since_us"], None, "stall", args)


def _calls(spans: Mapping[str, Any], hosts: Mapping[int, str]) -> Iterator[_Slice]:
    for track in spans["tracks"]:
        described = f"{track['description']} " if track["description"] else ""
        thread = f"group {described}{track['process_group']}" + (", point-to-point" if track["point_to_point"] else "")
        place = (_rank(track["rank"], hosts), thread)
        for name, sequence, state, issued, started, completed in track["calls"]:
            operation = spans["names"][name] + ("" if sequence is None else f" {sequence}")
            args = {"issued_us": issued, "started_us": started, "completed_us": completed, "done": state == _COMPLETED}
            end = completed if completed is not None or state != _COMPLETED else issued
            yield _Slice(place, operation, issued, end, "call", args)


def _workers(spans: Mapping[str, Any]) -> Iterator[_Slice]:
    for worker in spans["workers"]:
        for name, waits, start, end in worker["slices"]:
            place = (f"Ray node {worker['host']}", worker["worker"])
            yield _Slice(place, spans["names"][name], start, end, _RAY, {"waits": bool(waits)})


def _laid_out(slices: Iterable[_Slice], ended: int) -> Iterator[_Slice]:
    """Yield slices with an end, in threads of which no two slices overlap; one of Ray may lie inside another.

    What finds no thread begins where the first of them is free.
    """
    open_ends: dict[tuple[str, str], list[list[int]]] = {}
    for one in sorted(
        slices, key=lambda one: (one.track, one.start_us, -(ended if one.end_us is None else one.end_us))
    ):
        end = max(one.start_us, ended if one.end_us is None else one.end_us)
        lanes = open_ends.setdefault(one.track, [])
        lane = next((number for number, held in enumerate(lanes) if _fits(one, end, held)), None)
        start = one.start_us
        if lane is None and len(lanes) < LANES:
            lanes.append([])
            lane = len(lanes) - 1
        elif lane is None:
            lane = min(range(LANES), key=lambda number: lanes[number][0])
            start = lanes[lane][0]
            end = max(start, end)
            lanes[lane].clear()
        lanes[lane].append(end)
        process, thread = one.track
        yield one._replace(
            track=(process, thread if lane == 0 else f"{thread} ({lane + 1})"), start_us=start, end_us=end
        )


def _fits(one: _Slice, end: int, held: list[int]) -> bool:
    """Whether a thread has room for a slice; `held` are the ends of those that are open in it, outermost first."""
    while held and held[-1] <= one.start_us:
        held.pop()
    return not held or (one.kind == _RAY and end <= held[-1])


# --- events --------------------------------------------------------------------------------------------------


def _moment(moment: _Moment, began: int, tracks: _Tracks) -> dict[str, Any]:
    return {
        "name": _shown(moment.name),
        "cat": "log",
        "ph": "i",
        "s": moment.scope,
        "ts": moment.at_us - began,
        **tracks.place(moment.track),
        "args": _args(moment.args),
    }


def _event(one: _Slice, began: int, tracks: _Tracks) -> dict[str, Any]:
    return {
        "name": _shown(one.name),
        "cat": one.kind,
        "ph": "X",
        "ts": one.start_us - began,
        "dur": (one.end_us or 0) - one.start_us,
        **tracks.place(one.track),
        "args": _args(one.args),
    }


def _args(args: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: visible(value) if isinstance(value, str) else value for name, value in args.items() if value is not None
    }


def _shown(name: str) -> str:
    return short(visible(name), _NAME)
