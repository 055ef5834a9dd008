"""A message to the expression for its kind: what stays is matched as it stands, what varies by what it may be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from nccl_logscan.events.mask import Piece, pieces
from nccl_logscan.expressions import deferred
from nccl_logscan.literals import required_literals
from nccl_logscan.records import dataclass
from nccl_logscan.report.redact import REDACTED, redact
from nccl_logscan.rulebook.expression import danger_of, fault_of
from nccl_logscan.rulebook.rule import Pattern

_LONGEST = 300
_LEAST_LETTERS = 3
_FEW_LETTERS = 12
"""With fewer letters than this an expression fits other messages too, so it is for whole messages alone."""
_KEPT_LITERALS = 3
_MOST_VARYING = 12
"""An expression ends before it has more parts that vary: it is told by then, and each costs a search more."""

_GAP = rf"[^\n]{{0,{_LONGEST}}}?"
_HIDDEN = "redacted"
_MASKS = {
    "uuid": "[0-9A-Za-z-]{36,40}",
    "time": r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,Z:+-]{0,16}",
    "pci": "[0-9a-fA-F:]{5,11}[.][0-7]",
    "addr": r"[\w.:<>%\[\]-]{2,130}",
    "path": r"/[\w.+@%~=/-]{3,1000}",
    "hex": "(?:0[xX])?[0-9a-fA-F]{1,64}",
    "n": r"\d+",
    _HIDDEN: _GAP,
}
_DECIMAL = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
# Where these words stand before it, a value is what a capture of this name means (rules/README.md). NCCL's plain
# `rank 3` counts within a communicator, so it is none.
_CAPTURED = (
    ("peer", "addr", deferred(r"(?i)\bpeer[ :=]{1,2}$")),
    ("rank", "n", deferred(r"(?i)\bglobal[ _]rank[ :=#]{1,2}$")),
)
_SPECIAL = deferred(r"[\\.^$*+?{}\[\]|()]")
_BLANKS = " \t\n\r\f\v"
_RUNS = deferred(rf"(?P<blanks>[{_BLANKS}]+)|(?P<text>[^{_BLANKS}]+)")
_WORD = deferred(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Worded:
    """An expression, what its groups capture in the message it was made from, and the words that both hold."""

    expression: str
    captures: Mapping[str, str]
    words: tuple[str, ...]


def worded(message: str) -> Worded | None:
    """Return an expression for messages of the same kind, which matches this one; None where there are no words.

    Secrets are in neither the expression nor the captures.
    """
    text = redact(message).strip(_BLANKS)
    whole = tuple(_parts(_shortened(text)))
    parts = tuple(_beginning(whole))
    words = tuple(word for part in parts if part.mask is None for word in _WORD.findall(part.text.lower()))
    begin, end = (r"^\s*", r"\s*$") if _letters(parts) < _FEW_LETTERS else ("", "")
    if len(text) > _LONGEST or parts != whole:
        end = ""
    expression = _expression(parts)
    forms = (begin + expression + end, expression, _longest_literals(parts))
    for form in forms if _letters(parts) >= _LEAST_LETTERS else ():
        if not form or fault_of(form) or danger_of(form):
            continue
        captures = _search(form, redact(message))
        if captures is not None and _search(form, message) is not None:
            return Worded(form, captures, words)
    return None


def _search(expression: str, text: str) -> Mapping[str, str] | None:
    match = Pattern(expression, *required_literals(expression)).search(text)
    return None if match is None else match.groupdict()


def _shortened(text: str) -> str:
    """Return the beginning of a text, up to a blank where one leaves most of it: no word is cut in two."""
    if len(text) <= _LONGEST:
        return text
    head = text[:_LONGEST]
    at = max(head.rfind(blank) for blank in _BLANKS)
    return head[: at if at > _LONGEST // 2 else _LONGEST].strip(_BLANKS)


def _beginning(parts: Iterable[Piece]) -> Iterator[Piece]:
    varying = 0
    for part in parts:
        varying += part.mask is not None
        if varying > _MOST_VARYING:
            return
        yield part


def _parts(text: str) -> Iterator[Piece]:
    """Yield a redacted message's pieces; two of the same mask in a row are one."""
    last: Piece | None = None
    for number, told in enumerate(text.split(REDACTED)):
        hidden = (Piece(_HIDDEN, REDACTED),) if number else ()
        for piece in (*hidden, *pieces(told)):
            if last is not None and last.mask is not None and last.mask == piece.mask:
                last = Piece(last.mask, last.text + piece.text)
                continue
            if last is not None:
                yield last
            last = piece
    if last is not None:
        yield last


def _letters(parts: Iterable[Piece]) -> int:
    return sum(letter.isalpha() for part in parts if part.mask is None for letter in part.text)


# --- expressions ---------------------------------------------------------------------------------------------


def _expression(parts: Iterable[Piece]) -> str:
    expression, said = "", ""
    captured: set[str | None] = set()
    for part in parts:
        if part.mask is None:
            expression += _literal(part.text)
        else:
            name = _capture(part.mask, said) if part.text else None
            varying = _varying(part)
            expression += varying if name is None or name in captured else f"(?P<{name}>{varying})"
            captured.add(name)
        said = part.text
    return expression


def _varying(part: Piece) -> str:
    assert part.mask is not None
    return _DECIMAL if part.mask == "n" and not part.text.isdigit() else _MASKS[part.mask]


def _capture(mask: str, said: str) -> str | None:
    return next((name for name, kind, before in _CAPTURED if kind == mask and before.search(said)), None)


def _longest_literals(parts: Iterable[Piece]) -> str:
    """Return an expression for the longest texts between what varies, in their order."""
    runs = (run for part in parts if part.mask is None for run in re.split(r"[^\x20-\x7e]+", part.text))
    texts = list(filter(None, (run.strip() for run in runs)))
    longest = sorted(range(len(texts)), key=lambda number: -len(texts[number]))[:_KEPT_LITERALS]
    return _GAP.join(_literal(texts[number]) for number in sorted(longest))


def _literal(text: str) -> str:
    return "".join(
        (" " if found["blanks"] == " " else r"\s+") if found["blanks"] else _escaped(found["text"])
        for found in _RUNS.finditer(text)
    )


def _escaped(text: str) -> str:
    """Return an expression for a text without blanks; any character may stand for one that cannot be shown."""
    expression, unshown = "", 0
    for letter in text:
        if not letter.isprintable() or letter == "\N{REPLACEMENT CHARACTER}":
            unshown += 1
            continue
        expression += _any(unshown) + _SPECIAL.sub(r"\\\g<0>", letter)
        unshown = 0
    return expression + _any(unshown)


def _any(times: int) -> str:
    return "" if times == 0 else "." if times == 1 else f".{{{times}}}"
