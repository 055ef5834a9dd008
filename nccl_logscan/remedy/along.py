"""Settings that have to change together, in one diff: bfloat16 on and float16 off, lest the program refuse both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.remedy.change import Change, change_of, diff_text
from nccl_logscan.remedy.circumstances import Circumstances
from nccl_logscan.remedy.naming import named


def changed_along(change: Change, others: Sequence[tuple[str, str]], around: Circumstances) -> Change:
    """Return a change whose diff also gives the other settings their values; as it was where no diff can show all."""
    contents = {config.name: after for config, after in change.changed}
    for name, to in others:
        contents |= _contents_with(name, to, _with_contents(around, contents))
    changed = tuple((config, contents[config.name]) for config in around.configs if config.name in contents)
    diffs = [diff_text(config, after, around.may_show) for config, after in changed]
    if not all(diffs):
        return change
    return replace(change, diff="".join(diff for diff in diffs if diff), changed=changed)


def _contents_with(name: str, to: str, around: Circumstances) -> dict[str, bytes]:
    kind = Kind.CLI_FLAG if name.startswith("-") else Kind.YAML_KEY
    changes = (change_of(wanted, around, changes=True, adds=True) for wanted in named(name, kind, to, around))
    return {config.name: after for change in changes for config, after in change.changed}


def _with_contents(around: Circumstances, contents: Mapping[str, bytes]) -> Circumstances:
    return replace(
        around,
        configs=tuple(
            around.syntaxes[config.syntax].read(config.name, contents[config.name])
            if config.name in contents
            else config
            for config in around.configs
        ),
    )
