"""Where a file uses variables, beside setting them: `$NAME`, os.environ["NAME"]."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Config
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span

_USE = deferred(
    rb"\$\{?([A-Za-z_][A-Za-z0-9_]*)"
    rb"|\bgetenv\([\"']([A-Za-z_][A-Za-z0-9_]*)[\"']"
    rb"|\benviron(?:\.get\(|\.pop\(|\[)[\"']([A-Za-z_][A-Za-z0-9_]*)[\"'](?!\]\s{0,20}=[^=])"
)
_TELLS = deferred(rb"[ \t]*(?:#.*|(?:echo|printf|logger|log|info|print)\b[^;&|]*)")
_LINE = 2000


def used_in(config: Config) -> frozenset[str]:
    """Return the variables that a file uses elsewhere than where it sets or prints them."""
    own: dict[str, list[Span]] = {}
    for placed in config.settings:
        if placed.kind is Kind.ENV:
            own.setdefault(placed.name, []).append(placed.span)
    found = ((next(filter(None, use.groups())).decode(), use.start()) for use in _USE.finditer(config.data))
    return frozenset(
        name for name, at in found if not _is_inside(at, own.get(name, ())) and not _is_told(config.data, at)
    )


def _is_told(data: bytes, at: int) -> bool:
    """Whether the byte stands in a command that only prints, or in a comment."""
    start = data.rfind(b"\n", max(0, at - _LINE), at) + 1
    return _TELLS.fullmatch(data, start, at) is not None


def _is_inside(at: int, spans: Sequence[Span]) -> bool:
    """Whether one of the spans, which are in the file's order, holds the byte."""
    before = bisect_right(spans, at, key=lambda span: span.start)
    return before > 0 and at < spans[before - 1].end
