"""Secrets taken out of log text before anything is written: reports are forwarded, attached and archived."""

from __future__ import annotations

from collections.abc import Iterator

from nccl_logscan.expressions import deferred
from nccl_logscan.gate import Gate
from nccl_logscan.position import Span

REDACTED = "[redacted]"

# Every expression is linear: a literal first, then single classes, no nested repeats.
_TOKENS = deferred(
    r"\b(?:"
    r"(?:AKIA|ASIA)[0-9A-Z]{16}"  # AWS access key id
    r"|hf_[A-Za-z0-9]{16,}"  # Hugging Face
    r"|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}"
    r"|glpat-[A-Za-z0-9_-]{16,}"  # GitLab
    r"|sk-[A-Za-z0-9_-]{20,}"  # OpenAI, Anthropic and those who copied the form
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}"  # Google
    r"|nvapi-[A-Za-z0-9_-]{20,}"  # NVIDIA
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # JSON web token
    r")"
)
_PRIVATE_KEY = deferred(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*")
_AUTHORIZATION = deferred(r"(?i)\b(?:bearer|basic)\s{1,4}([A-Za-z0-9+/_.~=-]{12,})")
_URL_LOGIN = deferred(r"://[^\s/:@]{0,200}:([^\s/@]{1,400})@")
_SIGNED_URL = deferred(
    r"(?i)[?&;](?:x-(?:amz|goog)-(?:signature|credential|security-token)|awsaccesskeyid|signature|sig)=([^&\s\"'<>]+)"
)
# NCCL_SITE_TOKEN set by environment to x
_SET_TO = r"\sset\s(?:by\s[\w./-]{1,100}\s)?to\s"
_PASSWORD = deferred(
    rf"(?i)(?:password|passwd|passphrase)(?:[\"']?\s{{0,2}}[=:]\s{{0,2}}|{_SET_TO}|\s)"
    r"(?:\"([^\"]+)\"|'([^']+)'|([^\s,;&\"']+))"
)
_NAMED = deferred(
    r"(?i)(?:secret|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|token)"
    rf"(?:[\"']?\s{{0,2}}[=:\s]\s{{0,2}}|{_SET_TO})[\"']?([A-Za-z0-9+/_.~=-]{{8,}})"
)
# {name: DB_PASSWORD, value: x} of Kubernetes and ECS, in one line.
_APART = r"[\"']?\s{0,2},\s{0,2}[\"']?value[\"']?\s{0,2}[=:]\s{0,2}[\"']?"
_PASSWORD_APART = deferred(rf"(?i)(?:password|passwd|passphrase){_APART}([^\"',}}\s]+)")
_NAMED_APART = deferred(
    rf"(?i)(?:secret|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|token){_APART}([A-Za-z0-9+/_.~=-]{{8,}})"
)
# Most texts hold none of their literals and cost one look for them.
_MAY_HOLD_A_SECRET = Gate(
    _TOKENS,
    _PRIVATE_KEY,
    _AUTHORIZATION,
    _URL_LOGIN,
    _SIGNED_URL,
    _PASSWORD,
    _NAMED,
    _PASSWORD_APART,
    _NAMED_APART,
)
_PASSWORD_NAME = deferred(r"(?i)password|passwd|passphrase")
_SECRET_NAME = deferred(r"(?i)secret|api_?key|access_?key|private_?key|credential|token\b")
# The body lines of a PEM block have 64 characters, those of an OpenSSH key 70 (RFC 7468; OpenSSH's PROTOCOL.key).
_KEY_BODY = deferred(r"[A-Za-z0-9+/]{64}(?:[A-Za-z0-9+/]{6})?")
_NUMBER = deferred(r"[-+0-9.,eE]+")


def redact(text: str) -> str:
    """Return the text with well-known secrets replaced by `[redacted]`; the names before them stay."""
    return redact_marked(text, None)[0]


def holds_no_secret(text: str) -> bool:
    """Return whether a text may be shown as it is."""
    return redact(text) == text


def redact_value(name: str, value: str) -> str:
    """Return a named value redacted: all of it where the name says that it is a secret (`HF_TOKEN`)."""
    if value and _PASSWORD_NAME.search(name):
        return REDACTED
    return REDACTED if _SECRET_NAME.search(name) and _may_be_secret(value) else redact(value)


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
    if _is_key_body(text.strip()):
        yield 0, len(text)
    if not _MAY_HOLD_A_SECRET.admits(text):
        return
    for expression in (_TOKENS, _PRIVATE_KEY):
        yield from (match.span() for match in expression.finditer(text))
    for expression in (_AUTHORIZATION, _URL_LOGIN, _SIGNED_URL, _PASSWORD, _PASSWORD_APART):
        yield from (match.span(match.lastindex or 0) for match in expression.finditer(text))
    for expression in (_NAMED, _NAMED_APART):
        yield from (match.span(1) for match in expression.finditer(text) if _may_be_secret(match[1]))


def _may_be_secret(value: str) -> bool:
    """Whether a value named `token` or `key` may be one: `pad_token=<pad>` and `per_token: 1.25e-05` are not.

    Words of prose have no digits, numbers no letters; every key in use has both.
    """
    return len(value) >= 8 and any(map(str.isdigit, value)) and not _NUMBER.fullmatch(value)


def _is_key_body(text: str) -> bool:
    if _KEY_BODY.fullmatch(text) is None:
        return False
    return text != text.lower() and text != text.upper() and any(map(str.isdigit, text))


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
