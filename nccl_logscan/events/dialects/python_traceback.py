"""Python's tracebacks and exceptions, however the ranks that print them interleave.

`read` knows what one line can tell by itself: an exception printed alone, a warning with its place. `Tracebacks` joins
the lines of a traceback and gives the exception its frames.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any, NamedTuple

from nccl_logscan.events.dialects import torch_process_group
from nccl_logscan.events.model import Event, PythonException, PythonWarning, told_by
from nccl_logscan.expressions import deferred
from nccl_logscan.lines.model import LogLine
from nccl_logscan.position import NOBODY, Origin, Position
from nccl_logscan.records import dataclass, field, replace

# A class name as Python prints it, with Ray's cause in parentheses: ray.exceptions.RayTaskError(ValueError).
_NAME = r"(?P<name>(?P<path>(?:[A-Za-z_]\w{0,100}\.){0,12})(?P<last>[A-Za-z_]\w{0,100}(?:\(\w{1,100}\))?))"
_EXCEPTION = deferred(_NAME + r"(?:: ?(?P<text>.*)|:?\s*)$", re.DOTALL)
_FIRST_WORD = deferred(r"[A-Za-z_][\w.]{0,400}(?:\(\w{1,100}\))?(?:: |:?\s{0,80}$)", re.ASCII)
_ALONE = deferred(r"[A-Z]\w*(?:Error|Exception|Interrupt|SystemExit|Timeout|Killed|Expired|Exit|Exited)(?:\(\w+\))?$")
# Words that look like the names of classes and open lines of prose.
_NO_NAMES = frozenset(
    {"Error", "Exception", "Timeout", "Killed", "Exit", "Exited", "Expired", "Interrupt", "NCCLError", "LustreError"}
)
_HEADINGS = frozenset(
    {"Debug", "Info", "Warning", "Error", "Critical", "Fatal", "Note", "Hint", "Traceback", "File"}
    | {"Epoch", "Step", "Rank", "Loading", "Loss", "Training", "Failures"}
)
_WARNING = deferred(r"\S[^\n]{0,400}?:\d{1,7}: (?P<warning>\w{0,60}Warning): ?(?P<text>.*)", re.DOTALL)


def read(line: LogLine) -> Event | None:
    """Return the event of a line that is an exception by its looks alone, or a warning.

    Prose such as `Error: no such file` or `ERROR - ValueError: x` is neither: the class's own name must open the line.
    """
    text = line.text
    if "Warning: " in text and (found := _WARNING.match(text)):
        return PythonWarning(
            **told_by(line, f"{found['warning']}: {found['text']}".strip()),
            warning=found["warning"],
        )
    if not _may_be_exception(text):
        return None
    found = _EXCEPTION.match(text)
    if found is None or not _ALONE.match(found["last"]) or (found["last"] in _NO_NAMES and not found["path"]):
        return None
    return exception(line, found["name"], found["text"] or "")


def _may_be_exception(text: str) -> bool:
    """A cheap look at a line's first word: may it be a class's name, alone or before a colon?"""
    return _FIRST_WORD.match(text) is not None


def exception(line: LogLine, name: str, text: str, frames: Frames | None = None, *, chained: bool = False) -> Event:
    """Return the event of an exception of class `name` (as printed) with `text`.

    A finding of ProcessGroupWrapper or monitoredBarrier that travels in an exception is that finding.
    """
    if fault := torch_process_group.collective_fault(line, text):
        return fault
    last = frames.last if frames else None
    users = frames.users if frames else None
    return PythonException(
        **told_by(line, f"{name}: {text}".strip() if text else name),
        exception=name.rpartition(".")[2] if "(" not in name else name[name.rfind(".", 0, name.index("(")) + 1 :],
        text=text.strip(),
        file=last.file if last else None,
        line=last.line if last else None,
        function=last.function if last else None,
        user_file=users.file if users else None,
        user_line=users.line if users else None,
        chained=chained,
    )


class Frame(NamedTuple):
    """One frame of a traceback."""

    file: str
    line: int
    function: str | None


# Where an interpreter or an installer puts code that is not the user's.
_INSTALLED = ("site-packages/", "dist-packages/", "/lib/python", "\\lib\\", "<frozen ", "<string>", "<__")


@dataclass(slots=True)
class Frames:
    """The innermost frame and the innermost one in the user's own code. No other is kept."""

    last: Frame | None = None
    users: Frame | None = None

    def add(self, frame: Frame) -> None:
        """Take one frame further in."""
        self.last = frame
        if not _is_installed(frame.file):
            self.users = frame


