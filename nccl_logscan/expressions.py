"""Regular expressions that are compiled when they are first used.

A log calls for a tenth of the expressions that the program knows, and to compile one takes a fifth of a millisecond:
compiled with their modules they would cost a small scan more than all that it does.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

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
        compiled = re.compile(self.pattern, self.given_flags)
        vars(self).update({known: getattr(compiled, known) for known in (*_METHODS, *_FACTS)})
        self.__class__ = _Compiled  # type: ignore[assignment] # a class without __getattr__ is looked up faster
        return getattr(self, name)
