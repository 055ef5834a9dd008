"""The configuration files that lie beside a log: what started the job is often kept where it wrote."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from stat import S_ISFIFO

from nccl_logscan.errors import InputError
from nccl_logscan.sources.ends import raised
from nccl_logscan.sources.files import STDIN, file_blocks
from nccl_logscan.sources.kind import CONFIG_SUFFIXES, Kind, kind_of
from nccl_logscan.sources.limits import Limits
from nccl_logscan.sources.line_source import LineSource
from nccl_logscan.sources.natural import natural
from nccl_logscan.sources.own_reports import is_own_report
from nccl_logscan.sources.source import DEFAULTS, Source, reason_of
from nccl_logscan.sources.urls import is_url

_ENTRIES = 2_000
_HEAD = 8_192
_NAMES = frozenset({".env", ".deepspeed_env", "dockerfile", "containerfile", "makefile"})


def given_configs(paths: Sequence[str], *, limits: Limits = DEFAULTS) -> list[Source]:
    """Return the configuration files that the user names, each once, in the order given.

    Raises InputError if one has no name, is missing, is no file, or cannot be read.
    """
    found: dict[tuple[int, int], Source] = {}
    for given in paths:
        if not given:
            raise InputError("the name of a configuration file is empty", hint="is a variable not set?")
        path = Path(given)
        try:
            state = path.stat()
            if not S_ISFIFO(state.st_mode):
                # Opened once without being read, a pipe would have lost its writer.
                with path.open("rb"):
                    pass
        except (OSError, ValueError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else "it is no path"
            raise InputError(
                f"{given} cannot be read: {reason}", hint="name a script or configuration file of the job with --config"
            ) from error
        identity = state.st_dev, state.st_ino
        found.setdefault(identity, _source(path, given, state.st_size, limits))
    return list(found.values())


def configs_beside(
    logs: Sequence[str], known: Iterable[LineSource], *, limits: Limits = DEFAULTS, notes: list[str] | None = None
) -> list[Source]:
    """Return configuration files that lie in the folders of the logs given as files, in the order of their names.

    At most `limits.configs` plain files of `limits.config_bytes` together, so that a folder full of them costs no more
    than one large one; no link is followed and no folder entered, so nothing outside of the log's own folder is read.
    Files that are inputs already (`known`) are passed over. Which limit left files out is added to `notes`.
    """
    names = {os.path.realpath(source.name) for source in known}
    local = [given for given in logs if given != STDIN and not is_url(given)]
    folders = dict.fromkeys(str(Path(given).parent) for given in local if Path(given).is_file())
    found: list[Source] = []
    reached: list[str] = []
    left = limits.config_bytes
    for folder in folders:
        for path, size in _config_files(Path(folder), limits):
            if os.path.realpath(path) in names:
                continue
            if size <= left and len(found) < limits.configs:
                found.append(_source(path, str(path), size, limits))
                left -= size
            else:
                reached.append("configs" if len(found) == limits.configs else "config_bytes")
    if reached and notes is not None:
        notes.append(f"{len(reached)} configuration files beside the logs were not looked at ({raised(reached[0])})")
    return found


def _config_files(folder: Path, limits: Limits) -> Iterator[tuple[Path, int]]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, _ENTRIES) if _may_be_config(entry, limits)]
    except OSError:
        return
    for name in sorted(names, key=natural):
        path = folder / name
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD)
            size = path.stat().st_size
        except OSError:
            continue
        if name.lower() in _NAMES or (kind_of(head, name) is Kind.CONFIG and not is_own_report(path)):
            yield path, size


def _may_be_config(entry: os.DirEntry[str], limits: Limits) -> bool:
    name = entry.name.lower()
    named = name in _NAMES or (not name.startswith(".") and os.path.splitext(name)[1] in CONFIG_SUFFIXES)  # noqa: PTH122 - a name, not a path
    try:
        return (
            named
            and entry.is_file(follow_symlinks=False)
            and 0 < entry.stat(follow_symlinks=False).st_size <= limits.config_bytes
        )
    except OSError:
        return False


def _source(path: Path, name: str, size: int, limits: Limits) -> Source:
    return Source(name, file_blocks(path), limits=limits, size=size, kind=Kind.CONFIG)
