"""Lines that container runtimes packed: JSON objects and CRI records, whose payload may come in parts."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from nccl_logscan.expressions import deferred
from nccl_logscan.lines.stamps import STAMP, from_stamp
from nccl_logscan.position import Position
from nccl_logscan.records import dataclass

_PARTS_LIMIT = 1 << 20
"""Characters that the parts of one line may grow to before it is given up as a line."""

_CRI = deferred(
    r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) (stdout|stderr) ([FP])(?::\S{0,80})?(?: |$)"
)
_STAMP = deferred(STAMP)


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What a container's record held. `name` is None for a line that is no record."""

    at: Position
    text: str
    name: str | None = None
    when: datetime | None = None
    level: str | None = None
    is_complete: bool = True
    stream: str = ""


class Unpacker:
    """Unpacks one source's records and joins the parts of lines, each output stream by itself."""

    def __init__(self) -> None:
        self._parts: dict[str, Unpacked] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether a line has parts to come."""
        return bool(self._parts)

    def unpack(self, at: Position, text: str) -> Unpacked | None:
        """Return the line's payload; None while the line has more parts to come."""
        record = _record(at, text)
        if record.name is None:
            return record
        begun = self._parts.pop(record.stream, None)
        if begun is not None:
            record = Unpacked(
                begun.at,
                begun.text + record.text,
                begun.name,
                begun.when,
                begun.level,
                record.is_complete,
                record.stream,
            )
        if record.is_complete or len(record.text) > _PARTS_LIMIT:
            return record
        self._parts[record.stream] = record
        return None

    def finish(self) -> list[Unpacked]:
        """Return lines whose last part never came."""
        rest = sorted(self._parts.values(), key=lambda record: record.at.line)
        self._parts.clear()
        return rest


def _record(at: Position, text: str) -> Unpacked:
    if text.startswith('{"') and text.endswith("}"):
        return _json_record(at, text) or Unpacked(at, text)
    if text[10:11] == "T" and (match := _CRI.match(text)):
        payload = text[match.end() :]
        return Unpacked(at, payload, "cri", from_stamp(match[1]), None, match[3] == "F", match[2])
    return Unpacked(at, text)


def _json_record(at: Position, text: str) -> Unpacked | None:
    """Read docker's json-file (`log`, `stream`, `time`), or a JSON logger's line (`message` or `msg` with a time)."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    if isinstance(fields.get("message"), dict):
        return _worker_error(at, fields["message"])
    time = next((fields[key] for key in ("time", "timestamp", "ts", "@timestamp", "asctime") if key in fields), None)
    when = from_stamp(time) if isinstance(time, str) and _STAMP.fullmatch(time) else None
    log, stream = fields.get("log"), fields.get("stream")
    if isinstance(log, str):
        is_complete = log.endswith("\n") or not isinstance(stream, str)
        return Unpacked(at, log.rstrip("\r\n"), "docker-json", when, None, is_complete, str(stream))
    message = next((fields[key] for key in ("message", "msg") if isinstance(fields.get(key), str)), None)
    level = next((fields[key] for key in ("level", "severity", "levelname") if isinstance(fields.get(key), str)), None)
    if message is None or (time is None and level is None):
        return None
    return Unpacked(at, message, "json", when, level.upper() if level else None)


def _worker_error(at: Position, error: dict[str, object]) -> Unpacked | None:
    """Read the error.json that torchelastic has a worker write when its program raised (error_handler.py, 1.9 to 2.8):
    the traceback, and when it was, in seconds since 1970.
    """
    message, extra = error.get("message"), error.get("extraInfo")
    if not isinstance(message, str) or not isinstance(extra, dict):
        return None
    stack, stamp = extra.get("py_callstack"), str(extra.get("timestamp"))
    text = stack if isinstance(stack, str) and stack.strip() else message
    seconds = int(stamp) if stamp.isascii() and stamp.isdecimal() and len(stamp) <= 10 else None
    when = datetime.fromtimestamp(seconds, UTC) if seconds is not None else None
    return Unpacked(at, text.rstrip("\n"), "torchelastic-error", when)
