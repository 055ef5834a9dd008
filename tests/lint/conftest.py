from collections.abc import Callable
from itertools import count

import pytest

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import applied
from nccl_logscan.configs.model import Form, Placed
from nccl_logscan.configs.read import read_text
from nccl_logscan.lint.model import Check, Remark, Severity, Versions
from nccl_logscan.lint.run import lint
from nccl_logscan.position import Position, Span


def _linted(files, nccl=None, torch=None, **frameworks) -> tuple[Remark, ...]:
    configs = [read_text(name, text.encode() if isinstance(text, str) else text) for name, text in files.items()]
    assert all(configs), f"not all of {list(files)} is of a kind that is known"
    return lint(configs, Versions(nccl, torch, frameworks))


@pytest.fixture
def lint_files() -> Callable[..., tuple[Remark, ...]]:
    """Lint {name: text} as one job."""
    return _linted


@pytest.fixture
def lint_script() -> Callable[..., tuple[Remark, ...]]:
    """Lint a shell script."""

    def linted(*lines: str, **versions: str) -> tuple[Remark, ...]:
        return _linted({"run.sh": "#!/bin/bash\n" + "\n".join(lines) + "\n"}, **versions)

    return linted


@pytest.fixture
def mend() -> Callable[..., str]:
    """Lint one file and return it with its fixes made."""

    def mended(name: str, text: str, **versions: str) -> str:
        remarks = _linted({name: text}, **versions)
        return applied(text.encode(), [edit for remark in remarks for edit in remark.fix]).decode()

    return mended


@pytest.fixture
def said() -> Callable[..., list[tuple[str, Check]]]:
    """Return (name, check) of the remarks that change the exit code, or of all."""

    def named(remarks: tuple[Remark, ...], *, notes: bool = False) -> list[tuple[str, Check]]:
        return [(remark.name, remark.check) for remark in remarks if notes or remark.severity is not Severity.NOTE]

    return named


@pytest.fixture
def logged() -> Callable[[str, str], Placed]:
    """Return a variable as a log shows it; each on a line further down."""
    lines = count(1)

    def placed(name: str, value: str) -> Placed:
        at = Position("rank-0.log", next(lines), 0)
        return Placed(name, value, Kind.ENV, Form.LOGGED, at, 30, Span(29, 29 + len(name)))

    return placed
