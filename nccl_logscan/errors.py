"""Every error the program raises on purpose.

    LogscanError            what happened; .hint says what to do next
    ├── UsageError          the command line asks for what cannot be                   exit 2
    ├── InputError          no such file, unreadable, nothing in it to judge           exit 3
    ├── RulebookError       .problems: every Problem of every rule file                exit 4
    └── OutputError         the report could not be written                            exit 5

Anything else that escapes is a defect of ours and ends the run with exit code 70.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from nccl_logscan.records import dataclass


class LogscanError(Exception):
    """What happened, in one line a person can read; `hint` says what to do next."""

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        if hint is not None:
            self.add_note(f"help: {hint}")  # a traceback, as a notebook shows it, says what to do as well


class UsageError(LogscanError):
    """The command line asks for what cannot be, as far as no parser of command lines can tell."""

    exit_code = 2


class InputError(LogscanError):
    """An input is missing, unreadable, or holds nothing to judge."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file that people write: where it stands and what is wrong.

    `line` and `column` count from 1. `source_line` is the line's text, `width` how many columns to
    mark under it.
    """

    file: str
    line: int
    column: int
    message: str
    source_line: str | None = None
    width: int = 1

    def render(self) -> str:
        """Return `file:line:column: message`, with the line and a marker where it is known."""
        head = f"{self.file}:{self.line}:{self.column}: {self.message}"
        if self.source_line is None:
            return head
        marker = " " * (self.column - 1) + "^" * max(1, self.width)
        return f"{head}\n{self.line:5d} | {self.source_line}\n      | {marker}"


class RulebookError(LogscanError):
    """Rule files have mistakes; `problems` holds all of them, in file order."""

    exit_code = 4

    def __init__(self, problems: Sequence[Problem]) -> None:
        count = len(problems)
        super().__init__(f"{count} mistake{'s' if count != 1 else ''} in the rules")
        self.problems = tuple(problems)
        for problem in self.problems:
            self.add_note(problem.render())


class OutputError(LogscanError):
    """A report could not be written; an earlier one in its place is untouched."""

    exit_code = 5
