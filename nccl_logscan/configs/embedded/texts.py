"""Texts within a YAML or JSON file that are files of their own: scripts, commands, a Ray runtime_env in a block."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar

from nccl_logscan.configs.embedded.splice import Splice, lines_in, script_in, shell_script, words_in
from nccl_logscan.configs.mappings.tree import Mapping, Node, Scalar, Sequence, resolved
from nccl_logscan.configs.model import Config, LineIndex, Placed
from nccl_logscan.records import dataclass, replace

_SCRIPTS = frozenset(
    {
        "run",
        "setup",
        "script",
        "before_script",
        "after_script",
        "commands",
        "setup_commands",
        "start_commands",
        "head_setup_commands",
        "worker_setup_commands",
        "head_start_ray_commands",
        "worker_start_ray_commands",
        "initialization_commands",
        "postCreateCommand",
        "postStartCommand",
        "onstart",
        "user_data",
        "userData",
        "startup_script",
        # Ansible's modules that run what they are given.
        "shell",
        "ansible.builtin.shell",
        "ansible.builtin.command",
    }
)
_COMMANDS = frozenset(
    {"command", "cmd", "entrypoint", "launch_command", "launcher_command", "launch_cmd", "run_command"}
)
_ARGUMENTS = frozenset({"args", "arguments"})
_FILES = (".sh", ".bash", ".slurm", ".sbatch", ".yaml", ".yml", ".json", ".toml", ".env", ".conf", ".py", "hostfile")
_LONGEST_NAME = 200
_DEEPEST = 3
_DEPTH = ContextVar("depth", default=0)


@dataclass(frozen=True, slots=True)
class Inner:
    """A text of its own, the nodes that it is made of, and a name that tells its syntax.

    `words`: the file writes it as a list of words.
    """

    name: str
    splice: Splice
    nodes: tuple[Node, ...]
    words: bool = False


def sources_in(node: Mapping, data: bytes) -> list[Inner]:
    """Return the texts among the values of a mapping."""
    found = list[Inner]()
    for key, value in node.pairs:
        if not isinstance(key, Scalar):
            continue
        inner = _inner(key.text, resolved(value), value, data)
        if inner:
            found.append(inner)
    if any(isinstance(key, Scalar) and (key.text in _COMMANDS or key.text in _ARGUMENTS) for key, _ in node.pairs):
        found += _command(node, data)
    return found


def _inner(key: str, target: Node, value: Node, data: bytes) -> Inner | None:
    if isinstance(target, Sequence):
        return _made(f"{key}.sh", lines_in(target.items, data), (value,)) if key in _SCRIPTS else None
    name = _name(key, target) if isinstance(target, Scalar) and target.type == "text" and target.text else None
    return _made(name, script_in(target, data), (value,)) if name and isinstance(target, Scalar) else None


def _name(key: str, value: Scalar) -> str | None:
    """Return a name for a value that is a file of its own, None for one that is not."""
    if key in _SCRIPTS:
        return f"{key}.sh"
    if key == "runtimeEnvYAML":
        return "runtime_env.yaml"
    if value.quote not in ("|", ">"):
        return None
    if len(key) <= _LONGEST_NAME and key.endswith(_FILES):
        return key
    is_script = value.text.startswith(("#!", "export ")) or "\nexport " in value.text
    return f"{key[:_LONGEST_NAME]}.sh" if is_script else None


def _command(node: Mapping, data: bytes) -> list[Inner]:
    """Return what a container or a launch config runs: `command` with `args` behind it, as words or as a text."""
    words, parts, found = list[Node](), list[Node](), list[Inner]()
    for names in (_COMMANDS, _ARGUMENTS):
        for key, value in node.pairs:
            target = resolved(value)
            if not isinstance(key, Scalar) or key.text not in names:
                continue
            if isinstance(target, Sequence):
                words += target.items
                parts.append(value)
            elif isinstance(target, Scalar) and target.type == "text":
                inner = _made("command.sh", script_in(target, data), (value,))
                found += [inner] if inner else []
    scalars = [word for word in map(resolved, words) if isinstance(word, Scalar)]
    script = shell_script(scalars)
    splice = script_in(script, data) if script else words_in(scalars, data)
    return [*found, Inner("command.sh", splice, tuple(parts), words=script is None)] if splice else found


def _made(name: str, splice: Splice | None, nodes: tuple[Node, ...]) -> Inner | None:
    return Inner(name, splice, nodes) if splice else None


def read_inner(inner: Inner, name: str, lines: LineIndex) -> Config | None:
    """Return what the text holds, at its places in the file `name`; None where nothing reads it."""
    # The registry imports the syntaxes, and they import this.
    from nccl_logscan.configs.read import read_text  # noqa: PLC0415

    depth = _DEPTH.get()
    if depth >= _DEEPEST:
        return None
    token = _DEPTH.set(depth + 1)
    try:
        config = read_text(inner.name, inner.splice.text)
    finally:
        _DEPTH.reset(token)
    if config is None:
        return None
    settings = tuple(_moved(config.settings, inner.splice, name, lines))
    launches = []
    for launch in config.launches:
        span = inner.splice.span(launch.span)
        if span:
            fed = launch.fed and inner.splice.span(launch.fed)
            launches.append(replace(launch, at=lines.position(name, span.start), span=span, fed=fed))
    return replace(config, settings=settings, launches=tuple(launches))


def _moved(settings: Iterable[Placed], splice: Splice, name: str, lines: LineIndex) -> Iterable[Placed]:
    for placed in settings:
        span = splice.span(placed.span)
        value = splice.span(placed.value_span) if placed.value_span else None
        begin = _begin(placed, splice)
        if span is None or begin is None or (placed.value_span and value is None):
            continue
        yield replace(
            placed, at=lines.position(name, begin), column=lines.column_of(begin), span=span, value_span=value
        )


def _begin(placed: Placed, splice: Splice) -> int | None:
    """Return where in the file the line and column of a setting of the text are."""
    line = splice.text[placed.at.offset : placed.span.end + 1]
    skipped = line.decode("utf-8", "replace")[: placed.column - 1].encode()
    return splice.outer(placed.at.offset + len(skipped))
