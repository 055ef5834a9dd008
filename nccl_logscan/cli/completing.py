"""The words that may come next on a command line, for a shell that asks."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

_MOST = 200
"""More than a shell lists without asking back."""


def files(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Leave it to the shell, which completes files."""
    return [CompletionItem(begun, type="file")]


def rules(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the ids of the built-in rules."""
    from nccl_logscan.rulebook.load import builtin_rulebook  # noqa: PLC0415 - files are asked for more often

    return _beginning(begun, sorted(builtin_rulebook().rules))


def names(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the variables, settings, concepts, codes and rules that can be explained; none before a letter."""
    if not begun:
        return []
    from nccl_logscan.catalogue.load import catalogue  # noqa: PLC0415 - as above
    from nccl_logscan.explain.find import known_names  # noqa: PLC0415
    from nccl_logscan.rulebook.load import builtin_rulebook  # noqa: PLC0415

    return _beginning(begun, known_names(catalogue(), builtin_rulebook()))


def kinds(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Return the kinds of events and their families."""
    from nccl_logscan.event_table.kinds import families  # noqa: PLC0415 - as above
    from nccl_logscan.events.model import EVENT_TYPES  # noqa: PLC0415

    return _beginning(begun, sorted({*EVENT_TYPES, *families()}))


def _beginning(begun: str, words: Iterable[str]) -> list[CompletionItem]:
    """Return the words that begin so, in any case, without those that a shell would take apart."""
    folded = begun.casefold()
    fitting = (word for word in words if word.casefold().startswith(folded) and word.isprintable() and " " not in word)
    return [CompletionItem(word) for word, _ in zip(fitting, range(_MOST), strict=False)]
