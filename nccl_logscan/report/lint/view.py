"""LintView: what every output of lint shows, redacted, and each remark's line of its file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from nccl_logscan.configs.model import Config
from nccl_logscan.lint.model import Remark, Severity, Versions
from nccl_logscan.position import Span
from nccl_logscan.records import dataclass, field
from nccl_logscan.report.redact import redact, redact_marked, redact_value

_BOM = "\ufeff"
LINE_LIMIT = 160
"""How many characters of a line are shown."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A remark as it is shown. `text` is its line, or what stands around the mark in a long one; `mark` columns of it.

    Columns count characters from 1, a byte order mark not counted; `column16` and `end_column16` count UTF-16 units.
    """

    remark: Remark
    value: str | None
    problem: str
    advice: str
    tells: str | None
    text: str
    mark: Span
    column: int
    end_column: int
    column16: int
    end_column16: int


@dataclass(frozen=True)
class LintView:
    """The files that were read and what is said of them, in that order. `skipped` files hold nothing to speak of.

    `counts_fixes`: fixes were looked for, so that their number says something.
    """

    shown: Sequence[Shown]
    configs: Mapping[str, Config]
    versions: Versions
    skipped: Sequence[str] = field(default_factory=tuple)
    counts_fixes: bool = True

    def count(self, severity: Severity) -> int:
        """Return how many remarks are of this severity."""
        return Counter(shown.remark.severity for shown in self.shown)[severity]

    @property
    def fixable(self) -> int:
        """How many remarks have a fix."""
        return sum(bool(shown.remark.fix) for shown in self.shown)


def lint_view(
    remarks: Sequence[Remark],
    configs: Sequence[Config],
    versions: Versions,
    skipped: Sequence[str] = (),
    *,
    counts_fixes: bool = True,
) -> LintView:
    """Return the view of what lint said of these files."""
    by_name = {config.name: config for config in configs}
    shown = tuple(_shown(remark, by_name.get(remark.at.source)) for remark in remarks)
    return LintView(shown, by_name, versions, tuple(skipped), counts_fixes)


# Remarks on many files say the same.
_without_secrets = lru_cache(4096)(redact)


def _shown(remark: Remark, config: Config | None) -> Shown:
    line = _line(config, remark.at.offset) if config else ""
    shift = 1 if remark.at.line == 1 and line.startswith(_BOM) else 0
    line = line[shift:]
    start = max(0, min(remark.column - 1 - shift, len(line)))
    end = max(start, min(remark.end_column - 1 - shift, len(line)))
    text, mark = _excerpt(line, Span(start, end))
    return Shown(
        remark=remark,
        value=None if remark.value is None else redact_value(remark.name, remark.value),
        problem=_without_secrets(remark.problem),
        advice=_without_secrets(remark.advice),
        tells=_without_secrets(remark.tells) if remark.tells else None,
        text=text,
        mark=mark,
        column=start + 1,
        end_column=end + 1,
        column16=_units(line[:start]) + 1,
        end_column16=_units(line[:end]) + 1,
    )


def _line(config: Config, offset: int) -> str:
    end = config.data.find(b"\n", offset)
    return config.data[offset : end if end >= 0 else None].decode("utf-8", "replace").removesuffix("\r")


def _excerpt(line: str, mark: Span) -> tuple[str, Span]:
    """Return the line without secrets, or what stands around the mark in a long one."""
    if len(line) > 4 * LINE_LIMIT:
        # A secret may begin before what is shown: so much is looked at, and less of it shown.
        first = max(0, mark.start - LINE_LIMIT)
        line, mark = line[first : first + 4 * LINE_LIMIT], Span(mark.start - first, mark.end - first)
    text, moved = redact_marked(line, mark)
    mark = moved or mark
    if len(text) <= LINE_LIMIT:
        return text, Span(mark.start, min(mark.end, len(text)))
    first = max(0, mark.start - LINE_LIMIT // 2)
    before, after = ("…" if first else ""), ("…" if first + LINE_LIMIT < len(text) else "")
    text = before + text[first : first + LINE_LIMIT] + after
    shift = first - len(before)
    return text, Span(mark.start - shift, min(mark.end - shift, len(text)))


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
