"""The syntax of Python: os.environ, environments given to subprocesses and to Ray, keywords of calls."""

from __future__ import annotations

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config, Placed
from nccl_logscan.configs.syntax import path_of
from nccl_logscan.expressions import deferred

_SHEBANG = deferred(rb"#![^\n]{0,200}python")


class Python:
    """Python, read and never run."""

    name = "python"

    def claims(self, name: str, head: bytes) -> bool:
        """Return whether the name or the first line says Python."""
        return path_of(name.lower()).suffix == ".py" or _SHEBANG.match(head) is not None

    def read(self, name: str, data: bytes) -> Config:
        """Return the variables that are set and the keywords that calls are given."""
        # What parses is imported where it is used.
        from nccl_logscan.configs.python.reading import read_python  # noqa: PLC0415

        return read_python(self.name, name, data)

    def change(self, config: Config, placed: Placed, value: str) -> Edit | None:
        """Return the edit of the literal: a string in its quotes, a number or boolean as such."""
        from nccl_logscan.configs.python.edits import changed  # noqa: PLC0415 - only where something is changed

        return changed(config, placed, value)

    def remove(self, config: Config, placed: Placed) -> Edit | None:
        """Return the edit that takes out the statement with its line, or the keyword or pair with its comma."""
        from nccl_logscan.configs.python.edits import removed  # noqa: PLC0415 - as above

        return removed(config, placed)

    def add(self, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that sets a variable before torch is imported, or gives a call another keyword."""
        from nccl_logscan.configs.python.additions import added  # noqa: PLC0415 - as above

        return added(config, kind, name, value)
