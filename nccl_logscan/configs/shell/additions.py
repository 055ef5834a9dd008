"""Settings added to shell scripts, where the job's processes get them and in the manner of those that are there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.catalogue.versions import within
from nccl_logscan.configs.edit import Edit, lines_put
from nccl_logscan.configs.frameworks import HYDRA
from nccl_logscan.configs.model import Config, Form, Forwards, Launch, Placed
from nccl_logscan.configs.proof import adds_just
from nccl_logscan.configs.shell.program_args import hydra_value
from nccl_logscan.configs.shell.quoting import BARE, quoted
from nccl_logscan.configs.shell.reading import collected
from nccl_logscan.configs.shell.script import Script
from nccl_logscan.configs.shell.words import Command, Word
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span

_VARIABLE = deferred(r"[A-Za-z_]\w*", re.ASCII)
_KEY = deferred(r"[A-Za-z_][\w.-]*", re.ASCII)
_FLAG = deferred(r"--?[A-Za-z][\w.-]*(?: [\w.-]+)?", re.ASCII)
_FAR = frozenset({"ssh", "pdsh", "clush", "pssh", "parallel-ssh", "sudo", "kubectl exec", "kubectl run"})
_MPI = frozenset({"mpirun", "mpiexec", "orterun", "prterun", "prun"})
_CONTAINERS = frozenset({"docker", "podman", "nerdctl", "nvidia-docker"})
_RAY_ENV = "ray_kwargs.ray_init.runtime_env.env_vars."


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SRUN_ONLY = _names("--kill-on-bad-exit --label --wait --cpu-bind --mpi --unbuffered --multi-prog")
_SLURM = _SRUN_ONLY | _names(
    "--mem --exclude --export --export-file --propagate --requeue --no-requeue --signal --nodes --oom-kill-step "
    "--exclusive --time --open-mode --cpus-per-task --gpus-per-node --ntasks-per-node --gres --switches "
    "--constraint"
)
_DOCKER = _names("--shm-size --ulimit --ipc --network --net --cap-add --device --gpus --privileged --pids-limit")
_TORCHRUN = _names(
    "--rdzv-backend --rdzv-conf --rdzv-endpoint --rdzv-id --max-restarts --monitor-interval --log-dir --redirects "
    "--tee --local-ranks-filter --local-addr --nproc-per-node --nnodes --start-method --role --standalone "
    "--logs-specs"
)


def added(config: Config, kind: Kind, name: str, value: str) -> Edit | None:
    """Return the edit that makes a setting, None where the script has no place for it that is sure."""
    if {"\0", "\n", "\r"} & set(value):
        return None
    script = collected(config.name, config.data)
    edit = _edit(script, config, kind, name, value)
    return edit if edit and adds_just(config, edit, name, value or "true") else None


def _edit(script: Script, config: Config, kind: Kind, name: str, value: str) -> Edit | None:
    if kind is Kind.ENV and _VARIABLE.fullmatch(name):
        return _variable(script, config, name, value)
    if kind is Kind.CLI_FLAG and _FLAG.fullmatch(name):
        return _flag(script, config, name, value)
    if kind is Kind.YAML_KEY and _KEY.fullmatch(name):
        return _override(script, name, value)
    if kind is Kind.HOST_COMMAND and re.fullmatch(r"ulimit -\w", name) and BARE.fullmatch(value):
        return _before_launch(script, config, f"{name} {value}")
    return None


# Variables


def _variable(  # noqa: PLR0911 - a return per kind of launch
    script: Script, config: Config, name: str, value: str
) -> Edit | None:
    beside = next((placed for placed in reversed(config.settings) if placed.form is Form.RUNTIME_ENV), None)
    if beside is not None:
        return _runtime_variable(script, beside, name, value)
    near = [launch for launch in config.launches if launch.program not in _FAR]
    if not near:
        starts = [command.words[0].start for _, _, command in script.programs]
        return None if config.launches else _export(script, config, name, value, min(starts, default=None))
    launch = near[0]
    if any(other.program in _FAR and _holds(other.span, launch.span) for other in config.launches):
        return None
    handed = launch.program in _CONTAINERS or (launch.program in _MPI and (launch.remote or _by_name(config, launch)))
    if handed and launch.forwards is Forwards.NAMED:
        return _handed_over(script, config, launch, name, value)
    if launch.program in {"srun", "salloc"} and launch.forwards is not Forwards.ALL:
        return _listed(script, config, launch, name, value)
    driver = next((other for other in near if other.framework == "verl" and other.remote), None)
    if driver is not None:
        # verl before 0.6 has no such key: its runtime_env is fixed in main_ppo.py (verl.ray_init.old).
        known = within(config.pins.get("verl", "99"), ">=0.6")
        return _override(script, _RAY_ENV + name, value, "+") if known else None
    lost = any(other.remote and other.forwards is not Forwards.ALL and not _arrives(other, name) for other in near)
    if lost or launch.program in {"ray job submit", "sbatch"}:
        return None
    return _export(script, config, name, value, launch.span.start)


def _by_name(config: Config, launch: Launch) -> bool:
    """Return whether a launch is given variables by name already, so that one more goes the same way."""
    return any(
        placed.form is Form.LAUNCHER_OPTION and placed.kind is Kind.ENV and placed.program == launch.program
        for placed in config.settings
    )


def _holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _arrives(launch: Launch, name: str) -> bool:
    """Return whether an exported variable reaches the processes of a launch that hands over some by name."""
    return any(name == given or (given[-1:] == "*" and name.startswith(given[:-1])) for given in launch.names)


def _runtime_variable(script: Script, beside: Placed, name: str, value: str) -> Edit | None:
    """Put a variable beside another of Ray's runtime_env: as an override, or as a pair of its JSON."""
    text = script.text
    written = text[beside.span.start : beside.span.end]
    if beside.program == "ray job submit":
        if not BARE.fullmatch(value):
            return None
        escape = "\\" if "\\" in written else ""
        quote = escape + '"'
        start = beside.span.start
        return Edit(start, start, f"{quote}{name}{quote}: {quote}{value}{quote}, ".encode())
    key, found, _ = written.partition("env_vars." + beside.name)
    if not found:
        return None
    command, word = _holder(script, beside.span)
    if command is None or word is None:
        return None
    text_of = _override_text(f"{key}env_vars.{name}", value, command)
    return None if text_of is None else _after(script, command, word, text_of)


