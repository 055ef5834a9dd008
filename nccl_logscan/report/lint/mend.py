"""The files as lint's fixes leave them, and the diff that shows it without a secret."""

from __future__ import annotations

from collections.abc import Sequence

from nccl_logscan.configs.diff import diff_of_edits
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config
from nccl_logscan.configs.secrets import CONTEXTS, holds_secret
from nccl_logscan.lint.mend import Mending
from nccl_logscan.records import dataclass
from nccl_logscan.report.redact import holds_no_secret
from nccl_logscan.report.visible import acts_on_nothing


@dataclass(frozen=True, slots=True)
class Diff:
    """What a file's fixes change, as `git apply` takes it. `withheld`: lines of which it does not show the change,
    beside a secret or beside what a terminal or a CI runner would obey: a diff is printed as it is.
    """

    text: bytes
    withheld: tuple[int, ...] = ()


def diff_of(mending: Mending, path: str | None = None) -> Diff:
    """Return the diff of a file's fixes; `path` is what the file is called in it, if not by its name."""
    config = mending.config
    context, shown = _showable(config, mending.edits)
    seen = set(shown)
    withheld = sorted({config.lines.line_of(edit.start) for edit in mending.edits if edit not in seen})
    return Diff(diff_of_edits(path or config.name, config.data, shown, context), tuple(withheld))


def _showable(config: Config, edits: Sequence[Edit]) -> tuple[int, tuple[Edit, ...]]:
    """Return how many lines of context can be shown, and the edits that can be shown with them."""
    texts = config.data.split(b"\n")
    groups = _side_by_side(config, edits)
    for context in CONTEXTS:
        shown = [
            group for group in groups if not any(_is_beside_what_is_not_shown(config, texts, e, context) for e in group)
        ]
        if len(shown) == len(groups):
            break
    return context, tuple(edit for group in shown for edit in group)


def _side_by_side(config: Config, edits: Sequence[Edit]) -> list[list[Edit]]:
    """Part the edits into those that are shown together or not at all: on one line or on neighbouring ones."""
    groups: list[list[Edit]] = []
    for edit in edits:
        if groups and config.lines.line_of(edit.start) <= config.lines.line_of(groups[-1][-1].end) + 1:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return groups


def _is_beside_what_is_not_shown(config: Config, texts: Sequence[bytes], edit: Edit, context: int) -> bool:
    """Whether a line that the diff would show with an edit holds a secret, or acts where it is printed."""
    first, last = config.lines.line_of(edit.start) - 1 - context, config.lines.line_of(edit.end) + context
    lines = [line.decode("utf-8", "replace") for line in texts[max(0, first) : last]]
    return not all(map(may_be_printed, lines)) or holds_secret(config, [(first + 1, last)], holds_no_secret)


def may_be_printed(line: str) -> bool:
    """Return whether a line of a file may be printed as it is."""
    return holds_no_secret(line) and acts_on_nothing(line)
