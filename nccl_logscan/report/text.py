"""The verdict for a terminal: what failed first, in at most 24 lines; plain where nobody sees colours."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from nccl_logscan.records import dataclass, replace
from nccl_logscan.report.advice import advice_of
from nccl_logscan.report.figures import figures_said
from nccl_logscan.report.plain import PlainText, width_of
from nccl_logscan.report.view import ReportView, place_of
from nccl_logscan.report.visible import harmless_to_runners, visible
from nccl_logscan.report.wording import (
    LEVELS,
    STATES,
    amount_read,
    counted,
    lint_said,
    names_change,
    reason_of,
    setting_said,
    times_said,
    unit_said,
    where_said,
    whose,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from nccl_logscan.report.links import Placed

LINE_LIMIT = 24
_GUTTER = 10
_PIPED_WIDTH = 240
_COMMAND_LINES = 3

FAMILY_COLOURS = {
    "timeout": "magenta",
    "network": "cyan",
    "precision": "magenta",
    "heterogeneous": "cyan",
    "memory": "red",
    "hardware": "red",
    "environment": "green",
    "process": "red",
    "none": "green",
    "unknown": "",
}
"""Colours that are read on white as on black: not blue, yellow or white, and nothing dim."""


@dataclass(frozen=True, slots=True)
class _Row:
    """An entry, already wrapped. Where there is no room for all, those with the highest `rank` go first.

    `overflow` counts the lines that a terminal will make of it beyond `lines`.
    """

    rank: int
    label: str
    lines: tuple[Text, ...]
    overflow: int = 0

    @property
    def height(self) -> int:
        """Lines of the terminal."""
        return len(self.lines) + self.overflow

    def shortened(self, room: int) -> _Row | None:
        """Return the row in at most `room` lines, marked where it was cut; None if nothing of it fits."""
        if self.height <= room:
            return self
        if self.overflow:
            return None
        if room <= 0:
            return None
        last = self.lines[room - 1]
        # A line leaves one column free, and a mark of two would make the terminal break it.
        return replace(self, lines=(*self.lines[: room - 1], last if last.plain.endswith("…") else last + "…"))


@dataclass(frozen=True, slots=True)
class _Page:
    """Where rows go: the columns beside the labels, the type of its texts, and the terminal they are wrapped to.

    `placed` gives the addresses of the files that are named, where the terminal takes hyperlinks.
    """

    columns: int
    text: type[Text]
    terminal: Console | None = None
    verbose: bool = False
    placed: Placed | None = None

    def place(self, at: dict[str, Any], shown: str | None = None, style: str = "cyan") -> Text:
        """Return a place as `file:line`, or as it is `shown`, which leads there."""
        text = self.text(visible(place_of(at) if shown is None else shown), style=style)
        address = self.placed(at["file"], at["line"]) if self.placed else None
        if address:
            text.stylize(f"link {address}", 0, len(text.plain))
        return text

    def overflow(self, text: Text) -> int:
        """Return how many lines a terminal makes of a text that is not wrapped, beyond the first."""
        return (_GUTTER + text.cell_len) // self.terminal.width if self.terminal else 0

    def few(self, entries: list[Any], most: int) -> list[Any]:
        """Return the first entries of a list; all of them where everything is wanted."""
        return entries if self.verbose else entries[:most]

    def fold(self, text: Text, most: int) -> tuple[Text, ...]:
        """Return the text in at most `most` lines of this page."""
        text.expand_tabs(1)
        folded = list(text.wrap(self.terminal, self.columns)) if self.terminal else [text]
        for line in folded:
            line.rstrip()
        if len(folded) > most:
            folded[most - 1] = folded[most - 1] + self.text(" ") + folded[most]
        for line in folded[:most]:
            line.truncate(self.columns, overflow="ellipsis")
        return tuple(folded[:most])


def render_text(
    view: ReportView,
    console: Console,
    *,
    written_to: Sequence[str] = (),
    verbose: bool = False,
    placed: Placed | None = None,
    line_limit: int = LINE_LIMIT,
) -> None:
    """Print the verdict to the console: in at most `line_limit` lines with the prompt below it, or all if `verbose`.

    `written_to` names the files of the full report, if any were written. A terminal gets lines of its width; a pipe
    gets each entry on one line, cut at 240 columns. No character of the log can act on the terminal. With `placed` the
    places of files lead there.
    """
    from rich.text import Text  # noqa: PLC0415 - dear, and only a terminal needs it

    width = console.width if console.is_terminal else _PIPED_WIDTH
    terminal = console if console.is_terminal else None
    page = _Page(max(20, width - _GUTTER - 1), Text, terminal, verbose, placed)
    for line in _lines(view, written_to, page, line_limit - 1 if terminal else line_limit):
        console.print(line, soft_wrap=True, highlight=False)


def plain_text(
    view: ReportView, *, written_to: Sequence[str] = (), verbose: bool = False, line_limit: int = LINE_LIMIT
) -> str:
    """Return what `render_text` prints to a console that is no terminal."""
    page = _Page(_PIPED_WIDTH - _GUTTER - 1, cast("type[Text]", PlainText), verbose=verbose)
    return "".join(f"{line.plain}\n" for line in _lines(view, written_to, page, line_limit))


def _lines(view: ReportView, written_to: Sequence[str], page: _Page, line_limit: int) -> Iterator[Text]:
    previous = ""
    for row in _fitting(list(_rows(view, written_to, page)), sys.maxsize if page.verbose else line_limit):
        for text in row.lines:
            label = "" if row.label == previous else row.label
            previous = row.label
            line = page.text.assemble((label.ljust(_GUTTER), "bold"), text)
            line.rstrip()
            plain = harmless_to_runners(line.plain)
            yield line if plain == line.plain else page.text(plain)


def _fitting(rows: list[_Row], line_limit: int) -> list[_Row]:
    """Return the weightiest rows that fit into the limit, in their order."""
    kept, room = {}, line_limit
    for at in sorted(range(len(rows)), key=lambda at: (rows[at].rank, at)):
        if row := rows[at].shortened(room):
            kept[at] = row
            room -= row.height
    return [kept[at] for at in sorted(kept)]


def _rows(view: ReportView, written_to: Sequence[str], page: _Page) -> Iterator[_Row]:
    verdict = view["verdict"]
    category = verdict["category"]
    reports = [page.place({"file": name, "line": None}, style="") for name in written_to]
    if "redacted" in view:
        page = replace(page, placed=None)  # a stand-in is no file's name
    yield _Row(0, STATES.get(category, "FAILED"), page.fold(_summary(verdict, page.text), 1))
    yield from _prose(page, 0, "", [verdict["headline"]], lines=3, style="bold")
    yield from _prose(page, 1, "Where", [where] if (where := where_said(verdict["culprit"])) else [])
    yield from _prose(page, 2, "Why", page.few(verdict["reasons"], 3))
    yield from _evidence(page, page.few(verdict["evidence"], 3))
    if page.verbose:
        yield from _prose(page, 5, "Then", [_echo(echo) for echo in view["cascade"]])
    advice = advice_of(view)
    yield from _steps(page, page.few(advice.steps, 3))
    yield from _wrong_settings(page, view["config"]["lint"])
    avoid = [f"{step['title']} {reason_of(step, view['rules'])}" for step in advice.avoided]
    yield from _prose(page, 3, "Do not", page.few(avoid, 2))
    yield from _prose(page, 3, "Unknown", page.few(verdict["unknowns"], 2))
    if page.verbose:
        yield from _prose(page, 5, "Or", [_alternative(other) for other in view["alternatives"]])
    yield from _prose(page, 4, "Measured", page.few(list(figures_said(view["figures"])), 2))
    if page.verbose or category in STATES:
        yield from _prose(page, 4, "Read", [amount_read(view["coverage"]), *page.few(view["coverage"]["notes"], 2)])
    if "redacted" in view:
        from nccl_logscan.report.public import redaction_said  # noqa: PLC0415 - few reports are for the public

        yield from _prose(page, 0, "Redacted", [redaction_said(view["redacted"])], lines=3)
    if reports:
        # Whole at any width: they are there to be clicked or copied.
        yield _Row(0, "Report", tuple(reports), sum(map(page.overflow, reports)))


def _summary(verdict: dict[str, Any], text: type[Text]) -> Text:
    colour = FAMILY_COLOURS[verdict["family"]]
    if verdict["category"] == "none":
        return text("no failure found", style=colour)
    sure = f"{LEVELS[verdict['level']]}, {verdict['confidence']:.0%}"
    rule = f"  {visible(verdict['rule'])}" if verdict["rule"] else ""
    return text.assemble((verdict["category"], f"bold {colour}".rstrip()), f"  {sure}", rule)


def _evidence(page: _Page, evidence: list[dict[str, Any]]) -> Iterator[_Row]:
    for number, line in enumerate(evidence):
        place = page.place(line)
        room = page.columns - place.cell_len - 2
        if number == 0 and room < width_of(line["text"]):
            # The decisive line may be long and its file's path too: it gets up to three lines to itself.
            text = _around(page.text, line["text"], line["highlight"], 2 * page.columns - 8)
            yield _Row(1, "Evidence", (*page.fold(place, 1), *page.fold(text, 2)))
            continue
        if room < 2 * page.columns // 3:
            place = page.place(line, place_of({**line, "file": line["file"].rpartition("/")[2]}))
        if place.cell_len > page.columns // 2:
            place = page.text("…") + place[1 - page.columns // 2 :]
        text = _around(page.text, line["text"], line["highlight"], page.columns - place.cell_len - 2)
        yield _Row(1 if number == 0 else 2 + number, "Evidence", page.fold(page.text.assemble(place, "  ", text), 1))


def _around(made: type[Text], text: str, highlight: list[int] | None, room: int) -> Text:
    """Return the part of a line that matched, with as much around it as there is room for."""
    start, end = highlight or [0, 0]
    left = max(0, min(start - room // 4, len(text) - room)) if end > room else 0
    head, mark, tail = text[left:start], text[max(start, left) : end], text[end : left + 2 * room]
    shown = made.assemble("…" if left else "", visible(head), (visible(mark), "bold"), visible(tail))
    shown.expand_tabs(1)
    shown.truncate(room, overflow="ellipsis")
    return shown


def _steps(page: _Page, steps: list[dict[str, Any]]) -> Iterator[_Row]:
    for number, step in enumerate(steps, 1):
        rank = 1 if number == 1 else 1 + number
        by = whose(step)
        yield from _prose(page, rank, "Do", [f"{number}. {step['title']}{by}"])
        if change := _change(step):
            place = (page.place(step["where"], style="bold cyan"), "  ") if step["where"] else ()
            text = page.text.assemble("   ", *place, (visible(change), "bold"))
            yield _Row(rank, "Do", page.fold(text, 20 if page.verbose else 1))
        if page.verbose and step["diff"]:
            lines = (page.text(f"   {visible(line)}") for line in step["diff"].splitlines())
            yield _Row(5, "Do", tuple(lines))
        for command in page.few((step["command"] or "").splitlines(), 2):
            text = page.text(f"   $ {visible(command)}", style="bold")
            # Whole or not at all: half a command is worse than none. The terminal breaks it, so that it copies whole.
            overflow = page.overflow(text)
            if overflow <= _COMMAND_LINES:
                yield _Row(rank, "Do", (text,), overflow)


def _change(step: dict[str, Any]) -> str:
    """Return from what to what a setting goes: `NCCL_IB_GID_INDEX 3 → unset`; nothing where the title tells all."""
    if not names_change(step):
        return ""
    now = f" {step['from']}" if step["from"] is not None else ""
    to = f" → {step['to']}" if step["to"] not in {None, step["from"]} else ""
    return f"{step['setting']}{now}{to}{unit_said(step)}"


def _wrong_settings(page: _Page, lint: list[dict[str, Any]]) -> Iterator[_Row]:
    shown = [entry for entry in lint if page.verbose or entry["severity"] != "note"]
    for number, entry in enumerate(page.few(shown, 2)):
        said = f"{setting_said(entry)}: {lint_said(entry)}"
        text = page.text.assemble(page.place(entry), "  ", harmless_to_runners(visible(said.strip())))
        yield _Row(4 + min(number, 2) * 2, "Settings", page.fold(text, 20 if page.verbose else 2))


def _prose(
    page: _Page, rank: int, label: str, sentences: list[str], *, lines: int = 2, style: str = ""
) -> Iterator[_Row]:
    """Yield each sentence as a row of at most `lines` lines; the later, the less it weighs."""
    for number, said in enumerate(sentences):
        text = page.text(harmless_to_runners(visible(said.strip())), style=style)
        yield _Row(rank + min(number, 2) * 2, label, page.fold(text, 20 if page.verbose else lines))


def _echo(echo: dict[str, Any]) -> str:
    told = f"{times_said(echo['count'])}, {counted(echo['rank_count'], 'rank')}, first at {place_of(echo['first'])}"
    return f"{echo['title']} ({told})"


def _alternative(other: dict[str, Any]) -> str:
    return f"{other['category']}, {other['confidence']:.0%}: {other['why']}"