def _holder(script: Script, span: Span) -> tuple[Command | None, Word | None]:
    """Return the innermost word that holds a place, or begins with it, and the command or array that has it."""
    for command in reversed(script.commands):
        for words in (command.words, *(word.items for word in command.words if word.items)):
            for word in words:
                if word.start <= span.start < word.end and not word.items and span.end <= word.end:
                    return command, word
    return None, None


def _handed_over(script: Script, config: Config, launch: Launch, name: str, value: str) -> Edit | None:
    """Add -x NAME=VALUE of mpirun or -e NAME=VALUE of docker, behind the last one or else as the first option."""
    option = "-x" if launch.program in _MPI else "-e"
    own = [
        placed
        for placed in config.settings
        if placed.form is Form.LAUNCHER_OPTION and placed.program == launch.program and placed.kind is Kind.ENV
    ]
    last = own[-1] if own else None
    if last is not None:
        option = next(iter(script.text[last.span.start : last.span.end].split()), "")
        if not re.fullmatch(r"-x|-e|--env", option):
            return None
    found = _command_at(script, launch)
    command, word = found if last is None else _ending(script, last.span)
    if command is None or word is None:
        return None
    written = _word(value, command)
    if written is None:
        return None
    return _after(script, command, word, f"{option} {name}={written}", own=last is not None)


def _ending(script: Script, span: Span) -> tuple[Command | None, Word | None]:
    for command in reversed(script.commands):
        for words in (command.words, *(word.items for word in command.words if word.items)):
            for word in words:
                if word.end == span.end and not word.items and word.start >= span.start:
                    return command, word
    return None, None


