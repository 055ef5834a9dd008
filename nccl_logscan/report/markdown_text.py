"""Text of a log as Markdown in which nothing of it acts: no markup, no link, no mention, no reference, no emoji.

A word that may act anywhere (on GitHub, GitLab or in a chat) is a code span; what is left is letters, digits and the
punctuation of prose. Escaping with backslashes would not do: mentions and references are looked for in the finished
page, where the backslash is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nccl_logscan.expressions import deferred
from nccl_logscan.report.visible import short, visible, visible_lines

_EMPTY = "(empty)"
_BACKTICKS = deferred("`+")
_PLAIN = deferred(r"(?:[^\W_]|(?<=[^\W_])_(?=[^\W_])|(?<=[^\W_])%|[-./,:;()'\"+=→·—…])*")
# Addresses, emoji, commits and references, all of which hosts of Markdown turn into links or pictures.
_ACTING = deferred(
    r"://|(?i:www\.)|:[A-Za-z+-][\w+-]*:|:100:|:1234:|\b(?=[a-fA-F]*[0-9])[0-9a-fA-F]{7,40}\b|\bGH-[0-9]|![\"(]"
)
_CODE_OF_AUTHOR = deferred(r"(\(?)`([^`\s]+)`([.,;:)]*)")
# What makes a list, a heading or a rule of the line that it begins.
_BLOCK = deferred(r"[-+=]+|[0-9]{1,9}[.)]")


def inline(text: str, limit: int) -> str:
    """Return a text on one line, cut at `limit` characters."""
    return _line(short(visible(text), limit).split(), _word)


def prose(text: str) -> str:
    """Return the paragraphs of a rule, each on one line; a word that its author put in backticks is code."""
    return "\n\n".join(_line(visible(part).split(), _word_of_author) for part in text.split("\n\n"))


def _line(words: Sequence[str], made: Callable[[str], str]) -> str:
    if not words:
        return ""
    first = code(words[0]) if _BLOCK.fullmatch(words[0]) else made(words[0])
    return " ".join([first, *map(made, words[1:])])


def code(text: str, limit: int = 200) -> str:
    """Return a text as a code span."""
    shown = short(visible(text), limit).replace("\t", " ")
    if not shown.strip():
        return _EMPTY
    mark = "`" * (_longest_run(shown) + 1)
    pad = " " if {shown[0], shown[-1]} & {" ", "`"} else ""
    return f"{mark}{pad}{shown}{pad}{mark}"


def fence(text: str, language: str) -> str:
    """Return lines as a fenced block, which nothing in them can end."""
    shown = visible_lines(text).rstrip("\n")
    mark = "`" * max(3, _longest_run(shown) + 1)
    return f"{mark}{language}\n{shown}\n{mark}"


def excerpt(text: str, marked: Sequence[int] | None, room: int) -> str:
    """Return a line, or what fits into `room` columns of it around the columns that matched."""
    if len(text) <= room:
        return text
    start = max(0, min(marked[0] - room // 4, len(text) - room)) if marked and marked[1] > room else 0
    return ("…" if start else "") + short(text[start:], room)


def _word(word: str) -> str:
    before = len(word) - len(word.lstrip("(\"'"))
    after = max(before, len(word.rstrip(".,;:!?)\"'")))
    core = word[before:after]
    if _PLAIN.fullmatch(core) and not _ACTING.search(word):
        return word
    return code(word) if _ACTING.search(word[after:]) else f"{word[:before]}{code(core)}{word[after:]}"


def _word_of_author(word: str) -> str:
    own = _CODE_OF_AUTHOR.fullmatch(word)
    return f"{own[1]}{code(own[2])}{own[3]}" if own else _word(word)


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
