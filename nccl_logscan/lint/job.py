"""Job: the settings of one job with what is needed to judge them, and the remark about one of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from nccl_logscan.catalogue.load import Catalogue, catalogue, written_form
from nccl_logscan.catalogue.model import Kind, Option
from nccl_logscan.catalogue.versions import lies_between
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.configs.syntax import Syntax
from nccl_logscan.lint.model import Check, Remark, Severity, Versions
from nccl_logscan.position import Span

_USE = re.compile(
    rb"\$\{?([A-Za-z_][A-Za-z0-9_]*)"
    rb"|\bgetenv\([\"']([A-Za-z_][A-Za-z0-9_]*)[\"']"
    rb"|\benviron(?:\.get\(|\.pop\(|\[)[\"']([A-Za-z_][A-Za-z0-9_]*)[\"'](?!\]\s{0,20}=[^=])"
)
_TELLS = re.compile(rb"[ \t]*(?:#.*|(?:echo|printf|logger|log|info|print)\b[^;&|]*)")
_TELLING_LINE = 2000
_TELLING_DOTS = 2
_NUMBER = re.compile(r"\[\d+\]")
_FIELD_PARTS = 8
_SMALL = 32 << 10

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


@dataclass(frozen=True)
class Job:
    """What belongs to one job: its files' settings, or those that its log shows, and the versions it runs."""

    configs: Sequence[Config]
    made: Sequence[Made]
    versions: Versions
    catalogue: Catalogue

    @cached_property
    def variables(self) -> tuple[Made, ...]:
        """Every variable that is set."""
        return tuple(made for made in self.made if made.placed.kind is Kind.ENV and made.is_given)

    @cached_property
    def by_name(self) -> Mapping[str, tuple[Made, ...]]:
        """The settings of each name, as the catalogue writes it, in the order of the files."""
        found: dict[str, list[Made]] = {}
        for made in self.made:
            found.setdefault(made.key, []).append(made)
        return {name: tuple(all_made) for name, all_made in found.items()}

    def options_for(self, made: Made) -> tuple[Option, ...]:
        """Return the verified options that a setting may be; none where the file does not tell whose setting it is.

        A flag or a key of one word (`--fp16`, `debug`) may be anybody's; a long dotted key tells its framework itself.
        """
        placed = made.placed
        is_variable = placed.kind is Kind.ENV
        if placed.framework is None and not is_variable and placed.name.count(".") < _TELLING_DOTS:
            return ()
        if placed.kind is Kind.K8S_FIELD:
            return _fields(placed.name)
        return _options(placed.name, None if is_variable else placed.framework, is_variable=is_variable)

    def covering(self, made: Made) -> tuple[Option, ...]:
        """Return the options that a setting may be in the versions in use; all of them where none has it."""
        options = self.options_for(made)
        return tuple(option for option in options if covers(option, self.version_of(option.framework))) or options

    def version_of(self, framework: str) -> str | None:
        """Return the version of a framework that is in use; None where it is not known."""
        if framework in {"nccl", "pytorch"}:
            return self.versions.nccl if framework == "nccl" else self.versions.torch
        return self.versions.frameworks.get(framework)

    @cached_property
    def by_file(self) -> Mapping[str, tuple[Made, ...]]:
        """The settings of each file, by its name."""
        found: dict[str, list[Made]] = {config.name: [] for config in self.configs}
        for made in self.made:
            if made.config is not None:
                found[made.config.name].append(made)
        return {name: tuple(all_made) for name, all_made in found.items()}

    @cached_property
    def taken_back(self) -> frozenset[tuple[str, str]]:
        """The files and names of settings that are taken away again (unset, env -u, ~key)."""
        return frozenset((made.placed.at.source, made.key) for made in self.made if not made.is_given)

    @property
    def logged(self) -> tuple[Made, ...]:
        """The settings that a log shows."""
        return tuple(made for made in self.made if made.config is None)

    def uses(self, made: Made) -> bool:
        """Return whether a file uses the variable elsewhere than where it is set: `$NAME`, os.environ["NAME"]."""
        return self._may_use(made.placed.name.encode("utf-8", "surrogatepass")) and made.placed.name in self._used

    def _may_use(self, name: bytes) -> bool:
        """Whether a file holds what a use of the variable looks like: told of small files sooner than what all use."""
        if sum(len(config.data) for config in self.configs) > _SMALL:
            return True
        marks = (b"$" + name, b"${" + name, b"environ", b"getenv")
        return any(mark in config.data for config in self.configs for mark in marks)

    @cached_property
    def _used(self) -> frozenset[str]:
        return frozenset().union(*map(_used, self.configs))


def covers(option: Option, in_use: str | None) -> bool:
    """Return whether a version has the option; one that is not known may."""
    return in_use is None or lies_between(in_use, option.since, option.until)


_written = lru_cache(16_384)(written_form)


@lru_cache(16_384)
def _options(name: str, framework: str | None, *, is_variable: bool) -> tuple[Option, ...]:
    found = catalogue().options_called(name, framework)
    return tuple(option for option in found if option.verified and (option.kind is Kind.ENV) is is_variable)


@lru_cache(16_384)
def _fields(name: str) -> tuple[Option, ...]:
    """Return the options that a manifest's field may be: `volumes[].emptyDir.medium` holds in any kind of object."""
    parts = _NUMBER.sub("[]", name).split(".")[-_FIELD_PARTS:]
    found = (_options(".".join(parts[at:]), "kubernetes", is_variable=False) for at in range(len(parts)))
    return next(filter(None, found), ())