def _command_at(script: Script, launch: Launch) -> tuple[Command | None, Word | None]:
    """Return the command of a launch, and the word behind which its options begin."""
    for command in reversed(script.commands):
        for at, word in enumerate(command.words):
            if word.start == launch.span.start:
                verbs = {"run", "exec", "create"} if launch.program in _CONTAINERS else set()
                later = next((other for other in command.words[at + 1 : at + 4] if other.text in verbs), word)
                return command, later
    return None, None


def _listed(script: Script, config: Config, launch: Launch, name: str, value: str) -> Edit | None:
    """Add to the list of srun's --export."""
    inside = (p for p in config.settings if p.name == "--export" and p.program == launch.program and p.value_span)
    flag = next((p for p in inside if launch.span.start <= p.span.start < launch.span.end), None)
    if flag is None or flag.value_span is None or not BARE.fullmatch(value) or "," in value:
        return None
    end = flag.value_span.end
    if script.text[end - 1] in "\"'":
        end -= 1
    if flag.value in {"NONE", "NIL"}:
        return None
    return Edit(end, end, f",{name}={value}".encode())


def _export(script: Script, config: Config, name: str, value: str, launch: int | None) -> Edit | None:
    """Add `export NAME=VALUE` behind the last export before the first launch, or else in front of that; `launch` is
    where it begins.
    """
    written = _word(value, None)
    if written is None:
        return None
    line = f"export {name}={written}"
    beside = _export_beside(script, config, name, len(script.text) if launch is None else launch)
    if beside is not None:
        return lines_put(config.data, _line_end(config, beside), [line.encode()])
    return None if launch is None else _before_launch(script, config, line)


def _export_beside(script: Script, config: Config, name: str, limit: int) -> Command | None:
    """Return the last export statement before `limit` that stands alone at the begin of its line, of the same family
    of variables if there is one.
    """
    family = name.partition("_")[0]
    best: Command | None = None
    related: Command | None = None
    for command in script.commands:
        words = command.words
        if not words or words[0].text not in {"export", "declare"} or command.unit is not script.unit:
            continue
        if (
            words[-1].end > limit
            or not _alone(config, script, command)
            or words[0].start != _line_start(config, command)
        ):
            continue
        if len(words) < 2 or "=" not in words[-1].text:
            continue
        best = command
        if words[1].text.startswith(family + "_"):
            related = command
    return related or best


def _line_start(config: Config, command: Command) -> int:
    return config.lines.whole_lines(Span(command.words[0].start, command.words[0].end)).start


def _line_end(config: Config, command: Command) -> int:
    return config.lines.whole_lines(Span(command.words[0].start, command.words[-1].end)).end


def _alone(config: Config, script: Script, command: Command) -> bool:
    line = config.lines.whole_lines(Span(command.words[0].start, command.words[-1].end))
    before = script.text[line.start : command.words[0].start]
    after = script.text[command.words[-1].end : line.end].strip()
    return not before.strip() and (not after or after[0] == "#") and not command.bodies


def _before_launch(script: Script, config: Config, line: str) -> Edit | None:
    """Put a line in front of the first launch, indented as that is."""
    starts = [launch.span.start for launch in config.launches if launch.program not in _FAR]
    starts += [command.words[0].start for _, _, command in script.programs]
    if not starts:
        return None
    start = min(starts)
    command = next(
        (c for c in reversed(script.commands) if c.words and c.words[0].start <= start <= c.words[-1].end), None
    )
    if command is None or command.unit is not script.unit:
        return None
    at = _line_start(config, command)
    indent = script.text[at : command.words[0].start]
    if indent.strip() or script.text[:at].rstrip("\r\n")[-1:] == "\\":
        return None
    return lines_put(config.data, at, [(indent + line).encode()])


def _word(value: str, command: Command | None) -> str | None:
    """Return a value as a shell word, None where the quotes around do not allow it."""
    kinds = ("",) if not value or (command is not None and command.unit.quotes) else ("", '"', "'")
    return next((written for kind in kinds if (written := quoted(value, kind)) is not None), None)


# Flags and overrides


