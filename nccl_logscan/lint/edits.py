"""The edits that mend a setting, each proved by its file's syntax."""

from __future__ import annotations

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.edit import Edit
from nccl_logscan.configs.model import Config
from nccl_logscan.configs.syntax import Syntax
from nccl_logscan.lint.made import Made


def changed(made: Made, value: str) -> tuple[Edit, ...]:
    """Return the edits that give the setting another value; () where none is safe."""
    edit = _syntax_edit(made, value)
    return (edit,) if edit else ()


def removed(made: Made) -> tuple[Edit, ...]:
    """Return the edits that take the setting out; () where none is safe."""
    edit = _syntax_edit(made, None)
    return (edit,) if edit else ()


def added(made: Made) -> tuple[Edit, ...]:
    """Return the edits that set a variable where the job's processes get it; () where the file has no such place."""
    config, value = made.config, made.placed.value
    if config is None or value is None or not made.budget.allows(len(config.data)):
        return ()
    edit = _syntax_of(config).add(config, Kind.ENV, made.placed.name, value)
    return (edit,) if edit else ()


def _syntax_edit(made: Made, value: str | None) -> Edit | None:
    if made.config is None or not made.budget.allows(len(made.config.data)):
        return None
    syntax = _syntax_of(made.config)
    return syntax.remove(made.config, made.placed) if value is None else syntax.change(made.config, made.placed, value)


def _syntax_of(config: Config) -> Syntax:
    from nccl_logscan.configs.read import syntax_named  # noqa: PLC0415 - a log's settings need no syntax

    return syntax_named(config.syntax)
