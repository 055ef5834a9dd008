"""The `{names}` in a rule's summary and commands that are filled in from the log, in the manner of `str.format`."""

from __future__ import annotations

import string

ALWAYS_KNOWN = frozenset({"rank", "host", "pid", "device", "adapter", "peer", "process_group", "count"})
"""Names that the scan itself fills in, whatever the rule captured."""


def placeholders(text: str) -> tuple[str, ...]:
    """Return the names in a text that `braces_fault` passed, in order of appearance, each once."""
    return tuple(dict.fromkeys(name for _, name, _, _ in string.Formatter().parse(text) if name is not None))


def braces_fault(text: str) -> tuple[str, int | None] | None:
    """Return what is wrong with the braces of a text, and at which character; None if it can be filled in.

    Only `{name}` is a placeholder: `str.format` would take `{name:>999999999}` at its word.
    """
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError:
        return "has a brace without its partner; {{ and }} stand for braces", None
    for _, name, layout, conversion in parts:
        if name is not None and (layout or conversion or not name.isidentifier()):
            return f"'{{{name}}}' is no placeholder; {{{{ and }}}} stand for braces", text.find(f"{{{name}")
    return None
