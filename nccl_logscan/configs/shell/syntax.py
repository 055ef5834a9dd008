"""Shell and batch scripts."""

from __future__ import annotations

import re

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config, Placed
from nccl_logscan.configs.syntax import path_of
from nccl_logscan.expressions import deferred

_SUFFIXES = frozenset(
    {
        ".sh",
        ".bash",
        ".zsh",
        ".ksh",
        ".slurm",
        ".sbatch",
        ".sub",
        ".job",
        ".pbs",
        ".lsf",
        ".batch",
        ".bashrc",
        ".profile",
    }
)
_TEXTS = frozenset(
    {
        ".md",
        ".rst",
        ".html",
        ".log",
        ".out",
        ".err",
        ".ipynb",
        ".c",
        ".cc",
        ".cpp",
        ".h",
        ".cu",
        ".diff",
        ".patch",
        ".csv",
    }
)
"""Files that may show commands and are no scripts."""

_SCRIPT = deferred(
    rb"""\#![^\n]*(?:sh|\bsrun)\b
    | (?:[^\n]*\n)*?(?:\#(?:SBATCH|PBS|BSUB)\s+-
        | [ \t]*+(?:export[ \t]++[A-Za-z_]\w*+=
            | (?:[A-Za-z_]\w*+=\S*+[ \t]++)*+(?:torchrun|mpirun|mpiexec|srun|sbatch|deepspeed|accelerate[ ]launch
                |ray[ ](?:start|job)|docker[ ]run|python3?|horovodrun)[ \t]))""",
    re.VERBOSE,
)


class Shell:
    """The syntax of POSIX shells and bash."""

    name = "shell"

    def claims(self, name: str, head: bytes) -> bool:
        """Return whether it is called as a script is, or begins with the lines of one."""
        file = path_of(name).name
        suffix = path_of(name).suffix or file
        if suffix in _SUFFIXES:
            return True
        return suffix.lower() not in _TEXTS and bool(_SCRIPT.match(head))

    def read(self, name: str, data: bytes) -> Config:
        """Return the script's settings and launches, those of the scripts within it too."""
        from nccl_logscan.configs.shell.reading import read_script  # noqa: PLC0415 - only where a script is read

        return read_script(name, data)

    def change(self, config: Config, placed: Placed, value: str) -> Edit | None:
        """Return the edit that gives a setting another value, quoted as it is; None where none is sure to be right."""
        from nccl_logscan.configs.shell.edits import changed  # noqa: PLC0415 - as above

        return changed(config, placed, value)

    def remove(self, config: Config, placed: Placed) -> Edit | None:
        """Return the edit that takes a setting out, with its line where it has one of its own."""
        from nccl_logscan.configs.shell.edits import removed  # noqa: PLC0415 - as above

        return removed(config, placed)

    def add(self, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
        """Return the edit that makes a setting where the job's processes get it: an export before the launch, -x of
        mpirun, -e of docker, an override of Hydra, a directive of Slurm, a flag behind the others.
        """
        from nccl_logscan.configs.shell.additions import added  # noqa: PLC0415 - as above

        return added(config, kind, name, value)
