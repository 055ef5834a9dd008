"""Places of files as hyperlinks that a terminal opens (OSC 8), where it is known to take them.

The sequence, and why a file's address names its host: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from nccl_logscan.expressions import deferred

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
"""What stands for itself in any part of an address (RFC 3986, 2.3): no byte of these ends or begins a sequence."""
_NUMBER = deferred(r"\d{1,9}", re.ASCII)

_PROGRAMS = {
    "iTerm.app": (3, 1),
    "WezTerm": (20200620,),
    "vscode": (1, 72),
    "ghostty": (),
    "zed": (),
    "mintty": (3, 1),
    "tmux": (3, 4),
}
"""Terminals by TERM_PROGRAM, with the TERM_PROGRAM_VERSION that first knew hyperlinks."""
_KINDS = frozenset({"xterm-kitty", "alacritty", "xterm-ghostty", "foot", "foot-extra", "contour"})
"""Terminals by TERM."""
_VTE = 5001
"""VTE 0.50.1 (GNOME Terminal and its like); 0.50.0 crashes on a hyperlink."""
_KONSOLE = 201200
_MULTIPLEXERS = ("screen", "tmux")


class Placed(Protocol):
    """Gives the address of a file by the name that a report has for it."""

    def __call__(self, name: str, line: int | None = None) -> str | None:
        """Return the address; None where no such file is there (an archive's member, standard input)."""


def takes_links(environment: Mapping[str, str]) -> bool:
    """Tell whether the terminal that these variables describe shows hyperlinks.

    No terminal can be asked. The names and versions are those of https://github.com/Alhadis/OSC8-Adoption and of npm's
    supports-hyperlinks; `FORCE_HYPERLINK` (0: never) is the latter's, too. One that is not known gets none: old ones
    print the sequence. A multiplexer comes first: the variables of the terminal around it are still set inside.
    """
    kind = environment.get("TERM", "")
    if "FORCE_HYPERLINK" in environment:
        return environment["FORCE_HYPERLINK"] not in {"0", "false"}
    if kind in {"", "dumb"} or "CI" in environment:
        return False
    if "TMUX" in environment or "STY" in environment or kind.startswith(_MULTIPLEXERS):
        return environment.get("TERM_PROGRAM") == "tmux" and _is_new_enough(environment)
    if "TERM_PROGRAM" in environment:
        return _is_new_enough(environment)
    return (
        kind in _KINDS
        or _number(environment, "VTE_VERSION") >= _VTE
        or _number(environment, "KONSOLE_VERSION") >= _KONSOLE
        or not environment.keys().isdisjoint({"WT_SESSION", "KITTY_WINDOW_ID"})
    )


def placed_for(environment: Mapping[str, str]) -> Placed | None:
    """Return what gives addresses for this terminal; None where it takes no hyperlinks."""
    if not takes_links(environment):
        return None
    tells_lines = environment.get("TERM") == "xterm-kitty"

    def placed(name: str, line: int | None = None) -> str | None:
        return _address(name, line if tells_lines else None)

    return placed


def linked(shown: str, address: str | None) -> str:
    """Return a text that leads to the address; `shown` is what the terminal prints, already made visible."""
    return f"\x1b]8;;{address}\x1b\\{shown}\x1b]8;;\x1b\\" if address else shown


def _address(name: str, line: int | None) -> str | None:
    """Return `file://host/path`; with the line as kitty reads it (`#12`), which other terminals take for the path's."""
    try:
        if not name or not Path(name).exists():
            return None
    except (OSError, ValueError):
        return None
    path = _encoded(os.fsencode(Path(name).absolute()), kept=b"/")
    return f"file://{_encoded(os.uname().nodename.encode())}{path}{f'#{line}' if line else ''}"


def _encoded(text: bytes, kept: bytes = b"") -> str:
    return "".join(chr(byte) if byte in _UNRESERVED or byte in kept else f"%{byte:02X}" for byte in text)


def _is_new_enough(environment: Mapping[str, str]) -> bool:
    first = _PROGRAMS.get(environment["TERM_PROGRAM"])
    version = tuple(map(int, _NUMBER.findall(environment.get("TERM_PROGRAM_VERSION", "")[:64])))
    return first is not None and version >= first


def _number(environment: Mapping[str, str], name: str) -> int:
    found = _NUMBER.fullmatch(environment.get(name, ""))
    return int(found[0]) if found else 0
