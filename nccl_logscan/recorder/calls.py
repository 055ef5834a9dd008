"""Entries → Calls, with the groups that they name; whatever version or writer they are of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nccl_logscan.expressions import deferred
from nccl_logscan.recorder.groups import GroupReader
from nccl_logscan.recorder.model import Call, Frame, Group, State
from nccl_logscan.recorder.plain_pickle import Plain
from nccl_logscan.recorder.values import Malformed, Problems, count, some, text

ENTRY_KEYS = frozenset(
    (
        "record_id",
        "pg_id",
        "process_group",
        "seq_id",
        "collective_seq_id",
        "p2p_seq_id",
        "op_id",
        "profiling_name",
        "time_created_ns",
        "time_created_us",
        "input_sizes",
        "output_sizes",
        "state",
        "retired",
        "frames",
    )
)
"""Keys that entries of some version have."""

_CALLS = 200_000
_FRAMES = 128
_NUMBERS = 8_000_000
# More than any tensor has; a product of thousands would take hours.
_DIMENSIONS = 64
_GROUPS = 65_536
_INT64 = 1 << 63

_LIBRARY = deferred(r"[A-Za-z0-9_]{1,32}::?")
# ProcessGroupNCCL::send and ::recv name the ranks within the group: `nccl:send 0->1`, `nccl:recv 1<-0`.
_PEERS = deferred(r"(?:send|recv) ([0-9]{1,9})(->|<-)([0-9]{1,9})\Z")
_POINT_TO_POINT = frozenset({"send", "recv"})
_FRAME_TEXT = deferred(
    r"(?:#[0-9]+ )?(?P<function>[^\n]{1,512}?) (?:at|from) (?P<file>[^\n]{1,1024}):(?P<line>[0-9]{1,9})\Z"
)
_STATES = {state.value: state for state in State}


class CallReader:
    """Reads a dump's `entries`. It adds to `groups` those that only entries name.

    `names`: for each number that this process gave to a group (`pg_id`), the group's key; None where several have it.
    `left_out`: how many entries could not be read.
    """

    def __init__(self, groups: dict[str, Group], group_reader: GroupReader, problems: Problems) -> None:
        self.groups = groups
        self.names: dict[str, str | None] = {}
        self.left_out = 0
        self._group_reader = group_reader
        self._problems = problems
        self._numbers = _NUMBERS
        self._operations: dict[str, tuple[str, tuple[int, int] | None]] = {}
        # By the identity of what they were read from, all of which lives as long as the reader is used.
        self._frames: dict[int, Frame] = {}
        self._stacks: dict[tuple[int, ...], tuple[Frame, ...]] = {}
        # Equal values are kept once: a training loop repeats its calls, so a dump of thousands has few different ones.
        self._same_sizes: dict[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]] = {}
        self._same_texts: dict[tuple[str, ...], tuple[str, ...]] = {}

    def read(self, entries: list[Plain]) -> tuple[Call, ...]:
        """Return the calls in the order in which they were issued; of very many the latest."""
        left_out = max(0, len(entries) - _CALLS)
        if left_out:
            self._problems.add(f"has {len(entries)} entries, of which the first {left_out} were left out")
        calls: list[Call] = []
        in_order = True
        for place in range(left_out, len(entries)):
            try:
                call = self._call(place, entries[place])
            except Malformed as malformed:
                self._problems.add(f"entry {place} {malformed}")
                self.left_out += 1
                continue
            in_order = in_order and (not calls or calls[-1].record <= call.record)
            calls.append(call)
        if not in_order:
            calls.sort(key=lambda call: call.record)
        return tuple(calls)

    def _call(self, place: int, entry: Plain) -> Call:
        if type(entry) is not dict:
            raise Malformed("is no dict")
        get = entry.get
        operation, peers = self._operation(get("profiling_name"))
        started, completed = some(get("time_discovered_started_ns")), some(get("time_discovered_completed_ns"))
        collective = count(get("collective_seq_id", get("seq_id")))
        is_p2p = get("is_p2p") is True or operation in _POINT_TO_POINT
        record = count(get("record_id"))
        return Call(
            record=record if record is not None else place,
            group=self._group(entry),
            operation=operation,
            state=_state(get("state"), started, completed),
            sequence=None if is_p2p else collective,
            p2p_sequence=(some(get("p2p_seq_id")) or some(get("seq_id"))) if is_p2p else None,
            peers=peers,
            input_sizes=self._sizes(place, get("input_sizes")),
            input_dtypes=self._texts(get("input_dtypes")),
            output_sizes=self._sizes(place, get("output_sizes")),
            output_dtypes=self._texts(get("output_dtypes")),
            created_ns=some(get("time_created_ns")) or _from_us(get("time_created_us")),
            started_ns=started,
            completed_ns=completed,
            timeout_ms=some(get("timeout_ms")),
            retired=get("retired") is True,
            frames=self._stack(get("frames")),
        )

    def _operation(self, name: Plain) -> tuple[str, tuple[int, int] | None]:
        if type(name) is not str:
            raise Malformed("names no operation")
        known = self._operations.get(name)
        if known is None:
            known = self._operations[name] = _operation(text(name) or "")
        return known

    def _group(self, entry: dict[Plain, Plain]) -> str:
        """Return the key of an entry's group: by its name, or before version 2 by the process's number for it."""
        number, named = text(entry.get("pg_id")), entry.get("process_group")
        name: str | None
        if type(named) is tuple or type(named) is list:
            name = text(named[0]) if named else None
            description = text(named[1]) if len(named) > 1 else None
        else:
            name, description = text(named), None
        if name is None:
            name = next(iter(self.groups)) if number is None and len(self.groups) == 1 else number
        if name is None:
            raise Malformed("names no group")
        if name not in self.groups:
            self._add_group(name, description or "", entry.get("process_group_ranks"))
        if number is not None and self.names.setdefault(number, name) != name:
            self.names[number] = None
        return name

    def _add_group(self, name: str, description: str, ranks: Plain) -> None:
        """Take in a group that pg_config does not have. Writers other than c10d may give its ranks in its entries."""
        if len(self.groups) >= _GROUPS:
            raise Malformed("is of one group too many")
        try:
            self.groups[name] = Group(name, description, self._group_reader.ranks(ranks))
        except Malformed:
            self.groups[name] = Group(name, description)

    def _sizes(self, place: int, value: Plain) -> tuple[tuple[int, ...], ...]:
        if not value:
            return ()
        tensors: list[tuple[int, ...]] = []
        if type(value) is list or type(value) is tuple:
            self._numbers -= len(value)
            for dims in value if self._numbers >= 0 else ():
                if not (type(dims) is list or type(dims) is tuple) or len(dims) > min(_DIMENSIONS, self._numbers):
                    break
                self._numbers -= len(dims)
                tensor = tuple(dims)
                if not all(type(dim) is int and 0 <= dim < _INT64 for dim in tensor):
                    break
                tensors.append(tensor)  # type: ignore[arg-type] # looked at one line above
            if len(tensors) == len(value):
                sizes = tuple(tensors)
                return self._same_sizes.setdefault(sizes, sizes)
        self._problems.add(f"entry {place} has sizes that are no lists of numbers, or more than are read")
        return ()

    def _texts(self, value: Plain) -> tuple[str, ...]:
        if not (type(value) is list or type(value) is tuple) or len(value) > self._numbers:
            return ()
        self._numbers -= len(value)
        texts = tuple(text(each) or "" for each in value)
        return self._same_texts.setdefault(texts, texts)

    def _stack(self, value: Plain) -> tuple[Frame, ...]:
        """Return the frames of a call. A pickle shares each frame among all calls that went through it."""
        if not value or not (type(value) is list or type(value) is tuple):
            return ()
        innermost = value[:_FRAMES]
        key = tuple(map(id, innermost))
        stack = self._stacks.get(key)
        if stack is None:
            stack = self._stacks[key] = tuple(self._known_frames(innermost))
        return stack

    def _known_frames(self, frames: Iterable[Plain]) -> Iterator[Frame]:
        for each in frames:
            frame = self._frames.get(id(each)) or _frame(each)
            if frame is not None:
                self._frames[id(each)] = frame
                yield frame


def _operation(name: str) -> tuple[str, tuple[int, int] | None]:
    """`nccl:all_reduce` → all_reduce; `xccl:recv 1<-0` → recv, (0, 1): the sender, the receiver."""
    library = _LIBRARY.match(name)
    bare = name[library.end() :] if library else name
    if peers := _PEERS.match(bare):
        first, arrow, second = int(peers[1]), peers[2], int(peers[3])
        return bare[:4], (first, second) if arrow == "->" else (second, first)
    return bare.split(" ", 1)[0], None


def _state(value: Plain, started: int | None, completed: int | None) -> State:
    state = _STATES.get(value.lower()) if type(value) is str else None
    if state is not None:
        return state
    if completed is not None:
        return State.COMPLETED
    if started is not None:
        return State.STARTED
    raise Malformed("has no state" if value is None else "has a state that is not known")


def _from_us(value: Plain) -> int | None:
    microseconds = some(value)
    return microseconds * 1000 if microseconds is not None else None


def _frame(value: Plain) -> Frame | None:
    """Return a frame from its dict, or from the text `function at file:line`, as analysers print it."""
    if type(value) is dict:
        function, file = text(value.get("name")), text(value.get("filename"))
        if function is None and file is None:
            return None
        return Frame(function or "", file or "", count(value.get("line")) or 0)
    if type(value) is str and (spelt := _FRAME_TEXT.match(value)):
        return Frame(text(spelt["function"]) or "", text(spelt["file"]) or "", int(spelt["line"]))
    return None
