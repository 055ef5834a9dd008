"""Is this a value that the variable or key takes?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nccl_logscan.catalogue.model import Domain, Form, Kind, Reader, Variable
from nccl_logscan.configs import model as configs
from nccl_logscan.lint.job import Job, Made, changed, remark
from nccl_logscan.lint.model import Check, Remark, Severity

_WHOLE = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|\d+)")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_AMOUNT = re.compile(r"(\d{1,15}) ?([A-Za-z]{1,7})")
_YES, _NO = frozenset({"true", "yes", "on", "y", "t"}), frozenset({"false", "no", "off", "n", "f"})
# PyTorch's getCvarBool takes these, in any case, and throws on others (torch/csrc/distributed/c10d/Utils.hpp).
_TORCH_FLAGS = frozenset({"y", "yes", "1", "t", "true", "n", "no", "0", "f", "false"})
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SECONDS = {"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "m": 60, "min": 60, "mins": 60, "minute": 60}
_SECONDS |= {"minutes": 60, "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600}
_UNIT = {"milliseconds": 1000.0, "seconds": 1.0, "minutes": 1 / 60}


def check_values(job: Job) -> Iterator[Remark]:
    """Yield a remark for each value that is an error, or is silently read as something else."""
    for made in job.made:
        placed = made.placed
        if placed.value is None or not made.is_given:
            continue
        if placed.kind is Kind.ENV:
            found = _of_variable(made, placed.value, job)
        else:
            found = _of_option(made, placed.value, job)
        if found:
            yield found


def _of_variable(made: Made, value: str, job: Job) -> Remark | None:
    variable = job.catalogue.variable(made.placed.name)
    if variable is None:
        return _of_option(made, value, job)
    if not variable.verified or variable.reader is Reader.NOBODY:
        return None
    wrong = _wrong(value, variable.domain, variable.reader)
    return _bad(made, value, wrong, variable.domain, variable.source, _consequence(value, variable)) if wrong else None


def _of_option(made: Made, value: str, job: Job) -> Remark | None:
    options = [option for option in job.catalogue.options_called(made.placed.name, made.placed.framework)]
    if not options or any(not option.verified or option.kind is not made.placed.kind for option in options):
        return None
    wrong = [_wrong(value, option.domain, None) for option in options]
    # A flag of one name is of several frameworks: it is wrong only where all of them refuse the value.
    if not all(wrong):
        return None
    return _bad(made, value, wrong[0] or "", options[0].domain, options[0].source, None)


def _bad(made: Made, value: str, wrong: str, domain: Domain, source: str, consequence: str | None) -> Remark:
    right = _right(value, domain)
    problem = f"{made.placed.name} takes {wrong}, not {shown(value)}" + (f": {consequence}" if consequence else "")
    advice = f"write {right}" if right is not None else f"write {wrong}"
    fix = changed(made, right) if right is not None else ()
    return remark(
        made, Check.BAD_VALUE, Severity.ERROR, problem, advice, source, fix=fix, marks_value=made.placed.form is not configs.Form.LOGGED
    )


def shown(value: str) -> str:
    """Return a value as a sentence shows it: quoted, and cut where it is long."""
    return f'"{value}"' if len(value) <= 40 else f'"{value[:39]}…"'


def _wrong(value: str, domain: Domain, reader: Reader | None) -> str | None:
    """Return what the domain takes, where it does not take the value."""
    text = value.strip()
    if not domain.strict or text in domain.special or (not text and domain.form is not Form.INTEGER):
        return None
    if domain.form is Form.FLAG:
        return _wrong_flag(text, domain, reader)
    if domain.form is Form.CHOICE:
        return None if _is_choice(text, domain) else _one_of(domain.choices)
    if domain.form is Form.LIST:
        members = [member.strip() for member in text.split(",")]
        is_right = not domain.choices or all(_is_choice(member, domain) for member in members if member)
        return None if is_right else f"a list of {_one_of(domain.choices)}"
    if domain.form in {Form.INTEGER, Form.NUMBER}:
        return _wrong_number(text, domain)
    return None


def _wrong_flag(text: str, domain: Domain, reader: Reader | None) -> str | None:
    taken = domain.choices or ("0", "1")
    is_right = _is_choice(text, domain) or text in taken or (reader is Reader.TORCH and text.lower() in _TORCH_FLAGS)
    return None if is_right or not text else _one_of(taken)


def _wrong_number(text: str, domain: Domain) -> str | None:
    if not text:
        return None
    expression = _WHOLE if domain.form is Form.INTEGER else _NUMBER
    unit = f" of {domain.unit}" if domain.unit else ""
    kind = f"{'a whole number' if domain.form is Form.INTEGER else 'a number'}{unit}"
    if not expression.fullmatch(text):
        return f"{kind}{_bounds(domain)}"
    number = float(int(text, 0)) if _is_hexadecimal(text) else float(text[:300])
    is_low = domain.at_least is not None and number < domain.at_least
    is_high = domain.at_most is not None and number > domain.at_most
    return f"{kind}{_bounds(domain)}" if is_low or is_high else None


def _is_hexadecimal(text: str) -> bool:
    return "x" in text[:3].lower() and len(text) < 40


def _bounds(domain: Domain) -> str:
    if domain.at_least is not None and domain.at_most is not None:
        return f" from {domain.at_least:g} to {domain.at_most:g}"
    if domain.at_least is not None:
        return f" from {domain.at_least:g} on"
    return f" up to {domain.at_most:g}" if domain.at_most is not None else ""


def _is_choice(text: str, domain: Domain) -> bool:
    if domain.ignores_case:
        return text.lower() in {choice.lower() for choice in domain.choices}
    return text in domain.choices


def _one_of(choices: tuple[str, ...]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def _consequence(value: str, variable: Variable) -> str | None:
    """Say what NCCL makes of a text where it expects a number."""
    reader, domain = variable.reader, variable.domain
    if reader is not Reader.NCCL or domain.form not in {Form.INTEGER, Form.FLAG}:
        return None
    # NCCL_PARAM reads with strtoll(.., 0), which stops at the first letter and then gives what it has, or 0
    # (src/misc/param.cc, 2.30.7).
    digits = re.match(r"[+-]?\d+", value.strip())
    if digits and digits[0] == value.strip():
        return None
    return f"NCCL stops at the first letter and takes it for {int(digits[0][:19]) if digits else 0}"


def _right(value: str, domain: Domain) -> str | None:
    """Return the value that was meant, where there is no doubt: 4M → 4194304, true → 1, 30m → 1800."""
    text = value.strip()
    if domain.form is Form.FLAG and not domain.choices:
        return "1" if text.lower() in _YES else "0" if text.lower() in _NO else None
    if domain.form is Form.CHOICE or domain.form is Form.FLAG:
        return next((choice for choice in domain.choices if choice.lower() == text.lower()), None)
    if domain.form is not Form.INTEGER or domain.unit is None or not (amount := _AMOUNT.fullmatch(text)):
        return None
    number = _amount(int(amount[1]), amount[2].lower(), domain.unit)
    return number if number is not None and not _wrong(number, domain, None) else None


def _amount(number: int, letters: str, unit: str) -> str | None:
    if unit == "bytes":
        factor = _BYTES.get(letters.removesuffix("b").removesuffix("i"))
        return str(number * factor) if factor else None
    seconds, per_second = _SECONDS.get(letters), _UNIT.get(unit)
    if letters in {"ms", "msec"}:
        wanted = number * (per_second or 0) / 1000
    else:
        wanted = number * (seconds or 0) * (per_second or 0)
    return str(int(wanted)) if wanted and wanted == int(wanted) else None
