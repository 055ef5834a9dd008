"""Lines of text without colours, for a reader that is no terminal: what `report/text.py` asks of rich's texts.

rich is dear to import, and who pipes a verdict or keeps it in a file sees none of its styles. The methods mean what
those of `rich.text.Text` mean.
"""

from __future__ import annotations

from typing import Self


class PlainText:
    """A text that has no style."""

    __slots__ = ("plain",)

    def __init__(self, plain: str = "", style: str = "") -> None:  # noqa: ARG002 - rich's signature
        self.plain = plain

    @classmethod
    def assemble(cls, *parts: str | tuple[str, str] | PlainText) -> Self:
        """Join texts and (text, style)."""
        return cls("".join(map(_plain, parts)))

    @property
    def cell_len(self) -> int:
        """How many columns of a terminal it takes."""
        return width_of(self.plain)

    def stylize(self, style: str, start: int, end: int) -> None:
        """Give a part of it a style: it has none."""

    def expand_tabs(self, tab_size: int) -> None:
        """Make a blank of each tab."""
        assert tab_size == 1
        self.plain = self.plain.replace("\t", " ")

    def rstrip(self) -> None:
        """Take off what is blank at the end."""
        self.plain = self.plain.rstrip()

    def truncate(self, columns: int, overflow: str) -> None:
        """Cut to a width, and mark that it was cut."""
        assert overflow == "ellipsis"
        if self.cell_len > columns:
            self.plain = _cut(self.plain, columns - 1) + "…"

    def __add__(self, other: str | PlainText) -> PlainText:
        return PlainText(self.plain + _plain(other))

    def __getitem__(self, columns: slice) -> PlainText:
        return PlainText(self.plain[columns])


def width_of(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if _is_narrow(text):
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - few texts hold wide letters

    return cell_len(text)


def _cut(text: str, columns: int) -> str:
    if _is_narrow(text):
        return text[:columns]
    from rich.cells import set_cell_size  # noqa: PLC0415 - as above

    return set_cell_size(text, columns)


def _is_narrow(text: str) -> bool:
    """Tell a text each of whose letters is known to be one column wide: of Europe's scripts, dashes, quotes, arrows."""
    if not text.isprintable():
        return False
    return text.isascii() or all(
        letter < "\u0300" or "\u2010" <= letter <= "\u2027" or letter == "→" for letter in text
    )


def _plain(part: str | tuple[str, str] | PlainText) -> str:
    if isinstance(part, PlainText):
        return part.plain
    return part if isinstance(part, str) else part[0]
