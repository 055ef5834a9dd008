"""Settings that have to change together, in one diff: bfloat16 on and float16 off, lest the program refuse both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Config
from nccl_logscan.configs.rewriting import Rewriting
from nccl_logscan.records import replace
from nccl_logscan.remedy.change import Change, change_of, diff_text
from nccl_logscan.remedy.circumstances import Circumstances
from nccl_logscan.remedy.naming import named


def changed_along(change: Change, others: Sequence[tuple[str, str]], around: Circumstances) -> Change:
    """Return a change whose diff also gives the other settings their values; as it was where no diff can show all."""
    made = {config.name: rewriting for config, rewriting in change.changed}
    for name, to in others:
        for config, further in _changed_for(name, to, _with_contents(around, made)):
            so_far = made.get(config.name) or Rewriting.of(config.data)
            made[config.name] = so_far.with_edits(further.edits())
    changed = tuple((config, made[config.name]) for config in around.configs if config.name in made)
    diffs = [diff_text(config, rewriting.edits(), around.may_show) for config, rewriting in changed]
    if not all(diffs):
        return change
    return replace(change, diff="".join(diff for diff in diffs if diff), changed=changed)


def _changed_for(name: str, to: str, around: Circumstances) -> Iterator[tuple[Config, Rewriting]]:
    kind = Kind.CLI_FLAG if name.startswith("-") else Kind.YAML_KEY
    for wanted in named(name, kind, to, around):
        yield from change_of(wanted, around, changes=True, adds=True).changed


def _with_contents(around: Circumstances, made: Mapping[str, Rewriting]) -> Circumstances:
    return replace(
        around,
        configs=tuple(
            around.syntaxes[config.syntax].read(config.name, made[config.name].data) if config.name in made else config
            for config in around.configs
        ),
    )
