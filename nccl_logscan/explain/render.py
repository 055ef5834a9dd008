"""Explanations as a text of 80 columns, and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from nccl_logscan.explain.model import Doing, Explanation, Kind
from nccl_logscan.report.json import json_document
from nccl_logscan.report.redact import redact
from nccl_logscan.report.visible import lines_harmless_to_runners, visible

_WIDTH = 80
_LABEL = 14
_MENTIONS = 10


def as_text(explanations: Sequence[Explanation], *, verbose: bool = False) -> str:
    """Return the explanations for a terminal. Unless `verbose`, of many rules that speak of a name ten are listed, and
    of messages that more than two rules know only what they are.
    """
    lines: list[str] = []
    if len(explanations) > 1:
        lines += [f"{len(explanations)} meanings", ""]
    for explanation in explanations:
        brief = len(explanations) > 2 and explanation.kind == Kind.MESSAGE and not verbose
        lines += [*(_in_brief(explanation) if brief else _lines(explanation, verbose=verbose)), ""]
    return lines_harmless_to_runners("\n".join(lines[:-1])) + "\n"


def as_json(name: str, explanations: Sequence[Explanation]) -> str:
    """Return the explanations as JSON in ASCII, so that no name or example of a log can act on the terminal.

    {"name": what was asked, "explanations": [{
        "kind": variable | setting | concept | message, or a code's kind (nccl-result, ibv-wc-status, ibv-event,
                mlx5-syndrome, mlx5-vendor-error, xid, signal, exit-code, cuda-error),
        "name": its proper name, "heading": what it is, in a line, "meaning": text or null,
        "facts": [{"label", "text"}], "cautions": [texts], "doing": [{"text", "run": text or null, "do_not": boolean}],
        "mentions": [{"rule": a rule's id, "title"}], "sources": [addresses]}]}
    """
    entries = [asdict(explanation) for explanation in explanations]
    return json_document(_redacted({"name": name, "explanations": entries}))


def _redacted(part: Any) -> Any:
    if isinstance(part, str):
        return redact(part)
    if isinstance(part, dict):
        return {name: _redacted(value) for name, value in part.items()}
    return [_redacted(entry) for entry in part] if isinstance(part, list | tuple) else part


def _in_brief(explanation: Explanation) -> Iterator[str]:
    yield from _wrapped(explanation.name)
    yield from _wrapped(explanation.heading, "  ")
    yield from _wrapped(f"nccl-logscan explain {explanation.name}", "    ")


def _lines(explanation: Explanation, *, verbose: bool) -> Iterator[str]:
    yield from _wrapped(explanation.name)
    yield from _wrapped(explanation.heading, "  ")
    if explanation.meaning:
        yield ""
        yield from _wrapped(explanation.meaning, "  ")
    if explanation.facts:
        yield ""
    for fact in explanation.facts:
        yield from _wrapped(fact.text, " " * (_LABEL + 2), first=f"  {visible(fact.label):{_LABEL - 1}} ")
    if explanation.cautions:
        yield from ("", "  Watch out")
    for caution in explanation.cautions:
        yield from _wrapped(caution, "    ", first="  - ")
    yield from _doings("To do", [doing for doing in explanation.doing if not doing.do_not])
    yield from _doings("Not to do", [doing for doing in explanation.doing if doing.do_not])
    yield from _mentioned(explanation, verbose=verbose)
    if explanation.sources:
        yield from ("", *(line for source in explanation.sources for line in _wrapped(f"Source: {source}", "  ")))


def _doings(heading: str, doings: Sequence[Doing]) -> Iterator[str]:
    if not doings:
        return
    yield from ("", f"  {heading}")
    for doing in doings:
        yield from _wrapped(doing.text, "    ", first="  - ")
        if doing.run:
            yield from (f"      {visible(redact(line))}" for line in doing.run.strip("\n").split("\n"))


def _mentioned(explanation: Explanation, *, verbose: bool) -> Iterator[str]:
    if not explanation.mentions:
        return
    yield from ("", "  Rules that speak of it")
    shown = explanation.mentions if verbose else explanation.mentions[:_MENTIONS]
    for mention in shown:
        yield from _wrapped(f"{mention.rule}: {mention.title}", "      ", first="    ")
    if len(shown) < len(explanation.mentions):
        yield f"    and {len(explanation.mentions) - len(shown)} more (--verbose)"


def _wrapped(text: str, indent: str = "", first: str | None = None) -> list[str]:
    return textwrap.wrap(
        visible(redact(" ".join(text.split()))),
        _WIDTH,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
