"""The kinds of configuration file, and the reading of one.

A Syntax costs nothing until a file is read in it: what it parses with is imported where it is used.
"""

from __future__ import annotations

from pathlib import Path

from nccl_logscan.configs.dockerfile.syntax import Dockerfile
from nccl_logscan.configs.env_file import EnvFile
from nccl_logscan.configs.mappings.json import Json
from nccl_logscan.configs.mappings.toml import Toml
from nccl_logscan.configs.mappings.yaml import Yaml
from nccl_logscan.configs.model import Config
from nccl_logscan.configs.nccl_conf import NcclConf
from nccl_logscan.configs.python.syntax import Python
from nccl_logscan.configs.shell.syntax import Shell
from nccl_logscan.configs.syntax import Syntax
from nccl_logscan.errors import InputError

SYNTAXES: tuple[Syntax, ...] = (NcclConf(), EnvFile(), Yaml(), Json(), Toml(), Python(), Dockerfile(), Shell())
"""Every syntax, in the order in which they are asked whether a file is theirs: shell, which also claims by content,
last.
"""

SIZE_LIMIT = 8 << 20
"""The largest file that `read_config` takes, in bytes: a larger one is no configuration."""

_UTF16_MARKS = frozenset({b"\xff\xfe", b"\xfe\xff"})
_UTF16 = "is UTF-16 text, which neither shells nor loaders of configurations read: nothing in it was looked at"
_HEAD = 4096
"""How many bytes of a file a syntax is shown to know it by."""

KINDS_HINT = "give launch scripts, YAML, JSON, TOML, Python, Dockerfiles, .env files or nccl.conf"
"""What to do where a file is of no kind that is known."""


def read_config(path: str | Path) -> Config:
    """Return the settings and launches of a file; its name is the path as given.

    Raises:
        InputError: it cannot be read, is larger than SIZE_LIMIT, or is of no kind that is known.
    """
    name = str(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(SIZE_LIMIT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot read {name}: {reason.lower()}") from error
    if len(data) > SIZE_LIMIT:
        raise InputError(
            f"{name} is larger than {SIZE_LIMIT >> 20} MiB, so it is no configuration file", hint=KINDS_HINT
        )
    config = read_text(name, data)
    if config is None:
        raise InputError(f"{name} is of no kind of configuration file that is known", hint=KINDS_HINT)
    return config


def read_text(name: str, data: bytes) -> Config | None:
    """Return what `data` sets, read as a file of this name; None where no syntax claims it."""
    syntax = syntax_of(name, data)
    if syntax and is_utf16(data):
        return Config(name, syntax.name, data, (), faults=(_UTF16,))
    return syntax.read(name, data) if syntax else None


def is_utf16(data: bytes) -> bool:
    """Return whether a file looks like UTF-16, with a byte order mark or without."""
    return data[:2] in _UTF16_MARKS or (len(data) > 1 and (data[0] == 0) != (data[1] == 0))


def syntax_of(name: str, data: bytes) -> Syntax | None:
    """Return the syntax that claims a file of this name and content."""
    head = data[:_HEAD]
    return next((syntax for syntax in SYNTAXES if syntax.claims(name, head)), None)


def syntax_named(name: str) -> Syntax:
    """Return the syntax of this name, as a Config names its own."""
    return next(syntax for syntax in SYNTAXES if syntax.name == name)
