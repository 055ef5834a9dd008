"""Is the same thing set twice, with two values?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Form
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.edits import removed
from nccl_logscan.lint.job import Job
from nccl_logscan.lint.made import Made
from nccl_logscan.lint.marking import remark
from nccl_logscan.lint.model import Check, Remark, Severity
from nccl_logscan.lint.values import shown

# Of two lines between which one of these stands, only one may run.
_BRANCH = deferred(
    rb"(?m)^[ \t]*(?:if|then|elif|else|fi|case|esac|for|while|until|do|done|function|return|exit|exec|def|class|try"
    rb"|except|with|FROM)\b|;;|\(\)|^[ \t]*[})]|^---|&&|\|\||\bif\b"
)
# In what order a second value counts: NCCL keeps what is set (setenv with overwrite 0, src/misc/param.cc).
_FIRST_WINS = frozenset({Form.NCCL_CONF})
_ORDERED = frozenset({Form.EXPORT, Form.DOCKER_ENV, Form.ENV_FILE, Form.NCCL_CONF, Form.PYTHON_ENVIRON})
_SOURCE = {
    Form.NCCL_CONF: "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/misc/param.cc",
    Form.DOCKER_ENV: "https://docs.docker.com/reference/dockerfile/#env",
}
_SHELL_SOURCE = "https://www.gnu.org/software/bash/manual/bash.html#Shell-Parameters"


def check_duplicates(job: Job) -> Iterator[Remark]:
    """Yield a remark for each variable that is set again to another value, where it can be told which one counts."""
    for name, all_made in job.by_name.items():
        variable = job.catalogue.variable(name)
        if variable is None or not variable.verified or len(all_made) < 2:
            continue
        given = [made for made in all_made if made.placed.kind is Kind.ENV and made.placed.value is not None]
        yield from _within_files(given, job)
        yield from _across_files(given)


def _within_files(given: Sequence[Made], job: Job) -> Iterator[Remark]:
    for first, second in pairwise(given):
        if (
            first.config is second.config
            and first.placed.value != second.placed.value
            and _replaces(first, second, job)
        ):
            yield _loses(*((second, first) if first.placed.form in _FIRST_WINS else (first, second)))


def _replaces(first: Made, second: Made, job: Job) -> bool:
    """Whether the second setting surely runs where the first did, with nothing in between that uses the first."""
    form, config = first.placed.form, first.config
    if form is not second.placed.form or form not in _ORDERED or config is None or job.uses(first):
        return False
    between = config.data[first.placed.span.start : second.placed.span.end]
    launches = config.launches
    after = bisect_left(launches, first.placed.span.end, key=lambda launch: launch.span.start)
    launched = after < len(launches) and launches[after].span.start < second.placed.span.start
    return not launched and _begins_line(first) and _begins_line(second) and not _BRANCH.search(between)


def _begins_line(made: Made) -> bool:
    """Whether nothing stands before the setting, no indentation either: then it is part of no branch or function."""
    assert made.config is not None
    line = made.config.data[made.placed.at.offset : made.placed.span.start]
    return line in {b"", b"\xef\xbb\xbf", b"export ", b"ENV "}


def _loses(loser: Made, winner: Made) -> Remark:
    name, form = loser.placed.name, loser.placed.form
    problem = f"{name} is {shown(loser.placed.value or '')} here and {shown(winner.placed.value or '')} in line "
    problem += f"{winner.placed.at.line}, which is the one that counts"
    advice = "keep one of the two"
    source = _SOURCE.get(form, _SHELL_SOURCE)
    return remark(loser, Check.CONTRADICTION, Severity.WARNING, problem, advice, source, fix=removed(loser))


def _across_files(given: Sequence[Made]) -> Iterator[Remark]:
    """Say of the first setting in each further file that an earlier file sets another value."""
    seen: dict[str, Made] = {}
    for made in given:
        seen.setdefault(made.placed.at.source, made)
    for first, other in product(list(seen.values())[:1], list(seen.values())[1:]):
        if other.placed.value == first.placed.value:
            continue
        name = other.placed.name
        problem = f"{name} is {shown(other.placed.value or '')} here and {shown(first.placed.value or '')} in "
        problem += f"{first.placed.at}: which one counts depends on what is started by what"
        advice = "set it in one place"
        yield remark(
            other,
            Check.CONTRADICTION,
            Severity.NOTE,
            problem,
            advice,
            _SHELL_SOURCE,
            tells=f"tr '\\0' '\\n' < /proc/PID/environ | grep ^{name}=",
        )
