"""Which inputs are skimmed, and by how many threads; a small log needs nothing else of the skim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

from nccl_logscan.records import dataclass, replace
from nccl_logscan.sources.source import Source

if TYPE_CHECKING:
    from nccl_logscan.skim.crew import Crews

LARGE = 1 << 19
"""Bytes of an input, or of all inputs of a job together, from which on not each line is read."""
LEAST = 1 << 15
"""Bytes of an input of a large job from which on it is skimmed: what there is to learn is learnt once for all."""


@dataclass(frozen=True, slots=True)
class Skimming:
    """How large inputs are read: from how many bytes on an input is large (None: none is), by how many threads.

    The number of threads changes nothing but the time; 0: as many as there are cores. Nor do `crews`, who skim inputs
    elsewhere.
    """

    large: int | None = LARGE
    threads: int = 0
    crews: Crews | None = None

    def of_job(self, inputs: Sequence[object]) -> Skimming:
        """Return how the inputs of a job are read: where several are large together, smaller ones are skimmed, too."""
        together = sum(one.size or 0 for one in inputs if isinstance(one, Source))
        if self.large is None or together < self.large or len(inputs) == 1:
            return self
        return replace(self, large=min(self.large, LEAST))


def may_be_large(source: object, skimming: Skimming) -> TypeGuard[Source]:
    """Whether an input may be one to skim, as far as that is known before it is opened."""
    if skimming.large is None or not isinstance(source, Source):
        return False
    if skimming.crews is not None and skimming.crews.skims(source):
        return True
    if source.path is None:  # packed or piped
        return source.size is None or source.size * source.limits.ratio >= skimming.large
    try:
        return source.path.stat().st_size >= skimming.large
    except OSError:
        return False


def is_never_large(source: object) -> bool:
    """Whether an input is read line by line whatever is asked for and whatever else is read."""
    size = getattr(source, "size", None)
    return size is None or size < LEAST
