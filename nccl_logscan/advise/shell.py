"""The needed settings as shell text that is safe to source, and the launcher's own way to hand them on."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from nccl_logscan.advise.table import Advice, Mark, Place
from nccl_logscan.advise.view import Advised
from nccl_logscan.catalogue.model import Kind


def render(advised: Advised) -> str:
    """Return the settings. Only variables that are needed for certain are set; all else are comments.

    What depends on something that the user did not say stands there as a comment with the condition.
    """
    return "\n".join(_lines(advised)) + "\n"


def _lines(advised: Advised) -> Iterator[str]:
    run = advised.run
    yield f"# nccl-logscan advise: {run.framework.name}, {run.ranks} GPUs over {run.network}, started by {run.launcher}"
    yield f"# Variables: {advised.place.where}."
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
            yield f"# where: {advice.where}"
        if advice.row.tells:
            yield f"# tells: {advice.row.tells}"


def _certain(certain: list[Advice], place: Place) -> Iterator[str]:
    if not certain:
        yield ""
        yield "# No variable is needed: the defaults are right."
        return
    reasons = [reason for advice in certain for reason in _reasons(advice)]
    items = [_item(advice, place) for advice in certain]
    yield ""
    if place.form == "export":
        for advice in certain:
            yield from (*_reasons(advice), _item(advice, place))
        yield f"# then: {place.use}"
        return
    yield from reasons
    if place.form == "array":
        yield from ("NCCL_ADVICE=(", *(f"  {item}" for item in items), ")", f"# then: {place.use}")
    elif place.form == "runtime-env":
        variables = {advice.row.setting: advice.row.value for advice in certain}
        yield f"RUNTIME_ENV_JSON={shlex.quote(json.dumps({'env_vars': variables}))}"
        yield f"# then: {place.use}"
    else:
        yield f"# into {place.use}:"
        yield from (f"#   {item}" for item in items)


def _reasons(advice: Advice) -> Iterator[str]:
    if advice.provided:
        yield f"# if {', '.join(advice.provided)}:"
    yield f"# {advice.row.why}"
    yield f"# source: {advice.row.source}"


def _item(advice: Advice, place: Place) -> str:
    row = advice.row
    return place.item.format(name=row.setting, value=row.value, quoted=shlex.quote(row.value))
