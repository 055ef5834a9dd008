"""Sources without a line, which say why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nccl_logscan.sources.ends import EarlyEnd
from nccl_logscan.sources.kind import Kind
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.source import Source, raising


def passed_over(name: str, why: str, limits: Limits) -> Source:
    """Return a source that gives nothing; `why` is its note, as a clause that follows its name."""

    def blocks(took: Callable[[int], None]) -> Iterator[bytes]:  # noqa: ARG001 - takes nothing from the disk
        yield from raising([EarlyEnd(why)])

    return Source(name, blocks, limits=limits, size=None, kind=Kind.TEXT)
