"""The configuration files that a command line names: files, folders that are searched, standard input."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO

from nccl_logscan.configs.model import Config
from nccl_logscan.configs.read import KINDS_HINT, SIZE_LIMIT, read_text, syntax_of
from nccl_logscan.errors import InputError
from nccl_logscan.lint.gate import may_speak
from nccl_logscan.records import dataclass, field
from nccl_logscan.sources import STDIN

JOB_LIMIT = 8
"""So many named files are taken for one job's; with more of them (`*.sh`, a commit hook) each is judged by itself."""
_PASSED_OVER = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", "venv", ".tox", ".mypy_cache"})
_PIECE = 256 << 10
_OPEN_FILES = ("/dev/", "/proc/")
"""Where a pipe is one that somebody writes to: `<(command)` of a shell."""


@dataclass
class Files:
    """The files found. `jobs` are those to judge, together what was named together; `skipped` hold no name that a check
    could speak of; `problems` are sentences about files that could not be read. `loose` are files of folders, which are
    not read yet.
    """

    jobs: list[list[Config]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    loose: list[str] = field(default_factory=list)

    @property
    def configs(self) -> tuple[Config, ...]:
        """Every file to judge."""
        return tuple(config for job in self.jobs for config in job)

    def add(self, more: Files) -> None:
        """Add what was found elsewhere, behind what is here."""
        self.jobs += more.jobs
        self.skipped += more.skipped
        self.problems += more.problems

    def with_data(self, changed: Mapping[str, bytes]) -> Files:
        """Return the same files, those read anew of which the bytes have changed."""
        jobs = [[_reread(config, changed.get(config.name)) for config in job] for job in self.jobs]
        return Files(jobs, self.skipped, self.problems)


def find_files(names: Sequence[str], stdin_name: str, stdin: BinaryIO | None) -> Files:
    """Read the files that are named, and list those of folders; one that cannot be read or is of no known kind is a
    problem of the result.
    """
    found, together, seen = Files(), list[Config](), set[str]()
    for name in names:
        if name != STDIN and os.path.isdir(name):  # noqa: PTH112 - a Path raises for a name that is too long
            found.loose += [file for file, real in _files_in(name, found.problems) if _is_first(real, seen)]
        elif name in {STDIN, ""} or _is_first(os.path.realpath(name), seen):
            _add(found, together, *_named(name, stdin_name, stdin, found.problems), is_named=True)
    found.jobs[:] = [together] if len(together) <= JOB_LIMIT else [[config] for config in together]
    found.jobs[:] = filter(None, found.jobs)
    return found


def must_hold_something(found: Files, names: Sequence[str]) -> None:
    """Raise InputError where nothing that is known was found."""
    if not found.jobs and not found.skipped:
        told = found.problems or [f"there is no configuration file in {', '.join(names)}"]
        raise InputError("; ".join(told), hint=KINDS_HINT)


def _add(found: Files, job: list[Config], name: str, data: bytes | None, *, is_named: bool) -> None:
    """Add a file to a job, unless it is of no kind that is known or holds nothing to speak of."""
    if data is None:
        return
    if not may_speak(data):
        if syntax_of(name, data):
            found.skipped.append(name)
        elif is_named:
            found.problems.append(f"{name} is of no kind of configuration file that is known")
        return
    config = read_text(name, data)
    if config is not None:
        job.append(config)
    elif is_named:
        found.problems.append(f"{name} is of no kind of configuration file that is known")


def _named(name: str, stdin_name: str, stdin: BinaryIO | None, problems: list[str]) -> tuple[str, bytes | None]:
    """Return a file's name and bytes; None for those, and a problem, where it cannot be read."""
    if not name:
        problems.append("the name of a file is empty; is a variable not set?")
        return name, None
    try:
        if name == STDIN:
            name = stdin_name
            data = stdin.read(SIZE_LIMIT + 1) if stdin else b""
        else:
            _must_be_no_pipe(name)
            data = _read(name)
    except (OSError, ValueError) as error:
        problems.append(f"cannot read {name}: {(getattr(error, 'strerror', None) or str(error)).lower()}")
        return name, None
    if len(data) > SIZE_LIMIT:
        problems.append(f"{name} is larger than {SIZE_LIMIT >> 20} MiB, so it is no configuration file")
        return name, None
    return name, data


def _must_be_no_pipe(name: str) -> None:
    if stat.S_ISFIFO(os.stat(name).st_mode) and not name.startswith(_OPEN_FILES):  # noqa: PTH116 - as in _files_in
        raise ValueError("it is a pipe; hand it over as standard input")


def _read(name: str) -> bytes:
    """Return a file's bytes, of one that is too long a few more than SIZE_LIMIT."""
    # Unbuffered, and piece by piece: read(SIZE_LIMIT) sets 8 MiB aside for each file.
    with open(name, "rb", buffering=0) as file:  # noqa: PTH123 - a Path a file would cost more than its bytes' check
        data = file.read(_PIECE)
        while len(data) <= SIZE_LIMIT and (more := file.read(_PIECE)):
            data += more
    return data


# --- folders ---------------------------------------------------------------------------------------------------


def examine(names: Sequence[str], found: Files) -> None:
    """Add files, each as a job of its own: what lies in one folder need not belong together."""
    for name in names:
        try:
            data = _read(name)
        except OSError as error:
            found.problems.append(f"cannot read {name}: {(error.strerror or str(error)).lower()}")
            continue
        job: list[Config] = []
        if len(data) <= SIZE_LIMIT:
            _add(found, job, name, data, is_named=False)
        if job:
            found.jobs.append(job)


def _files_in(folder: str, problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the regular files below a folder, sorted, each with its real path.

    Links to folders are not followed: some go in circles. Nor are links to files elsewhere: who lints a folder, or has
    its files mended, means what is in it.
    """
    top = os.path.realpath(folder)
    within = os.path.join(top, "")  # noqa: PTH118 - a Path a file would cost more than its bytes' check
    waiting = [(folder, top)]
    while waiting:
        place, real = waiting.pop()
        try:
            with os.scandir(place) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(f"cannot read {error.filename}: {(error.strerror or str(error)).lower()}")
            continue
        for entry in inside:
            path = os.path.realpath(entry.path) if entry.is_symlink() else _inside(real, entry)
            if path.startswith(within) and _is_file(entry):
                yield entry.path, path
        folders = [entry for entry in inside if entry.name not in _PASSED_OVER and _is_folder(entry)]
        waiting += [(entry.path, _inside(real, entry)) for entry in reversed(folders)]


def _inside(real: str, entry: os.DirEntry[str]) -> str:
    return os.path.join(real, entry.name)  # noqa: PTH118 - a Path a file would cost more than its bytes' check


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_first(real: str, seen: set[str]) -> bool:
    """Whether the file of this real path has not been met yet, under whatever name."""
    if real in seen:
        return False
    seen.add(real)
    return True


def _reread(config: Config, data: bytes | None) -> Config:
    return config if data is None else read_text(config.name, data) or config
