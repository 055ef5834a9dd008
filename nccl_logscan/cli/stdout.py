"""Standard output that may be closed or full."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from nccl_logscan.errors import OutputError

if TYPE_CHECKING:
    from nccl_logscan.report.links import Placed


@contextmanager
def printing() -> Iterator[None]:
    """Print in here: a reader that has gone (`| head -1`) is no error, a full disk is an OutputError."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _discard_the_rest()
    except OSError as error:
        _discard_the_rest()
        reason = (error.strerror or str(error)).lower()
        raise OutputError(
            f"cannot write to {error.filename or 'standard output'}: {reason}", hint="choose another place for it"
        ) from error


def placed_on(stream: TextIO | None) -> Placed | None:
    """Return what gives places their addresses; None where the stream is no terminal that takes hyperlinks."""
    if stream is None or not stream.isatty():
        return None
    from nccl_logscan.report.links import placed_for  # noqa: PLC0415 - a pipe needs none

    return placed_for(os.environ)


def _discard_the_rest() -> None:
    """Point standard output elsewhere: what is still buffered is flushed once more when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
