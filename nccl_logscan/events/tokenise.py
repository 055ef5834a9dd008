"""LogLine to Event: asks each dialect in turn. What none knows is LogText.

A line is asked about in this order: NCCL and PyTorch's C++ log, whose heads cannot be mistaken and which write into the
middle of other programs' output; then outputs of tools, whose headings open a table; then tracebacks, which hold text
of any kind; then all others.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from nccl_logscan.events.dialects import (
    c10,
    cuda,
    horovod,
    jax,
    kernel,
    kubernetes,
    loss_scaler,
    mpi,
    nccl,
    nccl_plugin,
    process,
    python_traceback,
    ray,
    slurm,
    tool_output,
    torch_elastic,
    torch_process_group,
    torch_store,
    training,
)
from nccl_logscan.events.model import Event, LogText, NcclLastError, PythonException, TorchDesync, told_by
from nccl_logscan.lines.model import LogLine
from nccl_logscan.lines.stamps import NO_YEAR
from nccl_logscan.position import Origin
from nccl_logscan.records import replace

Reader = Callable[[LogLine], Event | None]

_C10: tuple[Reader, ...] = (torch_process_group.read, torch_store.read, c10.read)
_DIALECTS: tuple[Reader, ...] = (
    # Before training: a line that tells of a skipped step may hold a step and a loss as well.
    loss_scaler.read,
    training.read,
    torch_elastic.read,
    torch_process_group.read_headless,
    torch_store.read_headless,
    mpi.read,
    kernel.read,
    slurm.read,
    kubernetes.read,
    horovod.read,
    ray.read,
    cuda.read,
    process.read,
    jax.read,
    python_traceback.read,
    nccl.read,
    nccl_plugin.read,
)
_LAST_ERROR = ("Last error:", "NCCL Last Error:", "Last NCCL warning(error) log entry (may be unrelated)")
_LAST_ERROR_WITHIN = 8
"""Lines: others may come between, of ranks that no prefix tells apart."""
# Two lines that differ in their digits alone are both known to the dialects or both not.
_DIGITS = "".join("0" if chr(code).isdecimal() else chr(code) for code in range(128))
_LINES_OF_A_TABLE = 2048
_LINES_OF_A_BLOCK = 96
_LONGEST_SHAPE = 500
_MOST_SHAPES = 4096
_BLOCK_HEADS = ("Root Cause", "Failures:", "Other Failures:")


class Tokeniser:
    """Turns the lines of one source into events, in order; make one for each source.

    What it remembers between lines is bounded: `limit` tracebacks, failure blocks and the like, told apart by the
    origin that prefixes give a line.
    """

    def __init__(self, *, limit: int = 64) -> None:
        self._limit = limit
        self._tracebacks = python_traceback.Tracebacks(limit=limit)
        self._blocks: dict[Origin, torch_elastic.FailureBlock] = {}
        self._awaiting_last_error: dict[Origin, int] = {}
        self._desync_sequence: dict[Origin, int | None] = {}
        self._tools = tool_output.ToolOutput(limit)
        self._dated: datetime | None = None
        self._unknown_shapes: set[tuple[str, str | None, tuple[str, ...], str | None]] = set()

    def twin(self) -> Tokeniser:
        """Return a tokeniser that remembers no line; which shapes of lines no dialect knows, both learn."""
        twin = Tokeniser(limit=self._limit)
        twin._unknown_shapes = self._unknown_shapes
        return twin

    @property
    def reach(self) -> int:
        """How many lines that follow may belong to those that were read, most of all; 0: none."""
        if self._tools.is_open or self._blocks:
            return _LINES_OF_A_TABLE
        waits = self._awaiting_last_error or self._desync_sequence
        return _LINES_OF_A_BLOCK if waits or self._tracebacks.is_open else 0

    def read(self, line: LogLine) -> tuple[Event, ...]:
        """Return the events of a line: most often one.

        None for a blank line, for a line of a traceback (its exception is an event) and for a frame of a C++ stack.
        """
        text = line.text
        if not text or text.isspace() or text.startswith("frame #"):
            return ()
        if line.when and line.when.value.year != NO_YEAR:
            self._dated = line.when.value
        if event := self._of_a_head(line):
            return (event,)
        if (facts := self._tools.read(line)) is not None:
            return facts
        block = self._block(line)
        events = self._tracebacks.read(line, block.worker if block else None)
        if events is None:
            exit_ = self._exit(block, line) if block else None
            events = (exit_ or self._placed(self._event(line)),)
        elif events and type(events[0]) is PythonException:
            events = (_given_up(line) or events[0],)
        if "ast error:" in text or "Last Error:" in text or "Last NCCL warning" in text:
            return self._with_last_error(line, events)
        return events

    def _of_a_head(self, line: LogLine) -> Event | None:
        """What a head that cannot be mistaken says a line is, or the line above it that announced it."""
        text = line.text
        if ("pp:" in text or ".h:" in text) and c10.peel(line) and (event := _first(_C10, line)):
            return self._in_its_year(self._placed(event))
        if "NCCL" in text and (event := nccl.read(line)):
            return event
        return self._last_error(line) if self._awaiting_last_error else None

    @property
    def holds(self) -> bool:
        """Whether `finish` would return something."""
        return self._tracebacks.is_cut_off

    def finish(self) -> tuple[Event, ...]:
        """Return what the end of the source leaves: an exception named TracebackCutOff for a traceback cut off."""
        return self._tracebacks.finish()

    def _event(self, line: LogLine) -> Event:
        """Ask the dialects, once for each shape of line that none of them knows: most lines of a log are of few."""
        if len(line.text) > _LONGEST_SHAPE:
            return _first(_DIALECTS, line) or _text(line)
        shape = (line.text.translate(_DIGITS), line.origin.actor, line.prefixes, line.level)
        if shape in self._unknown_shapes:
            return _text(line)
        if event := _first(_DIALECTS, line):
            return event
        if len(self._unknown_shapes) >= _MOST_SHAPES:
            self._unknown_shapes.clear()
        self._unknown_shapes.add(shape)
        return _text(line)

    def _block(self, line: LogLine) -> torch_elastic.FailureBlock | None:
        """The failure block of torchrun that the line stands in or opens."""
        if line.text.startswith(_BLOCK_HEADS):
            python_traceback.make_room(self._blocks, line.origin, self._limit)
            self._blocks.setdefault(line.origin, torch_elastic.FailureBlock())
        elif not self._blocks:
            return None
        return self._blocks.get(line.origin)

    def _exit(self, block: torch_elastic.FailureBlock, line: LogLine) -> Event | None:
        event = block.read(line)
        if not block.is_open:
            del self._blocks[line.origin]
        return event

    def _with_last_error(self, line: LogLine, events: tuple[Event, ...]) -> tuple[Event, ...]:
        """PyTorch prints NCCL's last WARN below `Last error:`; loggers that fold lines put it behind."""
        for mark in _LAST_ERROR:
            before, found, told = line.text.partition(mark)
            if not found:
                continue
            told = told.strip().removeprefix("\\n").strip(" '.")
            if told and (not before.strip() or "nccl" in before.lower()):
                last = _nccl_last_error(line, told)
                return (*events, last) if before.strip() else (last,)
            if not told and not before.strip():
                python_traceback.make_room(self._awaiting_last_error, line.origin, self._limit)
                self._awaiting_last_error[line.origin] = line.at.line
                return ()
        return events

    def _last_error(self, line: LogLine) -> Event | None:
        """The line below `Last error:`, unless NCCL had none and something else follows."""
        asked = self._awaiting_last_error.pop(line.origin, None)
        if asked is None or line.at.line - asked > _LAST_ERROR_WITHIN:
            return None
        text = line.text.strip()
        if text.startswith(("Exception raised from", "Traceback", 'File "', *_LAST_ERROR)):
            return None
        if python_traceback.read(line) is not None:
            return None
        return _nccl_last_error(line, text)

    def _in_its_year(self, event: Event) -> Event:
        """Give the stamp of a C++ log line, which has no year, that of the last dated line before it."""
        when, dated = event.when, self._dated
        if when is None or dated is None or when.value.year != NO_YEAR:
            return event
        turn = {(12, 1): 1, (1, 12): -1}.get((dated.month, when.value.month), 0)
        try:
            value = when.value.replace(year=dated.year + turn)
        except ValueError:
            return event
        return replace(event, when=replace(when, value=value))

    def _placed(self, event: Event) -> Event:
        """Give a line of a desync report the sequence number of the heading above it."""
        if type(event) is not TorchDesync or event.state not in ("started", "finished"):
            return event
        if not event.ranks:
            python_traceback.make_room(self._desync_sequence, event.origin, self._limit)
            self._desync_sequence[event.origin] = event.sequence
        elif event.sequence is None and event.origin in self._desync_sequence:
            return replace(event, sequence=self._desync_sequence[event.origin])
        return event


def _first(readers: tuple[Reader, ...], line: LogLine) -> Event | None:
    for read in readers:
        if event := read(line):
            return event
    return None


def _given_up(line: LogLine) -> Event | None:
    """An exception with which a loss scaler gives up is the scaler's event."""
    scale = loss_scaler.read(line)
    return scale if scale and scale.gave_up else None


def _nccl_last_error(line: LogLine, told: str) -> NcclLastError:
    return NcclLastError(**told_by(line, told))


def _text(line: LogLine) -> LogText:
    return LogText(**told_by(line))