def _is_installed(file: str) -> bool:
    """Is this a package's code, or the script by which a package is called (`/opt/env/bin/torchrun`)?"""
    return any(place in file for place in _INSTALLED) or ("/bin/" in file and not file.endswith(".py"))


@dataclass(slots=True)
class _Pending:
    """A traceback (or several that no prefix tells apart) whose exception has not come yet."""

    frames: Frames = field(default_factory=Frames)
    waiting: int = 1
    last_line: int = 0
    origin: Origin | None = None
    innermost: LogLine | None = None


_FRAME = deferred(r'File "(?P<file>[^"]{1,1000})", line (?P<line>\d{1,9})(?:, in (?P<function>.{1,200}))?')
_BOXED_FRAME = deferred(r"\u2502 (?P<file>\S{1,1000}\.py):(?P<line>\d{1,9}) in (?P<function>\S{1,200})")
_RAY_TASK = deferred(r"ray::(?P<name>[^\s(]{1,200})\(\) \(pid=(?P<pid>\d{1,10})(?:, ip=(?P<ip>[\w.:\-]{1,64}))?")
_SPAWNED = deferred(r"-- Process (?P<local>\d{1,6}) terminated with")
_GROUP_RULE = deferred(r"[\s|+]*(?:\+-\+)?-{2,} ?(?:\d+ )?-{2,}\s*$")
_HEADER = "Traceback (most recent call last)"
_OPENERS = ('File "', "  what():", "what():")
_CHAINS = ("The above exception was the direct cause of", "During handling of the above exception")
# What Python prints above the traceback of an exception that by definition ends nothing.
_HARMLESS = ("Exception ignored in", "Exception ignored on", "--- Logging error ---", "Error in atexit.")
_HARMLESS_WITHIN = 80
CUT_OFF = "TracebackCutOff"
"""The exception's name of a traceback that the log ends in."""
_THROWN = deferred(r"terminate called after throwing an instance of '(?P<name>[^']{1,200})'")
_STALE_AFTER = 400
"""Lines after which a traceback without an exception is given up: its end is lost."""
_EXCERPT_WITHIN = 12
"""Lines after a frame within which an indented line is taken for its source text; ranks may run together."""
_BOX = "\u2502\u2570\u256d"
_BOX_WITHIN = 40
"""Likewise for the lines of a box, in which rich shows the source around a frame."""


