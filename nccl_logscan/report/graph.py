"""What followed from the cause, as a graph: each symptom stands at the right of what it follows from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from textwrap import wrap
from typing import Any

from nccl_logscan.records import dataclass, field
from nccl_logscan.report.view import ReportView
from nccl_logscan.report.wording import counted, ranks_named

NODES = 20
_DEEPEST = 3
_WIDTHS = {1: 320, 2: 272, 3: 208}
"""Of a node, in CSS pixels, by how many columns follow the cause's."""
_GAP, _SPACE, _EDGE = 36, 12, 8
_PADDING, _LINE, _BASE = 10, 16, 12
_LETTER = 7.0
_TITLE_LINES, _NOTE_LINES = 3, 2
_SHORT = 32


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text in a node; `y` is its base line."""

    text: str
    y: int
    is_title: bool


@dataclass(frozen=True, slots=True)
class Node:
    """A box: the cause, or what followed."""

    x: int
    y: int
    width: int
    height: int
    is_cause: bool
    words: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """All that the SVG shows; `edges` are paths, `left_out` counts the symptoms that have no box."""

    width: int
    height: int
    nodes: tuple[Node, ...]
    edges: tuple[str, ...]
    left_out: int
    said: str


@dataclass(slots=True)
class _Branch:
    """A box and those that follow from it, before they have a place."""

    title: str
    note: str
    depth: int = 0
    children: list[_Branch] = field(default_factory=list)

    @property
    def deepest(self) -> int:
        return max((child.deepest for child in self.children), default=self.depth)


def draw_graph(view: ReportView) -> Graph | None:
    """Return the graph of a report's cascade; None where nothing followed."""
    symptoms = _by_rule(view["cascade"])
    if not symptoms or view["verdict"]["rule"] is None:
        return None
    cause = _tree(view, symptoms[:NODES])
    width = _WIDTHS[cause.deepest]
    nodes: list[Node] = []
    edges: list[str] = []
    height = _place(cause, _EDGE, width, nodes, edges) + _EDGE
    return Graph(
        width=2 * _EDGE + (cause.deepest + 1) * width + cause.deepest * _GAP,
        height=height,
        nodes=tuple(nodes),
        edges=tuple(edges),
        left_out=max(0, len(symptoms) - NODES) + view["omitted"]["cascade"],
        said=" ".join(_sentences(cause)),
    )


def _by_rule(cascade: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the symptoms in the order of first sight, those of one rule taken together; `number` is the first's."""
    symptoms: dict[str, dict[str, Any]] = {}
    for number, echo in enumerate(cascade, 1):
        known = symptoms.get(echo["rule"])
        if known is None:
            symptoms[echo["rule"]] = {**echo, "number": number}
            continue
        ranks = dict.fromkeys([*known["ranks"], *echo["ranks"]])
        most = max(known["rank_count"], echo["rank_count"], len(ranks))
        known.update(count=known["count"] + echo["count"], ranks=list(ranks), rank_count=most)
    return list(symptoms.values())


def _tree(view: ReportView, symptoms: Sequence[Mapping[str, Any]]) -> _Branch:
    rule = view["verdict"]["rule"]
    title = view["rules"][rule]["title"] if rule in view["rules"] else rule
    cause = _Branch(title, _culprit(view["verdict"]["culprit"]))
    branches: dict[str, _Branch] = {}
    parents: dict[str, _Branch] = {}
    for echo in symptoms:
        parent = branches.get(echo["follows"] or "", cause)
        if parent.depth >= _DEEPEST:  # what follows from a symptom follows from what that follows from
            parent = parents[echo["follows"]]
        branch = _Branch(f"{echo['number']}. {echo['title']}", _note(echo), parent.depth + 1)
        branches[echo["rule"]], parents[echo["rule"]] = branch, parent
        parent.children.append(branch)
    return cause


def _culprit(culprit: Mapping[str, Any]) -> str:
    parts = ("" if culprit["rank"] is None else f"rank {culprit['rank']}", culprit["host"], culprit["adapter"])
    return ", ".join(part for part in parts if part)


def _note(echo: Mapping[str, Any]) -> str:
    """Return how often, on which ranks, and from when on, by the clock of who said it first."""
    ranks = ranks_named(echo)
    if len(ranks) > _SHORT:
        ranks = counted(echo["rank_count"], "rank")
    time = echo["first"]["time"]
    since = "" if time is None else f"from {datetime.fromisoformat(time):%H:%M:%S}"
    return ", ".join(part for part in (counted(echo["count"], "time"), ranks, since) if part)


def _place(branch: _Branch, top: int, width: int, nodes: list[Node], edges: list[str]) -> int:
    """Give a box and all that follows from it their places; return where the lowest of them ends."""
    node = _node(branch, top, width)
    nodes.append(node)
    lowest, at = node.y + node.height, top
    for child in branch.children:
        edges.append(_edge(node, at))
        end = _place(child, at, width, nodes, edges)
        at, lowest = end + _SPACE, max(lowest, end)
    return lowest


def _node(branch: _Branch, top: int, width: int) -> Node:
    letters = int((width - 2 * _PADDING) / _LETTER)
    titles = wrap(branch.title, letters, max_lines=_TITLE_LINES, placeholder=" …")
    notes = wrap(branch.note, letters, max_lines=_NOTE_LINES, placeholder=" …")
    words = tuple(
        Words(text, top + _PADDING + _BASE + _LINE * number, number < len(titles))
        for number, text in enumerate([*titles, *notes])
    )
    height = 2 * _PADDING + _LINE * len(words) - (_LINE - _BASE)
    return Node(_EDGE + branch.depth * (width + _GAP), top, width, height, branch.depth == 0, words)


def _edge(parent: Node, top: int) -> str:
    """Return an arrow from a box to the one that begins at `top` in the next column."""
    start, end, level = parent.x + parent.width, parent.x + parent.width + _GAP, top + _PADDING + _BASE // 2
    return f"M{start} {parent.y + _PADDING + _BASE // 2}h{_GAP // 2}V{level}H{end}m-7 -4l7 4l-7 4"


def _sentences(branch: _Branch) -> Iterator[str]:
    """Yield in words what follows from what."""
    if branch.children:
        followed = "; ".join(f"{child.title} ({child.note})" for child in branch.children)
        yield f"From “{branch.title}” followed: {followed}."
    for child in branch.children:
        yield from _sentences(child)
