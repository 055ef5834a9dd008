"""Whether a value is one that the reader takes, what it makes of another, and which it takes in words."""

from __future__ import annotations

import re

from nccl_logscan.catalogue.model import Domain, Form, Parser
from nccl_logscan.expressions import deferred

_STRTOLL = deferred(r"\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_DECIMAL = deferred(r"\s*([+-]?)([0-9]+)")
_NUMBER = deferred(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST = 4096
"""Characters of a value that are looked at; Linux takes 128 KiB, and no sensible value has as many."""


def takes(domain: Domain, value: str) -> bool:
    """Return whether the reader takes `value` for what it says. An empty one counts as unset, except for PyTorch."""
    if len(value) > _LONGEST:
        return True
    if not value:
        return domain.parser not in {Parser.STOI, Parser.TORCH_BOOL}
    if _among(value, domain.special, domain.ignores_case):
        return True
    if domain.pattern is not None:
        return re.fullmatch(domain.pattern, value, re.IGNORECASE if domain.ignores_case else 0) is not None
    return _FORMS[domain.form](domain, value)


def read_as(domain: Domain, value: str) -> str | None:
    """Return what the reader makes of a value that it does not take: "4M" is 4, "true" is 0.

    None where that is not known, or where it ends the program.
    """
    if domain.parser is Parser.STRTOLL:
        return str(_leading(_STRTOLL, value, base=0) or 0)
    if domain.parser is Parser.STOI:
        number = _leading(_DECIMAL, value, base=10)
        return None if number is None else str(number)
    return None


def in_words(domain: Domain) -> str | None:
    """Return which values are taken, in words that fit "takes ..."; None where the form alone says little."""
    if domain.wanted:
        return domain.wanted
    choices = domain.choices or (("0", "1") if domain.form is Form.FLAG else ())
    if domain.form is Form.LIST and choices:
        return f"a list of {_one_of(choices)}"
    if choices:
        return _one_of(choices)
    if domain.form not in {Form.INTEGER, Form.NUMBER}:
        return None
    if domain.unit == "port":
        return f"a port{_bounds(domain)}"
    kind = "a whole number" if domain.form is Form.INTEGER else "a number"
    unit = f" of {domain.unit}" if domain.unit else ""
    special = f", or {_one_of(domain.special)}" if domain.special else ""
    return f"{kind}{unit}{_bounds(domain)}{special}"


def _bounds(domain: Domain) -> str:
    if domain.at_least is not None and domain.at_most is not None:
        return f" from {domain.at_least:.12g} to {domain.at_most:.12g}"
    if domain.at_least is not None:
        return f" from {domain.at_least:.12g} on"
    return f" up to {domain.at_most:.12g}" if domain.at_most is not None else ""


def _one_of(choices: tuple[str, ...]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def whole_number(domain: Domain, value: str) -> int | None:
    """Return the number that the whole value is, as the domain's reader counts; None where it is none."""
    form, base = (_STRTOLL, 0) if domain.parser is Parser.STRTOLL else (_DECIMAL, 10)
    match = form.match(value)
    return _leading(form, value, base) if match and not value[match.end() :].strip() else None


def _leading(form: re.Pattern[str], value: str, base: int) -> int | None:
    match = form.match(value[:_LONGEST])
    if match is None:
        return None
    digits = match[2]
    octal = base == 0 and len(digits) > 1 and digits[1] not in "xX" and digits[0] == "0"
    number = int(digits, 8) if octal else int(digits, base)
    return -number if match[1] == "-" else number


def _is_flag(domain: Domain, value: str) -> bool:
    if _among(value, domain.choices, domain.ignores_case):
        return True
    words_only = domain.parser in {Parser.TORCH_BOOL, Parser.NCCL_BOOL}
    return not words_only and whole_number(domain, value) in {0, 1}


def _is_integer(domain: Domain, value: str) -> bool:
    number = whole_number(domain, value)
    return number is not None and _within(domain, number)


def _is_number(domain: Domain, value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None and _within(domain, float(value))


def _is_choice(domain: Domain, value: str) -> bool:
    return not domain.choices or _among(value, domain.choices, domain.ignores_case)


def _is_list(domain: Domain, value: str) -> bool:
    return all(_is_choice(domain, member) for member in value.split(",") if member)


def _is_anything(_domain: Domain, _value: str) -> bool:
    return True


_FORMS = {
    Form.INTEGER: _is_integer,
    Form.NUMBER: _is_number,
    Form.FLAG: _is_flag,
    Form.CHOICE: _is_choice,
    Form.LIST: _is_list,
    Form.PATH: _is_anything,
    Form.TEXT: _is_anything,
}


def _within(domain: Domain, number: float) -> bool:
    low = domain.at_least is None or number >= domain.at_least
    return low and (domain.at_most is None or number <= domain.at_most)


def _among(value: str, words: tuple[str, ...], ignores_case: bool) -> bool:
    if ignores_case:
        return value.casefold() in {word.casefold() for word in words}
    return value in words