class Tracebacks:
    """Joins the lines of tracebacks, one pending for each origin that the prefixes tell apart.

    Bounded: at most `limit` are pending, and the oldest is given up first.
    """

    def __init__(self, *, limit: int = 64) -> None:
        self._pending: dict[Origin, _Pending] = {}
        self._chained: dict[Origin, int] = {}
        self._spawned: dict[Origin, int] = {}
        self._thrown: dict[Origin, deque[str]] = {}
        self._harmless: dict[Origin, int] = {}
        self._limit = limit

    @property
    def is_open(self) -> bool:
        """Whether lines that follow may belong to what was read."""
        return bool(self._pending or self._chained or self._spawned or self._thrown or self._harmless)

    def read(self, line: LogLine, worker: Origin | None = None) -> tuple[Event, ...] | None:
        """Return the events of a line that belongs to a traceback, () for one that is swallowed, None for any other.

        `worker` is whose traceback this is where a block around it says so.
        """
        text = line.text
        if _HEADER in text:
            return self._open(line, worker)
        if "ray::" in text or text.startswith("-- Process "):
            self._note(line)
        if text.startswith(_HARMLESS):
            make_room(self._harmless, line.origin, self._limit)
            self._harmless[line.origin] = line.at.line
        if text.startswith(_CHAINS):
            return self._chain(line)
        if self._pending or ' File "' in text or text.startswith(_OPENERS) or "terminate called" in text:
            return self._continue(line)
        return self._exception(line, None) if _may_be_exception(text) else None

    @property
    def is_cut_off(self) -> bool:
        """Whether `finish` would return something."""
        return any(pending.innermost is not None for pending in self._pending.values())

    def finish(self) -> tuple[Event, ...]:
        """Return an exception named CUT_OFF for each traceback that the log ends in."""
        cut = (pending for pending in self._pending.values() if pending.innermost is not None)
        return tuple(
            exception(pending.innermost, CUT_OFF, pending.innermost.text.strip(), pending.frames)
            for pending in cut
            if pending.innermost is not None
        )

    def _note(self, line: LogLine) -> None:
        """Remember of whom the frames below are: a Ray task that nobody asks about, a process that was spawned."""
        if found := _SPAWNED.match(line.text):
            make_room(self._spawned, line.origin, self._limit)
            self._spawned[line.origin] = int(found["local"])
        elif (task := _RAY_TASK.search(line.text)) and not _may_be_exception(line.text):
            self._expect_task(line, task)

    def _open(self, line: LogLine, worker: Origin | None) -> tuple[Event, ...]:
        key = line.origin
        pending = self._pending.get(key)
        if pending and not _names_a_process(key) and not self._stale(pending, line.at):
            pending.waiting += 1
        else:
            pending = self._begin(key)
        pending.last_line, pending.innermost = line.at.line, line
        if worker:
            pending.origin = worker.completed_by(key)
        elif key in self._spawned:
            pending.origin = replace(key, local_rank=self._spawned.pop(key))
        return ()

    def _begin(self, key: Origin) -> _Pending:
        pending = _Pending()
        make_room(self._pending, key, self._limit)
        self._pending[key] = pending
        return pending

    @staticmethod
    def _stale(pending: _Pending, at: Position) -> bool:
        return at.line - pending.last_line > _STALE_AFTER

    def _continue(self, line: LogLine) -> tuple[Event, ...] | None:
        key, text = line.origin, line.text
        pending = self._pending.get(key)
        if pending and self._stale(pending, line.at):
            del self._pending[key]
            pending = None
        if frame := _frame(text, pending is not None):
            pending = pending or self._begin(key)
            pending.frames.add(frame)
            pending.last_line, pending.innermost = line.at.line, line
            return ()
        if "terminate called" in text and (thrown := _THROWN.search(text)):
            self._throw(line.origin, thrown["name"])
            return None
        if "what():" in text and text.lstrip().startswith("what():"):
            return self._what(line)
        if pending is None:
            return self._exception(line, None) if _may_be_exception(text) else None
        return self._body(line, pending)

    def _body(self, line: LogLine, pending: _Pending) -> tuple[Event, ...] | None:
        """A line that a pending traceback's origin wrote and that is no frame: source text, marks or the exception."""
        text = line.text
        bare = text.lstrip(" \t|+")
        if not bare or _GROUP_RULE.match(text):
            return ()
        if _may_be_exception(bare) and len(text) - len(bare) <= 8 and (event := self._exception(line, pending)):
            return event
        reach = _BOX_WITHIN if text[0] in _BOX else _EXCERPT_WITHIN if text[0] in " \t>|+" else -1
        if line.at.line - pending.last_line > reach or torch_process_group.read_headless(line):
            return None
        return ()

    def _exception(self, line: LogLine, pending: _Pending | None) -> tuple[Event, ...] | None:
        key = line.origin
        found = _EXCEPTION.match(line.text.lstrip(" \t|+"))
        if found is None or not _is_name(found, line, pending):
            return None
        chained = self._chained.pop(key, 0)
        if chained > 1:
            self._chained[key] = chained - 1
        said = found["text"] or ""
        origin = (pending.origin if pending and pending.origin else None) or key
        task = _RAY_TASK.search(said) if "ray::" in said else None
        if task:
            origin = _of_task(origin, task)
        speaker = replace(line, origin=origin) if origin is not key else line
        event = exception(speaker, found["name"], said, pending.frames if pending else None, chained=chained > 0)
        if pending:
            pending.waiting -= 1
            pending.innermost = None
            if pending.waiting <= 0:
                self._pending.pop(key, None)
        if task:
            self._expect_task(line, task)
        if line.at.line - self._harmless.pop(key, -_HARMLESS_WITHIN) < _HARMLESS_WITHIN:
            return (_harmless(event),)
        return (event,)

    def _expect_task(self, line: LogLine, task: re.Match[str]) -> None:
        """Ray prints the frames of a failed task below its name, and then the task's own exception."""
        pending = self._begin(line.origin)
        pending.origin = _of_task(line.origin, task)
        pending.last_line = line.at.line

    def _chain(self, line: LogLine) -> tuple[Event, ...]:
        """The sentence between two chained tracebacks: the first is over, whether its exception was printed or not."""
        if (pending := self._pending.get(line.origin)) and pending.waiting == 1:
            del self._pending[line.origin]
        make_room(self._chained, line.origin, self._limit)
        self._chained[line.origin] = self._chained.get(line.origin, 0) + 1
        return ()

    def _throw(self, key: Origin, name: str) -> None:
        make_room(self._thrown, key, self._limit)
        self._thrown.setdefault(key, deque(maxlen=self._limit)).append(name)

    def _what(self, line: LogLine) -> tuple[Event, ...]:
        """`what():` gives the text of the C++ exception thrown before it; of several, of the first still without."""
        thrown = self._thrown.get(line.origin)
        name = "std::exception"
        if thrown:
            name = thrown.popleft()
            if not thrown:
                del self._thrown[line.origin]
        return (exception(line, name, line.text.partition("what():")[2].strip()),)


