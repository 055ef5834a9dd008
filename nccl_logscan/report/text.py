"""The verdict for a terminal: what failed first, in at most 24 lines; plain where nobody sees colours."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from nccl_logscan.records import dataclass, replace
from nccl_logscan.report.plain import PlainText, width_of
from nccl_logscan.report.view import ReportView, place_of
from nccl_logscan.report.visible import harmless_to_runners, sentence, visible
from nccl_logscan.report.wording import LEVELS, STATES, amount_read, reason_of, unit_said, where_said, whose

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

LINE_LIMIT = 24
_GUTTER = 10
_PIPED_WIDTH = 240
_COMMAND_LINES = 3

FAMILY_COLOURS = {
    "timeout": "yellow",
    "network": "blue",
    "precision": "magenta",
    "heterogeneous": "cyan",
    "memory": "red",
    "hardware": "red",
    "environment": "green",
    "process": "bright_red",
    "none": "green",
    "unknown": "white",
}


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
        return replace(self, lines=(*self.lines[: room - 1], self.lines[room - 1] + " …")) if room > 0 else None


@dataclass(frozen=True, slots=True)
class _Page:
    """Where rows go: the columns beside the labels, the type of its texts, and the terminal they are wrapped to."""

    columns: int
    text: type[Text]
    terminal: Console | None = None
    verbose: bool = False

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
    line_limit: int = LINE_LIMIT,
) -> None:
    """Print the verdict to the console: in at most `line_limit` lines, or all of it if `verbose`.

    `written_to` names the files of the full report, if any were written. A terminal gets lines of its width; a pipe
    gets each entry on one line, cut at 240 columns. No character of the log can act on the terminal.
    """
    from rich.text import Text  # noqa: PLC0415 - dear, and only a terminal needs it

    width = console.width if console.is_terminal else _PIPED_WIDTH
    terminal = console if console.is_terminal else None
    page = _Page(max(20, width - _GUTTER - 1), Text, terminal, verbose)
    for line in _lines(view, written_to, page, line_limit):
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
    yield _Row(0, STATES.get(category, "FAILED"), page.fold(_summary(verdict, page.text), 1))
    yield from _prose(page, 0, "", [verdict["headline"]], lines=3, style="bold")
    yield from _prose(page, 1, "Where", [where] if (where := where_said(verdict["culprit"])) else [])
    yield from _prose(page, 2, "Why", page.few(verdict["reasons"], 3))
    yield from _evidence(page, page.few(verdict["evidence"], 3))
    if page.verbose:
        yield from _prose(page, 5, "Then", [_echo(echo) for echo in view["cascade"]])
    steps = view["remediation"]
    yield from _steps(page, page.few([step for step in steps if not step["do_not"]], 3))
    yield from _prose(page, 4, "Settings", page.few(_wrong_settings(view["config"]["lint"], page), 2))
    avoid = [f"{step['title']} {reason_of(step, view['rules'])}" for step in steps if step["do_not"]]
    yield from _prose(page, 3, "Do not", page.few(avoid, 2))
    yield from _prose(page, 3, "Unknown", page.few(verdict["unknowns"], 2))
    if page.verbose:
        yield from _prose(page, 5, "Or", [_alternative(other) for other in view["alternatives"]])
    if page.verbose or category in STATES:
        yield from _prose(page, 4, "Read", [amount_read(view["coverage"]), *page.few(view["coverage"]["notes"], 2)])
    if "redacted" in view:
        from nccl_logscan.report.public import redaction_said  # noqa: PLC0415 - few reports are for the public

        yield from _prose(page, 0, "Redacted", [redaction_said(view["redacted"])], lines=3)
    if written_to:
        # Whole at any width: they are there to be clicked or copied.
        yield _Row(0, "Report", tuple(page.text(visible(name)) for name in written_to))


def _summary(verdict: dict[str, Any], text: type[Text]) -> Text:
    colour = FAMILY_COLOURS[verdict["family"]]
    if verdict["category"] == "none":
        return text("no failure found", style=colour)
    sure = f"{LEVELS[verdict['level']]}, {verdict['confidence']:.0%}"
    rule = f"  {visible(verdict['rule'])}" if verdict["rule"] else ""
    return text.assemble((verdict["category"], f"bold {colour}"), f"  {sure}", (rule, "dim"))


def _evidence(page: _Page, evidence: list[dict[str, Any]]) -> Iterator[_Row]:
    for number, line in enumerate(evidence):
        place = page.text(visible(place_of(line)), style="cyan")
        room = page.columns - place.cell_len - 2
        if number == 0 and room < width_of(line["text"]):
            # The decisive line may be long and its file's path too: it gets up to three lines to itself.
            text = _around(page.text, line["text"], line["highlight"], 2 * page.columns - 8)
            yield _Row(1, "Evidence", (*page.fold(place, 1), *page.fold(text, 2)))
            continue
        if room < 2 * page.columns // 3:
            place = page.text(visible(place_of({**line, "file": line["file"].rpartition("/")[2]})), style="cyan")
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
            yield _Row(
                rank, "Do", page.fold(page.text(f"   {visible(change)}", style="bold"), 20 if page.verbose else 1)
            )
        if page.verbose and step["diff"]:
            lines = (page.text(f"   {visible(line)}") for line in step["diff"].splitlines())
            yield _Row(5, "Do", tuple(lines))
        for command in page.few((step["command"] or "").splitlines(), 2):
            text = page.text(f"   $ {visible(command)}", style="bold")
            # Whole or not at all: half a command is worse than none. The terminal breaks it, so that it copies whole.
            overflow = (_GUTTER + text.cell_len) // page.terminal.width if page.terminal else 0
            if overflow <= _COMMAND_LINES:
                yield _Row(rank, "Do", (text,), overflow)


def _change(step: dict[str, Any]) -> str:
    """Return where a setting is made, and from what to what: `train.sh:12  NCCL_IB_GID_INDEX 3 → unset`."""
    if not step["setting"] or (step["where"] is step["to"] is None and step["setting"] in step["title"]):
        return ""
    place = f"{place_of(step['where'])}  " if step["where"] else ""
    now = f" {step['from']}" if step["from"] is not None else ""
    to = f" → {step['to']}" if step["to"] not in {None, step["from"]} else ""
    return f"{place}{step['setting']}{now}{to}{unit_said(step)}"


def _wrong_settings(lint: list[dict[str, Any]], page: _Page) -> list[str]:
    shown = [entry for entry in lint if page.verbose or entry["severity"] != "note"]
    return [
        f"{place_of(entry)}  {entry['name']}{'=' if entry['value'] else ''}{entry['value']}: "
        f"{sentence(entry['problem'])} {sentence(entry['advice'])}"
        for entry in shown
    ]


def _prose(
    page: _Page, rank: int, label: str, sentences: list[str], *, lines: int = 2, style: str = ""
) -> Iterator[_Row]:
    """Yield each sentence as a row of at most `lines` lines; the later, the less it weighs."""
    for number, said in enumerate(sentences):
        text = page.text(harmless_to_runners(visible(said.strip())), style=style)
        yield _Row(rank + min(number, 2) * 2, label, page.fold(text, 20 if page.verbose else lines))


def _echo(echo: dict[str, Any]) -> str:
    first = echo["first"]
    times = f"{echo['count']:,} times" if echo["count"] != 1 else "once"
    return f"{echo['title']} ({times}, {echo['rank_count']:,} ranks, first at {place_of(first)})"


def _alternative(other: dict[str, Any]) -> str:
    return f"{other['category']}, {other['confidence']:.0%}: {other['why']}"
