"""Made: a setting with the file that makes it, as the checks see it."""

from __future__ import annotations

import re
from functools import lru_cache

from nccl_logscan.catalogue.load import written_form
from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.position import Span
from nccl_logscan.records import dataclass, field

FIX_BUDGET = 256 << 10
"""How many bytes of one file are read again for its fixes."""

SHORT = 256
"""Values of up to so many characters are remembered with what is said of them, since files repeat each other."""


@dataclass(slots=True)
class Budget:
    """How many bytes may still be read again for one file's fixes: a syntax proves each edit by reading the file anew.

    It is spent on the first fixes of a file with very many; those that are left are made when lint is run again.
    """

    left: int

    def allows(self, size: int) -> bool:
        """Return whether a file of this size may be read once more, and count that."""
        allowed = self.left > 0
        self.left -= size
        return allowed


@dataclass(frozen=True, slots=True)
class Made:
    """A setting and the file that makes it; None where a log shows it."""

    placed: Placed
    config: Config | None
    budget: Budget = field(default_factory=lambda: Budget(0), compare=False, repr=False)

    @property
    def written(self) -> bytes:
        """The setting's own bytes; b"" where a log shows it."""
        return self.config.data[self.placed.span.start : self.placed.span.end] if self.config else b""

    @property
    def key(self) -> str:
        """The setting's name as the catalogue writes it: `--ddp_timeout` is --ddp-timeout, `a.f(x=)` is f(x=)."""
        name = self.placed.name
        return name if self.placed.kind is Kind.ENV else _written(name)

    @property
    def is_given(self) -> bool:
        """Whether the setting is made here, not taken away."""
        return self.placed.form is not Form.UNSET and self.placed.mark != "~"


_written = lru_cache(16_384)(written_form)


@lru_cache(1024)
def _as_word(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![A-Za-z0-9_])" + re.escape(name.encode()) + rb"(?![A-Za-z0-9_])")


def name_span(made: Made) -> Span | None:
    """Return where the setting's name is written; None where it is not written in one piece (a key of nested keys)."""
    if made.config is None:
        return None
    found = _as_word(made.placed.name).search(made.written)
    return Span(made.placed.span.start + found.start(), made.placed.span.start + found.end()) if found else None
