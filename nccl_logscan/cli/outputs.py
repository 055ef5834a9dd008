"""Where the reports of a scan go and in which form each: settled and checked before a line is read, written after."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nccl_logscan.errors import OutputError, UsageError
from nccl_logscan.report.forms import FORMS, form_of, render
from nccl_logscan.report.view import ReportView
from nccl_logscan.report.visible import visible
from nccl_logscan.report.write import descriptor_of, write_atomically
from nccl_logscan.sources import STDIN, is_url, shown
from nccl_logscan.sources.own_reports import is_own_report
from nccl_logscan.sources.places import is_among, is_one_of
from nccl_logscan.sources.source import reason_of

_FOLDER = "reports"
_USUAL = "html"
_ELSEWHERE = "choose another place with --output"
_STDOUT = 1
_STEM = 200
"""Bytes of a report's name before its suffix: a file system takes 255, and the part that is written some more."""


class Output(NamedTuple):
    """A report to be written. `place`: None for standard output. `is_named`: the user named the place."""

    form: str
    place: Path | None
    is_named: bool = True


def outputs_of(names: Sequence[str], forms: Sequence[str], inputs: Sequence[str], log: str) -> tuple[Output, ...]:
    """Return the reports that a command line asks for: `names` of `--output`, `forms` of `--format`.

    A form goes to the one place that is named, or to those whose names ask for none, in order; without a place each
    goes to its own file in `reports`, named after the log.

    Raises UsageError where two would be written to one place, one over an input, a form has no place or a name is
    empty; OutputError where a folder is missing.
    """
    if not all(names):
        raise _refused("--output", "the name is empty; is a variable not set?")
    if names:
        outputs = tuple(Output(form, None if _is_stdout(name) else Path(name)) for name, form in _dealt(names, forms))
    else:
        outputs = tuple(_usual(form, log) for form in dict.fromkeys(forms or (_USUAL,)))
    for output in outputs:
        if output.place is not None:
            _must_be_writable(output.place, inputs, makes_folder=not output.is_named)
    for at, name in enumerate(names):
        for other in names[:at]:
            if _is_same_place(name, other):
                raise _refused("--output", f"{other} and {name} are one place; give each report its own")
    return outputs


def written(view: ReportView, outputs: Sequence[Output], inputs: Sequence[str]) -> tuple[list[str], list[Exception]]:
    """Write the reports that go to files, each whole or not at all; return the places, and what stood in the way.

    None takes the place of a file that the scan has read (`inputs`), such as a script beside a log. A defect of one
    form is returned as well: it costs none of the others.
    """
    places: list[str] = []
    problems: list[Exception] = []
    for form, place, is_named in outputs:
        if place is None:
            continue
        try:
            if is_one_of(inputs, place):
                raise OutputError(f"{place} was read by this scan; it is left as it is", hint=_ELSEWHERE)
            if not is_named:
                _make_folder(place.parent)
            write_atomically(place, render(view, form))
            places.append(str(place))
        except Exception as problem:  # noqa: BLE001 - `raise_all` raises it, once all else is written
            problems.append(problem)
    return places, problems


def raise_all(problems: Sequence[Exception]) -> None:
    """Raise OutputError with what stood in the way of each report, if anything did; a defect as it is."""
    for problem in problems:
        if not isinstance(problem, OutputError):
            raise problem
    if problems:
        hint = next((problem.hint for problem in problems if isinstance(problem, OutputError) and problem.hint), None)
        raise OutputError("; ".join(str(problem) for problem in problems), hint=hint) from problems[0]


def _is_stdout(name: str) -> bool:
    return name == STDIN or descriptor_of(name) == _STDOUT


def _usual(form: str, log: str) -> Output:
    return Output(form, Path(_FOLDER, _stem(log) + FORMS[form].suffix), is_named=False)


def _dealt(names: Sequence[str], forms: Sequence[str]) -> list[tuple[str, str]]:
    if len(names) == len(forms) == 1:
        return [(names[0], forms[0])]
    left = list(forms)
    dealt = [(name, form_of(name) or (left.pop(0) if left else _USUAL)) for name in names]
    unused = [form for form in left if form not in {form for _, form in dealt}]
    if unused:
        raise _refused("--format", f"no --output is left for {unused[0]}: each is of another form by its name")
    return dealt


def _is_same_place(one: str, other: str) -> bool:
    """Whether two names of `--output` mean one file, or both standard output."""
    if _is_stdout(one) or _is_stdout(other):
        return _is_stdout(one) and _is_stdout(other)
    return os.path.realpath(one) == os.path.realpath(other) or is_one_of([other], Path(one))


def _must_be_writable(place: Path, inputs: Sequence[str], *, makes_folder: bool) -> None:
    """What is in the way of a report is told before an hour of reading, not after it."""
    if is_one_of(inputs, place) or (is_among(inputs, place) and not is_own_report(place)):
        raise _refused("--output", f"{place} is one of the inputs; the report would replace it")
    if makes_folder:
        return
    if not place.parent.is_dir():
        raise OutputError(
            f"cannot write the report to {place}: there is no folder {place.parent}", hint=f"create it, or {_ELSEWHERE}"
        )
    if place.is_dir():
        raise OutputError(
            f"cannot write the report to {place}: it is a folder", hint=f"name a file in it, or {_ELSEWHERE}"
        )
    if not os.access(place if place.exists() else place.parent, os.W_OK):
        raise OutputError(f"cannot write the report to {place}: you may not write there", hint=_ELSEWHERE)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"cannot make the folder {folder} here: {reason_of(error)}", hint="choose a place with --output PATH"
        ) from error


def _refused(option: str, why: str) -> UsageError:
    return UsageError(f"invalid value for {option}: {why}", hint="nccl-logscan scan --help shows what it takes")


def _stem(log: str) -> str:
    """logs/trainer.log.gz → trainer; - → stdin."""
    if log == STDIN:
        return "stdin"
    name = Path(log).resolve().name if log in {".", ".."} else Path(shown(log) if is_url(log) else log).name
    plain = name.split(".", maxsplit=1)[0]
    safe = "".join(letter if _is_plain(letter) else "_" for letter in plain)
    return safe.encode()[:_STEM].decode(errors="ignore") or "report"


def _is_plain(letter: str) -> bool:
    return letter in "-_" or (letter.isalnum() and visible(letter) == letter)
