"""Regular expressions that are compiled when they are first used.

A log calls for a tenth of the expressions that the program knows, and to compile one takes a fifth of a millisecond:
compiled with their modules they would cost a small scan more than all that it does.
"""

from __future__ import annotations

import re
import sys
from array import array
from re import _compiler, _parser  # type: ignore[attr-defined] # typeshed has neither; both are in 3.11 to 3.14
from typing import Any, AnyStr, cast

from nccl_logscan.kept import keep, recall

_MISMATCHES = sys.version_info < (3, 11, 5)
"""Until then `re` gives back the last character that `(?:...)*+` took, as it must not (python/cpython#106052)."""
_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[0-9,]{1,9}\})\+")
_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")
_FACTS = ("flags", "groups", "groupindex")


def deferred(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what `re.compile` returns, in all but its type; what is wrong with `pattern` is raised when it is used."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(pattern, int(flags)))


def flags_of(expression: re.Pattern[str]) -> int:
    """Return the flags that an expression was made with, for which a deferred one need not be compiled."""
    given = getattr(expression, "given_flags", None)
    return int(expression.flags & ~re.UNICODE if given is None else given)


class _Compiled:
    """Has the methods of a `re.Pattern` as its own attributes, which are found as fast as the originals."""

    pattern: str | bytes
    given_flags: int

    def __repr__(self) -> str:
        return f"deferred({self.pattern!r}, {self.given_flags})"


class _Uncompiled(_Compiled):
    """Becomes `_Compiled` when it is first asked for anything but its text."""

    def __init__(self, pattern: str | bytes, given_flags: int) -> None:
        self.pattern = pattern
        self.given_flags = given_flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS and name not in _FACTS:
            raise AttributeError(f"an expression has no attribute {name!r}")
        compiled = _compiled(self.pattern, self.given_flags)
        vars(self).update({known: getattr(compiled, known) for known in (*_METHODS, *_FACTS)})
        self.__class__ = _Compiled  # type: ignore[assignment] # a class without __getattr__ is looked up faster
        return getattr(self, name)


def _compiled(pattern: str | bytes, flags: int) -> re.Pattern[Any]:
    """Return an expression as an earlier run compiled it, or compile it."""
    if _MISMATCHES and _holds_possessive_group(pattern):
        return _by_regex(pattern, flags)
    key = (pattern, flags)
    known = recall(key)
    if known is not None:
        meant, code, groups, numbers, names = known
        words = array("I")
        words.frombytes(code)
        made: re.Pattern[Any] = _compiler._sre.compile(pattern, meant, words.tolist(), groups, numbers, names)
        return made
    form = _form_of(pattern, flags)
    if form is None:
        return re.compile(pattern, flags)
    keep(key, form)
    return _compiled(pattern, flags)


def _holds_possessive_group(pattern: str | bytes) -> bool:
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    return _POSSESSIVE_GROUP.search(text) is not None


def _by_regex(pattern: str | bytes, flags: int) -> re.Pattern[Any]:
    """Compile an expression by the library `regex`, whose flags are those of `re` but for one."""
    import regex  # noqa: PLC0415 - for those Pythons alone

    meant = flags & ~int(re.ASCII) | (int(regex.ASCII) if flags & re.ASCII else 0)
    return cast("re.Pattern[Any]", regex.compile(pattern, meant))


def _form_of(pattern: str | bytes, flags: int) -> tuple[Any, ...] | None:
    """Return what `re.compile` makes of an expression before it makes the expression's object of it.

    None where this Python's `re` is not made like that of 3.11 to 3.14.
    """
    try:
        parsed = _parser.parse(pattern, flags)
        state = parsed.state
        code = _compiler._code(parsed, flags)
        names: list[str | None] = [None] * state.groups
        for name, number in state.groupdict.items():
            names[number] = name
        words = array("I", code)
        return int(flags | state.flags), words.tobytes(), state.groups - 1, state.groupdict, tuple(names)
    except (AttributeError, OverflowError, TypeError):
        return None
