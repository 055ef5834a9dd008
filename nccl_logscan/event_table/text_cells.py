"""Texts of a log as cells: secrets taken out, length bounded, encodable."""

from __future__ import annotations

from functools import lru_cache

from nccl_logscan.report.redact import REDACTED, redact, redact_value
from nccl_logscan.sources import CUT_MARK

TEXT_LIMIT = 32_000
"""Characters of a cell; a spreadsheet takes 32,767 at most."""
_HALF = (TEXT_LIMIT - len(CUT_MARK)) // 2
_SHORT = 256


def cell(text: str) -> str:
    """Return a text of a log as it goes into the table.

    Of one that is longer than `TEXT_LIMIT` the beginning and the end remain. Secrets go before it is cut, so that no
    half of one is left.
    """
    return _short_cell(text) if len(text) < _SHORT else _bounded(redact(text))


@lru_cache(maxsize=8192)
def _short_cell(text: str) -> str:
    return redact(text)


def _bounded(text: str) -> str:
    return text if len(text) <= TEXT_LIMIT else text[:_HALF] + CUT_MARK + text[-_HALF:]


def named_cells(name: str, value: str, message: str) -> tuple[str, str]:
    """Return a named value and the message that tells it, without the value where its name says that it is a secret."""
    shown = redact_value(name, value)
    if shown == REDACTED and value:
        message = message.replace(value, REDACTED)
    return cell(shown), cell(message)


def encodable(text: str) -> str:
    """Return a text with halves of surrogate pairs, which JSON in a log may hold, replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
