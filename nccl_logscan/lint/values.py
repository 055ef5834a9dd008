"""Is this a value that the variable or key takes?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from nccl_logscan.catalogue.domain import in_words, read_as, takes, whole_number
from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.catalogue.model import Domain, Form, Kind, Option, Parser, Reader
from nccl_logscan.configs import model as configs
from nccl_logscan.configs.edit import Edit
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.edits import changed
from nccl_logscan.lint.job import Job
from nccl_logscan.lint.made import SHORT, Made
from nccl_logscan.lint.marking import remark
from nccl_logscan.lint.model import Check, Remark, Severity

_AMOUNT = deferred(r"(\d{1,15}) ?([A-Za-z]{1,7})")
_TEMPLATE = deferred(r"\$[{(A-Za-z_]|\{\{|<[A-Za-z_ -]+>|@[A-Za-z_]+@|%\([A-Za-z_]+\)")
_NAME = deferred(r"_{0,2}[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+_{0,2}")
# Without an underscore, which the names of what is to be filled in have: your_tasks_per_node.
_WORD = deferred(r"(?!your|my)[A-Za-z][A-Za-z -]{0,40}", re.IGNORECASE)
# What stands for no value, or for one that is found out, in one framework or another.
_NEUTRAL = frozenset({"none", "null", "auto", "inf", "infinity", "nan", "max", "unlimited", "default", "true", "false"})
# argparse's int and float take no word for "no value".
_ARGPARSE = frozenset({"pytorch", "accelerate", "deepspeed", "megatron-lm"})
_FLOATS = frozenset({"inf", "infinity", "nan", "true", "false"})
_YES, _NO = frozenset({"true", "yes", "on", "y", "t"}), frozenset({"false", "no", "off", "n", "f"})
_BYTES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SECONDS = {"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "m": 60, "min": 60, "mins": 60, "minute": 60}
_SECONDS |= {"minutes": 60, "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600}
_UNIT = {"milliseconds": 1000.0, "seconds": 1.0, "minutes": 1 / 60}
_DURATION = "timedelta"
_ENDS_PROGRAM = frozenset({Parser.STOI, Parser.TORCH_BOOL})


def check_values(job: Job) -> Iterator[Remark]:
    """Yield a remark for each value that is an error, or is silently read as something else."""
    for made in job.made:
        placed = made.placed
        if placed.value is None or not made.is_given:
            continue
        variable = job.catalogue.variable(placed.name) if placed.kind is Kind.ENV else None
        if variable is None or variable.reader is Reader.OTHER:
            found = _of_option(made, placed.value, job)
        elif variable.verified and variable.reader is not Reader.NOBODY:
            # Files repeat each other: what was asked of a short value once is not asked again.
            if len(placed.value) <= SHORT and _fits_variable(placed.name, placed.value):
                continue
            found = _judged(made, placed.value, variable.domain, variable.source)
        else:
            continue
        if found:
            yield found


def _of_option(made: Made, value: str, job: Job) -> Remark | None:
    # A name is of several frameworks, or of several versions: wrong is what all of them refuse.
    found = [_of_call(made, value, option) for option in job.covering(made)]
    return found[0] if found and all(found) else None


def _of_call(made: Made, value: str, option: Option) -> Remark | None:
    if option.domain.unit != _DURATION or made.placed.scalar not in {"integer", "number"}:
        return _judged(made, value, option.domain, option.source)
    problem = f"{made.placed.name} takes a datetime.timedelta, not the number {shown(value)}: the call raises"
    advice = f"write timedelta(seconds={value}), if seconds were meant"
    return remark(made, Check.BAD_VALUE, Severity.ERROR, problem, advice, option.source, marks_value=True)


def _judged(made: Made, value: str, domain: Domain, source: str) -> Remark | None:
    if _fits(value, domain) and not _is_of_another_kind(made, value, domain):
        return None
    right = right_value(value, domain)
    wanted = in_words(domain) or "a value of another form"
    problem = f"{made.placed.name} takes {wanted}, not {shown(value)}{_consequence(value, domain)}"
    advice = f"write {right}" if right is not None else f"give it {wanted}"
    fix = _written(made, right, domain) if right is not None else ()
    # Most switches are asked whether they are 0 (net_ib.cc: ncclParamIbSplitDataOnQps() ? …), so that 2 counts as 1.
    is_switched_on = domain.form is Form.FLAG and domain.parser is Parser.STRTOLL and whole_number(domain, value)
    severity = Severity.NOTE if is_switched_on else Severity.ERROR
    return remark(made, Check.BAD_VALUE, severity, problem, advice, source, fix=fix, marks_value=True)


@lru_cache(16_384)
def _fits_variable(name: str, value: str) -> bool:
    variable = catalogue().variable(name)
    return variable is not None and _fits(value, variable.domain)


def _fits(value: str, domain: Domain) -> bool:
    may_judge = domain.strict or _is_with_unit(value, domain)
    return not may_judge or takes(domain, value) or _is_placeholder(value, domain)


def _is_with_unit(value: str, domain: Domain) -> bool:
    """Whether a unit of time is written out (10m, 30 min) where a number alone is read."""
    amount = _AMOUNT.fullmatch(value.strip())
    is_time = domain.unit in _UNIT and domain.form in {Form.INTEGER, Form.NUMBER}
    return is_time and amount is not None and amount[2].lower() in _SECONDS


def _is_of_another_kind(made: Made, value: str, domain: Domain) -> bool:
    """Whether words stand where int() or float() reads a number, or a typed key has true or false."""
    text = value.strip()
    if not text or made.placed.kind in {Kind.ENV, Kind.HOST_COMMAND}:
        return False
    is_parsed = made.placed.form is configs.Form.FLAG and made.placed.framework in _ARGPARSE
    if text.lower() in (_FLOATS if is_parsed else _NEUTRAL):
        return False
    if domain.form in {Form.INTEGER, Form.NUMBER}:
        return _WORD.fullmatch(text) is not None
    is_switch = domain.form is Form.CHOICE and {choice.lower() for choice in domain.choices} == {"true", "false"}
    # A switch of a command line takes no value, and the word behind it may be another argument.
    is_typed = made.placed.form in {configs.Form.MAPPING, configs.Form.OVERRIDE, configs.Form.PYTHON_KWARG}
    return is_switch and is_typed and _WORD.fullmatch(text) is not None and text.lower() not in _YES | _NO


def _is_placeholder(value: str, domain: Domain) -> bool:
    """Whether something else fills the value in later: ${NVLINK}, {{ stage }}, <stage>, CONFIG_ZERO_STAGE."""
    names_are_values = any("_" in choice for choice in (*domain.choices, *domain.special))
    return _TEMPLATE.search(value) is not None or (_NAME.fullmatch(value) is not None and not names_are_values)


def _written(made: Made, right: str, domain: Domain) -> tuple[Edit, ...]:
    """Return the edit that writes the right value; a number in the place of a text loses the text's quotes."""
    span = made.placed.value_span
    is_number = domain.form in {Form.INTEGER, Form.NUMBER} and made.placed.kind is not Kind.ENV
    if span and is_number and made.placed.form is configs.Form.MAPPING and made.placed.scalar == "text":
        return (Edit(span.start, span.end, right.encode()),)
    return changed(made, right)


