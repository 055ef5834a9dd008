"""Markdown read as GitHub reads it, and whether anything in it acts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("gfm-like")
_PARSER.linkify.set({"fuzzy_link": False})  # as on GitHub, where train.py is no address of Paraguay
_OWN_HTML = re.compile(r"<details>\n<summary>[A-Za-z ]+(?: \([\d,]+\))?</summary>|</details>")
_ACTING_ELEMENTS = frozenset(
    {
        "link_open", "image", "html_inline", "s_open", "em_open", "table_open", "blockquote_open", "code_block",
        "hardbreak",
    }
)  # fmt: skip
# What hosts look for in the text of the finished page.
_ACTING_TEXT = re.compile(r"[@#!~$&^][\w\"(]|GH-\d|://|www\.|:[a-z]+:|\b(?=[a-f]*\d)[0-9a-f]{7,40}\b")


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text, those within others as well."""
    flat = []
    for token in _PARSER.parse(text):
        flat += [token, *(token.children or ())]
    return flat


def must_hold_nothing_that_acts(tokens: Sequence[Token]) -> None:
    """Fail where a token is a link, a picture, markup that is not the report's own, a mention or a reference."""
    assert not {token.type for token in tokens} & _ACTING_ELEMENTS
    for token in tokens:
        if token.type == "html_block":
            assert _OWN_HTML.fullmatch(token.content.strip()), token.content
        if token.type == "text":
            assert not _ACTING_TEXT.search(token.content)
