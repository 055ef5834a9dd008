"""The files as lint's fixes leave them, and the diff that shows it without a secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nccl_logscan.configs.edit import CONTEXTS, Edit, applied
from nccl_logscan.configs.hunks import diff_of_edits
from nccl_logscan.configs.model import Config
from nccl_logscan.lint.model import Remark
from nccl_logscan.report.redact import holds_no_secret


@dataclass(frozen=True, slots=True)
class Mended:
    """A file with its fixes made. `withheld`: lines of which the diff does not show the change, beside a secret."""

    config: Config
    data: bytes
    diff: bytes
    mended: tuple[Remark, ...]
    withheld: tuple[int, ...] = ()


def mended(config: Config, remarks: Sequence[Remark]) -> Mended | None:
    """Return the file with all fixes of the remarks on it made; None where there is none."""
    own = tuple(remark for remark in remarks if remark.at.source == config.name and remark.fix)
    data = applied(config.data, _edits(own))
    if data == config.data:
        return None
    context, shown = _showable(config, own)
    seen = {id(remark) for remark in shown}
    withheld = sorted({remark.at.line for remark in own if id(remark) not in seen})
    return Mended(config, data, diff_of_edits(config.name, config.data, _edits(shown), context), own, tuple(withheld))


def _edits(remarks: Sequence[Remark]) -> tuple[Edit, ...]:
    return tuple(edit for remark in remarks for edit in remark.fix)


def _showable(config: Config, own: tuple[Remark, ...]) -> tuple[int, tuple[Remark, ...]]:
    """Return how many lines of context show no secret, and the remarks whose fix can be shown with them."""
    texts = config.data.split(b"\n")
    shown = own
    for context in CONTEXTS:
        shown = tuple(remark for remark in own if not _is_beside_a_secret(config, texts, remark, context))
        if len(shown) == len(own):
            return context, own
    return CONTEXTS[-1], shown


def _is_beside_a_secret(config: Config, texts: Sequence[bytes], remark: Remark, context: int) -> bool:
    """Whether a line that the diff would show with the remark's fix holds a secret."""
    for edit in remark.fix:
        first, last = config.lines.line_of(edit.start) - 1 - context, config.lines.line_of(edit.end) + context
        lines = [line.decode("utf-8", "replace") for line in texts[max(0, first) : last]]
        if not all(map(holds_no_secret, lines)):
            return True
    return False
