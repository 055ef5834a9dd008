"""The user's configuration files: read with their syntaxes, and judged by lint together with what the log shows set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.configs.syntax import Syntax
from nccl_logscan.diagnosis.verdict import Job, JudgedSetting, Setting
from nccl_logscan.lint.model import Remark, Severity, Versions
from nccl_logscan.position import Span

_DIFFS = 200
"""So many of the gravest remarks have a diff: a report shows no more, and each costs a reading of its file's lines."""

_WEIGHT = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}


def read_configs(contents: Mapping[str, bytes]) -> tuple[Config, ...]:
    """Return the files, by name and content, that are of a known syntax; what cannot be read is a fault of a Config."""
    if not contents:
        return ()
    # The parsers are only loaded where there is something to parse.
    from nccl_logscan.configs.read import read_text  # noqa: PLC0415

    read = (read_text(name, data) for name, data in contents.items())
    return tuple(config for config in read if config is not None)


def syntaxes_of(configs: Sequence[Config]) -> Mapping[str, Syntax]:
    """Return what edits these files, by the name of the syntax."""
    if not configs:
        return {}
    from nccl_logscan.configs.read import SYNTAXES  # noqa: PLC0415

    return {syntax.name: syntax for syntax in SYNTAXES}


def judged(job: Job, configs: Sequence[Config], may_show: Callable[[str], bool]) -> tuple[JudgedSetting, ...]:
    """Return what lint says of the files and of the variables seen in the log, the gravest first.

    The first 200 have a diff, where their file can be mended and the diff may be shown.
    """
    if not configs and not job.settings:
        return ()
    from nccl_logscan.lint.seen import lint_seen  # noqa: PLC0415 - only where there is something to judge

    versions = versions_in(job)
    in_files = _lint(configs, versions) if configs else ()
    told = {remark.name for remark in in_files}
    logged = lint_seen([_as_logged(setting) for setting in job.settings], versions)
    seen = (remark for remark in logged if remark.name not in told)
    by_name = {config.name: config for config in configs}
    remarks = sorted((*in_files, *_once(seen)), key=lambda remark: _WEIGHT[remark.severity])
    with_diff = (
        JudgedSetting(remark, _diff(remark, by_name.get(remark.at.source), may_show)) for remark in remarks[:_DIFFS]
    )
    return (*with_diff, *map(JudgedSetting, remarks[_DIFFS:]))


def _lint(configs: Sequence[Config], versions: Versions) -> tuple[Remark, ...]:
    from nccl_logscan.lint.run import lint  # noqa: PLC0415 - checks of files are only loaded where there is one

    return lint(configs, versions)


def versions_in(job: Job) -> Versions:
    """Return the versions that the log shows; of several, which lint cannot judge by, none."""
    nccl = job.nccl_versions[0] if len(job.nccl_versions) == 1 else None
    torch = job.torch_versions[0] if len(job.torch_versions) == 1 else None
    return Versions(nccl, torch)


def _once(remarks: Iterable[Remark]) -> Iterator[Remark]:
    """Yield a remark once a check, name and value: each rank's log shows what all of them have set."""
    said = set()
    for remark in remarks:
        key = (remark.check, remark.name, remark.value)
        if key not in said:
            said.add(key)
            yield remark


def _as_logged(setting: Setting) -> Placed:
    return Placed(setting.name, setting.value, Kind.ENV, Form.LOGGED, setting.at, 1, Span(0, 0))


def _diff(remark: Remark, config: Config | None, may_show: Callable[[str], bool]) -> str | None:
    if config is None or not remark.fix:
        return None
    from nccl_logscan.remedy.change import diff_text  # noqa: PLC0415 - only where there is a fix

    return diff_text(config, remark.fix, may_show)