def _harmless(event: Event) -> Event:
    """An exception of which Python itself says that it ignores it."""
    return PythonWarning(
        at=event.at,
        origin=event.origin,
        when=event.when,
        message=event.message,
        repeated=event.repeated,
        warning="exception ignored",
    )


def _of_task(origin: Origin, task: re.Match[str]) -> Origin:
    return replace(origin, pid=int(task["pid"]), address=task["ip"] or origin.address)


def _names_a_process(origin: Origin) -> bool:
    """Do the prefixes tell one process, in which a new traceback means that the last one's end is lost?"""
    return any(part is not None for part in (origin.rank, origin.local_rank, origin.task, origin.pid, origin.actor))


def make_room(table: dict[Origin, Any], key: Origin, limit: int) -> None:
    """Give up the oldest entry where the table is full and `key` is not in it."""
    if len(table) >= limit and key not in table:
        del table[next(iter(table))]


def _frame(text: str, pending: bool) -> Frame | None:
    """The frame a line tells; inside of a traceback also behind another rank's text, where two writes ran together."""
    if 'File "' in text:
        if not pending and not text.lstrip(" \t>|").startswith('File "'):
            return None
        found = _FRAME.search(text)
    elif pending and text[:1] == "\u2502":
        found = _BOXED_FRAME.match(text)
    else:
        return None
    return Frame(found["file"], int(found["line"]), (found["function"] or "").strip() or None) if found else None


def _is_name(found: re.Match[str], line: LogLine, pending: _Pending | None) -> bool:
    """Is this the name of an exception's class? Below its traceback any class's; alone only one that says so."""
    last, path = found["last"], found["path"]
    if _ALONE.match(last) and (last not in _NO_NAMES or path or (pending and pending.frames.last)):
        return True
    if pending is None or not pending.frames.last or last in _HEADINGS:
        return False
    if line.origin is NOBODY and line.at.line - pending.last_line > 6:
        return False
    camel = last[0].isupper() and not last.isupper()
    return camel or bool(path and found["text"] is not None)
