"""The needed settings as shell text that is safe to source, and the launcher's own way to hand them on."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Iterator

from nccl_logscan.advise.table import Advice, Mark, Place
from nccl_logscan.advise.view import Advised
from nccl_logscan.catalogue.model import Kind

_WIDTH = 100


def render(advised: Advised) -> str:
    """Return the settings. Only variables that are needed for certain are set; all else are comments.

    What depends on something that the user did not say stands there as a comment with the condition.
    """
    return "\n".join(_lines(advised)) + "\n"


def _lines(advised: Advised) -> Iterator[str]:
    run = advised.run
    yield f"# nccl-logscan advise: {run.framework.name}, {run.ranks} GPUs over {run.network}, started by {run.launcher}"
    yield from _comment(f"Variables: {advised.place.where}.")
    for condition in advised.place_provided:
        yield f"# That holds with {condition}."
    needed = advised.marked(Mark.NEEDED)
    variables = [advice for advice in needed if advice.row.kind is Kind.ENV]
    certain = [advice for advice in variables if not advice.provided]
    yield from _certain(certain, advised.place)
    for advice in variables:
        if advice.provided:
            yield from ("", *_reasons(advice), f"# {_item(advice, advised.place)}")
    others = [advice for advice in needed if advice.row.kind is not Kind.ENV]
    for advice in others:
        yield from ("", *_reasons(advice), f"# {advice.row.setting}: {advice.row.value}")
        if advice.where:
            yield from _comment(f"where: {advice.where}")
        if advice.row.tells:
            yield from _comment(f"tells: {advice.row.tells}")


def _certain(certain: list[Advice], place: Place) -> Iterator[str]:
    yield ""
    if not certain:
        yield "# No variable is needed for certain: the defaults are right."
        return
    exported = [advice for advice in certain if place.exports(advice.row.setting)]
    for advice in exported:
        yield from (*_reasons(advice), f"export {advice.row.setting}={shlex.quote(advice.row.value)}")
    if place.form == "export":
        yield f"# then: {place.use}"
    handed = [advice for advice in certain if advice not in exported]
    if handed:
        yield from (reason for advice in handed for reason in _reasons(advice))
        yield from _handed(handed, place)


def _handed(handed: list[Advice], place: Place) -> Iterator[str]:
    items = [_item(advice, place) for advice in handed]
    if place.form == "array":
        yield from ("NCCL_ADVICE=(", *(f"  {item}" for item in items), ")", f"# then: {place.use}")
    elif place.form == "runtime-env":
        variables = {advice.row.setting: advice.row.value for advice in handed}
        yield f"RUNTIME_ENV_JSON={shlex.quote(json.dumps({'env_vars': variables}))}"
        yield f"# then: {place.use}"
    else:
        yield f"# into {place.use}:"
        yield from (f"#   {item}" for item in items)


def _reasons(advice: Advice) -> Iterator[str]:
    if advice.provided:
        yield from _comment(f"if {', '.join(advice.provided)}:")
    yield from _comment(advice.row.why)
    yield from _comment(f"source: {advice.row.source}")


def _comment(text: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text, _WIDTH, initial_indent="# ", subsequent_indent="# ", break_long_words=False, break_on_hyphens=False
    )


def _item(advice: Advice, place: Place) -> str:
    row = advice.row
    return place.item.format(name=row.setting, value=row.value, quoted=shlex.quote(row.value))