def _flag(script: Script, config: Config, name: str, value: str) -> Edit | None:
    plain = name.partition(" ")[0].replace("_", "-")
    if plain in _SLURM:
        return _slurm_flag(script, config, name, value)
    if plain in _DOCKER or plain == "--mca":
        programs = _MPI if plain == "--mca" else _CONTAINERS
        return _launcher_flag(script, config, programs, name, value)
    if plain in _TORCHRUN:
        return _launcher_flag(script, config, {"torchrun", "torch.distributed.run"}, name, value)
    command = next((command for _, framework, command in script.programs if framework not in HYDRA), None)
    return None if command is None else _at_end(script, command, _flag_text(name, value, " ", command))


def _flag_text(name: str, value: str, between: str, command: Command) -> str | None:
    if value in {"", "true"}:
        return name
    if " " in name:
        between = " " if name.startswith("--mca") else "="
    written = _word(value, command)
    return None if written is None else f"{name}{between}{written}"


def _slurm_flag(script: Script, config: Config, name: str, value: str) -> Edit | None:
    """Add a directive behind the last one, or else an option of srun."""
    last = max((p.span.start for p in config.settings if p.program == "sbatch" and p.form is Form.FLAG), default=None)
    directive = last is not None and any(start <= last < end for start, end in script.comments)
    if last is None or not directive or name in _SRUN_ONLY:
        return _launcher_flag(script, config, {"srun"}, name, value)
    if not BARE.fullmatch(value) and value:
        return None
    end = config.lines.whole_lines(Span(last, last + 1)).end
    given = f"={value}" if value not in {"", "true"} else ""
    return lines_put(config.data, end, [f"#SBATCH {name}{given}".encode()])


def _launcher_flag(script: Script, config: Config, programs: Iterable[str], name: str, value: str) -> Edit | None:
    """Add an option behind the launcher's name."""
    launch = next((launch for launch in config.launches if launch.program in programs), None)
    command, word = _command_at(script, launch) if launch else (None, None)
    if command is None or word is None:
        return None
    text = _flag_text(name, value, "=", command)
    return None if text is None else Edit(word.end, word.end, f" {text}".encode())


def _override(script: Script, name: str, value: str, mark: str = "") -> Edit | None:
    command = next((command for _, framework, command in script.programs if framework in HYDRA), None)
    return None if command is None else _at_end(script, command, _override_text(mark + name, value, command))


def _override_text(key: str, value: str, command: Command) -> str | None:
    """Return key=value as Hydra takes it: a variable of an environment is text, so that 1 needs quotes that stay."""
    quotes = command.unit.quotes
    special = "," in value or value[:1] in {"^", "="} or ("env_vars." in key and hydra_value(value)[1] != "text")
    if not special:
        return f"{key}={value}" if BARE.fullmatch(value) else None
    if not BARE.fullmatch(value) or len(quotes) > 1 or "'" in quotes:
        return None
    return f"{key}='{value}'" if quotes == '"' else f"{key}=\"'{value}'\""


def _at_end(script: Script, command: Command, text: str | None) -> Edit | None:
    return None if text is None or not command.words else _after(script, command, command.words[-1], text, own=False)


def _after(script: Script, command: Command, word: Word, text: str, *, own: bool = True) -> Edit:
    """Put an argument behind a word, parted as the command's arguments are: by a blank, or each on its line."""
    siblings = next((w.items for w in command.words if w.items and word in w.items), command.words)
    last = siblings.index(word)
    separators = list(_separators(script.text, siblings, last))
    lines = [separator for separator in separators if "\n" in separator and "#" not in separator]
    if own:
        # It goes on a line of its own where the setting has one beside which it is put.
        pair = text[0] == "-" and " " in text
        nearest = separators[-2 if pair else -1 :][:1]
        lines = lines if nearest and "\n" in nearest[0] else []
    separator = lines[-1] if lines else " "
    return Edit(word.end, word.end, (separator + text).encode())


def _separators(text: str, words: Sequence[Word], last: int) -> Iterator[str]:
    for at in range(last):
        yield text[words[at].end : words[at + 1].start]