def job_of(configs: Sequence[Config], versions: Versions, *, fixes: bool) -> Job:
    """Return the job that these files are of; a version that nobody named is taken from a file that pins it.

    Without `fixes` none is looked for beyond those that cost nothing.
    """
    made = tuple(made for config in configs for made in _made(config, fixes=fixes))
    return Job(configs, made, _pinned(versions, configs), catalogue())


def _made(config: Config, *, fixes: bool) -> Iterator[Made]:
    budget = Budget(FIX_BUDGET if fixes else 0)
    return (Made(placed, config, budget) for placed in config.settings)


def _pinned(versions: Versions, configs: Sequence[Config]) -> Versions:
    """Complete the versions by what all files that pin one agree on."""
    pins: dict[str, set[str]] = {}
    for config in configs:
        for name, pinned in config.pins.items():
            pins.setdefault(name, set()).add(pinned)
    agreed = {name: next(iter(pinned)) for name, pinned in pins.items() if len(pinned) == 1}
    return replace(
        versions,
        nccl=versions.nccl or agreed.get("nccl"),
        torch=versions.torch or agreed.get("torch"),
        frameworks={**agreed, **versions.frameworks},
    )


def _used(config: Config) -> frozenset[str]:
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
    start = data.rfind(b"\n", max(0, at - _TELLING_LINE), at) + 1
    return _TELLS.fullmatch(data, start, at) is not None


def _is_inside(at: int, spans: Sequence[Span]) -> bool:
    """Whether one of the spans, which are in the file's order, holds the byte."""
    before = bisect_right(spans, at, key=lambda span: span.start)
    return before > 0 and at < spans[before - 1].end


def remark(  # noqa: PLR0917 - in the order of the sentence
    made: Made,
    check: Check,
    severity: Severity,
    problem: str,
    advice: str,
    source: str,
    *,
    fix: tuple[Edit, ...] = (),
    tells: str | None = None,
    marks_value: bool = False,
) -> Remark:
    """Return a remark about a setting, marked at its name, or at its value."""
    placed = made.placed
    column, end_column = _columns(made, marks_value=marks_value)
    return Remark(
        check, severity, placed.name, placed.value, placed.at, column, end_column, problem, advice, source, fix, tells
    )


@lru_cache(1024)
def _as_word(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![A-Za-z0-9_])" + re.escape(name.encode()) + rb"(?![A-Za-z0-9_])")


def name_span(made: Made) -> Span | None:
    """Return where the setting's name is written; None where it is not written in one piece (a key of nested keys)."""
    if made.config is None:
        return None
    found = _as_word(made.placed.name).search(made.written)
    return Span(made.placed.span.start + found.start(), made.placed.span.start + found.end()) if found else None


def changed(made: Made, value: str) -> tuple[Edit, ...]:
    """Return the edits that give the setting another value; () where none is safe."""
    edit = _syntax_edit(made, value)
    return (edit,) if edit else ()


def removed(made: Made) -> tuple[Edit, ...]:
    """Return the edits that take the setting out; () where none is safe."""
    edit = _syntax_edit(made, None)
    return (edit,) if edit else ()


def added(made: Made) -> tuple[Edit, ...]:
    """Return the edits that set a variable where the job's processes get it; () where the file has no such place."""
    config, value = made.config, made.placed.value
    if config is None or value is None or not made.budget.allows(len(config.data)):
        return ()
    edit = _syntax_of(config).add(config, Kind.ENV, made.placed.name, value)
    return (edit,) if edit else ()


def _syntax_edit(made: Made, value: str | None) -> Edit | None:
    if made.config is None or not made.budget.allows(len(made.config.data)):
        return None
    syntax = _syntax_of(made.config)
    return syntax.remove(made.config, made.placed) if value is None else syntax.change(made.config, made.placed, value)


def _syntax_of(config: Config) -> Syntax:
    from nccl_logscan.configs.read import syntax_named  # noqa: PLC0415 - a log's settings need no syntax

    return syntax_named(config.syntax)


def _columns(made: Made, *, marks_value: bool) -> tuple[int, int]:
    placed, config = made.placed, made.config
    if config is None:
        return placed.column, placed.column + len(placed.name)
    span = name_span(made) or placed.span
    wanted = placed.value_span if marks_value and placed.value_span else span
    if columns := _columns_in_line(config.data, placed.at.offset, wanted):
        return columns
    lines = config.lines
    line = placed.at.line
    if marks_value and placed.value_span and lines.line_of(placed.value_span.start) == line:
        span = placed.value_span
    start = span.start if lines.line_of(span.start) == line else placed.span.start
    if lines.line_of(start) != line:
        return placed.column, placed.column + 1
    column = lines.column_of(start)
    if lines.line_of(max(start, span.end - 1)) != line:
        return column, column + 1
    return column, max(column + 1, lines.column_of(span.end))


def _columns_in_line(data: bytes, begin: int, span: Span) -> tuple[int, int] | None:
    """Return a span's columns where it lies near the beginning of its line: told without the file's other lines."""
    if not begin <= span.start < span.end <= begin + _TELLING_LINE:
        return None
    line = data[begin : span.end]
    if b"\n" in line:
        return None
    before, inside = line[: span.start - begin], line[span.start - begin :]
    if line.isascii():
        return len(before) + 1, len(line) + 1
    column = len(before.decode("utf-8", "replace")) + 1
    return column, column + len(inside.decode("utf-8", "replace"))