def shown(value: str) -> str:
    """Return a value as a sentence shows it: quoted, and cut where it is long."""
    return f'"{value}"' if len(value) <= 40 else f'"{value[:39]}…"'


def _consequence(value: str, domain: Domain) -> str:
    """Say what its reader makes of the value."""
    if domain.parser is Parser.NCCL_BOOL:
        return ": the default stays"
    taken = read_as(domain, value)
    if taken is not None and taken != value.strip().lstrip("+"):
        return f", which is read as {taken}"
    return ": the program stops at it" if taken is None and domain.parser in _ENDS_PROGRAM else ""


def right_value(value: str, domain: Domain) -> str | None:
    """Return the value that was meant, where there is no doubt: 4M → 4194304, true → 1, 30m → 1800."""
    text = value.strip()
    meant = _meant(text, domain)
    return meant if meant is not None and meant != value and takes(domain, meant) else None


def _meant(text: str, domain: Domain) -> str | None:
    if takes(domain, text):
        return text
    same = [choice for choice in domain.choices if choice.casefold() == text.casefold()]
    if same:
        return same[0]
    if domain.form is Form.FLAG:
        return "1" if text.lower() in _YES else "0" if text.lower() in _NO else None
    amount = _AMOUNT.fullmatch(text)
    if domain.form not in {Form.INTEGER, Form.NUMBER} or domain.unit is None or not amount:
        return None
    return _amount(int(amount[1]), amount[2].lower(), domain.unit)


def _amount(number: int, letters: str, unit: str) -> str | None:
    """Return an amount in the unit that is read, if it is a whole number of it."""
    if unit == "bytes":
        factor = _BYTES.get(letters.removesuffix("b").removesuffix("i"))
        return str(number * factor) if factor else None
    per_second = _UNIT.get(unit, 0)
    seconds = number / 1000 if letters in {"ms", "msec"} else float(number * _SECONDS.get(letters, 0))
    wanted = round(seconds * per_second, 6)
    return str(int(wanted)) if wanted and wanted == int(wanted) else None
