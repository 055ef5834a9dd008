"""Compiled expressions, and methods of records, kept from run to run where Python keeps the bytecode.

To compile the hundred expressions that a small log calls for takes longer than to read the log; to load what they were
compiled to takes a hundredth of that; so with the methods of its records. What is kept belongs to one interpreter and
one build of `regex`: any other finds nothing, and compiles. Nothing is written where Python may not write bytecode
(`-B`, PYTHONDONTWRITEBYTECODE), and PYTHONPYCACHEPREFIX moves it as it moves the bytecode. Like that, it is trusted as
the program's own files are.
"""

from __future__ import annotations

import marshal
import os
import sys
from contextlib import suppress
from functools import cache
from types import CodeType
from typing import Any

_MOST = 4_096
"""Expressions that are kept at most: more than the program has, so that only those of changing rules of a site go."""

_entries: dict[Any, Any] = {}
_loaded = False
_has_grown = False


def recall(key: tuple[Any, ...]) -> Any:
    """Return what was kept under a key, or None."""
    global _loaded  # noqa: PLW0603 - once in a run
    if not _loaded:
        _loaded = True
        _entries.update(_read())
    return _entries.get(key)


def keep(key: tuple[Any, ...], value: Any) -> None:
    """Have a value of plain types kept when `save` is called."""
    global _has_grown  # noqa: PLW0603 - so that most runs write nothing
    if len(_entries) >= _MOST:
        _entries.clear()
    _entries[key] = value
    _has_grown = True


def code_of(text: str) -> CodeType:
    """Return Python's code of a text of the program's own, as an earlier run compiled it, or compile it."""
    known = recall(("code", text))
    if known is not None:
        code: CodeType = marshal.loads(known)  # noqa: S302 - trusted as bytecode is
        return code
    code = compile(text, "<record>", "exec")
    keep(("code", text), marshal.dumps(code))
    return code


def save() -> None:
    """Write what is new for the next run; where that cannot be, nothing happens."""
    path = place()
    if not _has_grown or path is None or sys.dont_write_bytecode:
        return
    part = f"{path}.{os.getpid()}"
    with suppress(OSError, ValueError):
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - pathlib is no faster
        try:
            with open(part, "xb") as file:  # noqa: PTH123
                file.write(marshal.dumps((_stamp(), _entries)))
            os.replace(part, path)  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(part)  # noqa: PTH108
            raise


def place() -> str | None:
    """Return the file in which expressions are kept: beside this module's bytecode."""
    bytecode = __spec__.cached if __spec__ else None
    return f"{bytecode.removesuffix('.pyc')}.expressions" if bytecode else None


def _read() -> dict[Any, Any]:
    path = place()
    if path is None:
        return {}
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            stamp, entries = marshal.loads(file.read())  # noqa: S302 - trusted as bytecode is
    except (OSError, ValueError, EOFError, TypeError):
        return {}
    return entries if stamp == _stamp() and isinstance(entries, dict) else {}


@cache
def _stamp() -> tuple[Any, ...]:
    """What the kept forms are good for: this interpreter, and this build of `regex`."""
    from importlib.machinery import PathFinder  # noqa: PLC0415 - of what Python has loaded anyway

    found = PathFinder.find_spec("regex")
    folder = os.stat(os.path.dirname(found.origin)) if found and found.origin else None  # noqa: PTH116, PTH120
    return (sys.version, (folder.st_mtime_ns, found.origin) if folder and found else None)
