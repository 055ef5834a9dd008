"""Secrets taken out of log text before anything is written: reports are forwarded, attached and archived."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.position import Span
from nccl_logscan.report import secret_forms as forms

REDACTED = "[redacted]"

# Most texts hold none of their literals and cost one look for them.
_MAY_HOLD_A_SECRET = Gate(
    forms.TOKENS,
    forms.PRIVATE_KEY,
    forms.PASSWORD,
    forms.KEY,
    forms.MAYBE,
    forms.MAYBE_BEHIND_BLANK,
    forms.OPTION,
    forms.AUTHORIZATION,
    forms.COOKIE,
    forms.URL_PASSWORD,
    forms.URL_USER,
    forms.SIGNATURE,
    forms.PARAMETER,
    forms.WEBHOOK,
    forms.COMMAND,
)
_NUMBER = deferred(r"[-+0-9.,eE]+")
# What stands where a secret would: api_key=None, secret=<from env>, key=$KEY
_NO_SECRET = deferred(
    r"(?i)(?:none|null|nil|true|false|yes|no|str|string|bytes|undefined|unset|empty|missing|required|default|\*+)$|[<${%[(*]"
)
_BODY_LINE = 80
"""More than a line of a key's body has, and its end."""
_SHORTEST = 8
"""A shorter value may be a word or a number of the log's own."""


def redact(text: str) -> str:
    """Return the text with well-known secrets replaced by `[redacted]`; the names before them stay."""
    return redact_marked(text, None)[0]


def secrets_in(text: str) -> Iterator[str]:
    """Yield the secrets of a text that may be looked for elsewhere, where no name tells them: no words, no numbers."""
    for start, end in _merged(sorted(_secrets(text))):
        if _may_be_secret(text[start:end]):
            yield text[start:end]


def holds_no_secret(text: str) -> bool:
    """Return whether a text may be shown as it is."""
    return redact(text) == text


def redact_value(name: str, value: str) -> str:
    """Return a named value redacted: all of it where the name says that it is a secret (`HF_TOKEN`)."""
    if value and forms.PASSWORD_NAME.search(name):
        return REDACTED
    return REDACTED if forms.SECRET_NAME.search(name) and _may_be_secret(value) else redact(value)


def named_secret(name: str, value: str) -> Iterator[str]:
    """Yield the secrets of a named value that may be looked for where no name tells them."""
    if redact_value(name, value) == REDACTED and _may_be_secret(value):
        yield value
    else:
        yield from secrets_in(value)


def redact_marked(text: str, mark: Span | None) -> tuple[str, Span | None]:
    """Return the redacted text, and the columns that `mark` has in it."""
    secrets = _merged(sorted(_secrets(text)))
    if not secrets:
        return text, mark
    pieces, at = [], 0
    for start, end in secrets:
        pieces += [text[at:start], REDACTED]
        at = end
    moved = Span(_moved(mark.start, secrets, 0), _moved(mark.end, secrets, len(REDACTED))) if mark else None
    return "".join([*pieces, text[at:]]), moved


def _secrets(text: str) -> Iterator[tuple[int, int]]:
    if _is_key_body(text):
        yield 0, len(text)
    for expression in _MAY_HOLD_A_SECRET.candidates(text):
        is_secret = _IS_SECRET.get(expression, _is_any)
        for match in expression.finditer(text):
            # Each expression has a group for each way of quoting a value; a token is the whole match.
            value = match[match.lastindex or 0]
            if not value.startswith(REDACTED[:-1]) and is_secret(value):
                yield match.span(match.lastindex or 0)


def _is_any(_value: str) -> bool:
    return True


def _is_no_placeholder(value: str) -> bool:
    return _NO_SECRET.match(value) is None


def _may_be_secret(value: str) -> bool:
    """Whether a value named `token` or `key` may be one: `pad_token=<pad>` and `per_token: 1.25e-05` are not.

    Words of prose have no digits, numbers no letters; every key in use has both.
    """
    return (
        len(value) >= _SHORTEST
        and any(map(str.isdigit, value))
        and not _NUMBER.fullmatch(value)
        and _is_no_placeholder(value)
    )


def _is_key_body(text: str) -> bool:
    """Whether a line is of the body of a private key, behind whatever prefix."""
    word = text[-_BODY_LINE:].rsplit(None, 1)[-1:]
    if not word or forms.KEY_BODY.fullmatch(word[0]) is None:
        return False
    return word[0] != word[0].lower() and word[0] != word[0].upper() and any(map(str.isdigit, word[0]))


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _moved(column: int, secrets: list[tuple[int, int]], inside: int) -> int:
    """Return where a column went; one inside a secret goes `inside` characters into what replaced it."""
    shift = 0
    for start, end in secrets:
        if start < column < end:
            return start + shift + inside
        if column <= start:
            break
        shift += len(REDACTED) - (end - start)
    return column + shift


_IS_SECRET: Mapping[re.Pattern[str], Callable[[str], bool]] = {
    forms.KEY: _is_no_placeholder,
    **dict.fromkeys(
        (forms.MAYBE, forms.MAYBE_BEHIND_BLANK, forms.AUTHORIZATION, forms.URL_USER, forms.PARAMETER), _may_be_secret
    ),
}
"""What is asked of a value; of those that are not here nothing."""
