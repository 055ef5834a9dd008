"""Remark: one thing that lint says about one setting."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from nccl_logscan.configs.edit import Edit
from nccl_logscan.position import Position
from nccl_logscan.records import dataclass, field


class Check(StrEnum):
    """What lint looks for; the values are the ids that its output and SARIF use."""

    MISSPELT = "misspelt"
    READ_BY_NOTHING = "read-by-nothing"
    READ_BY_ANOTHER = "read-by-another"
    DEPRECATED = "deprecated"
    REMOVED = "removed"
    NOT_YET = "not-yet"
    BAD_VALUE = "bad-value"
    CONTRADICTION = "contradiction"
    HARMFUL_COPY = "harmful-copy"
    LEFTOVER = "debugging-leftover"
    OUT_OF_REACH = "out-of-reach"
    KEY_IGNORED = "key-ignored"
    KEY_ABORTS = "key-aborts"


class Severity(StrEnum):
    """ERROR: it aborts, is ignored or harms. WARNING: it probably does. NOTE: worth knowing; changes no exit code."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions in use; None or missing where not known: then no remark depends on them."""

    nccl: str | None = None
    torch: str | None = None
    frameworks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Remark:
    """What is wrong with a setting, and what to do. Columns count from 1, `end_column` is exclusive.

    `fix` are edits of the setting's own file that mend it; empty where the right value depends on facts that the file
    lacks: `tells` is then the command that would tell.
    """

    check: Check
    severity: Severity
    name: str
    value: str | None
    at: Position
    column: int
    end_column: int
    problem: str
    advice: str
    source: str
    fix: tuple[Edit, ...] = ()
    tells: str | None = None
