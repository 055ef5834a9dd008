"""The reading of a whole script."""

from __future__ import annotations

from nccl_logscan.configs.frameworks import framework_of_flags
from nccl_logscan.configs.model import Config, LineIndex
from nccl_logscan.configs.shell.directives import take_directives
from nccl_logscan.configs.shell.launchers import invoke
from nccl_logscan.configs.shell.program_args import take_arguments
from nccl_logscan.configs.shell.script import Script


def read_script(name: str, data: bytes) -> Config:
    """Return what a shell script sets and starts; the file is not run, and nothing that it names is read."""
    script = collected(name, data)
    return Config(
        name=name,
        syntax="shell",
        data=data,
        settings=tuple(script.settings),
        launches=tuple(script.launches),
        pins=script.pins,
        faults=tuple(script.faults),
    )


def collected(name: str, data: bytes) -> Script:
    """Return a script with all that it says, its commands too."""
    script = Script(name, data, LineIndex(data), invoke, take_directives)
    script.read()
    for words in script.unused_options():
        framework = script.framework or framework_of_flags(word.text for word in words)
        take_arguments(script, words, None, framework)
    script.finish()
    return script
