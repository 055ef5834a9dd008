"""What launchers, wrappers and host commands make of their words: settings, launches, and the command that they start.

Facts on what each hands over of its environment: Open MPI and mpirun -x, Slurm's --export, docker -e, Ray, DeepSpeed's
EXPORT_ENVS are in reference/remediation_facts.yaml (openmpi.x, slurm.export, docker.env, ray.driver_env_not_forwarded,
deepspeed.env_forward). sbatch with another --export than ALL sets SLURM_EXPORT_ENV, which is srun's --export (Slurm's
src/sbatch/opt.c).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Form, Forwards
from nccl_logscan.configs.shell import launcher_options as known
from nccl_logscan.configs.shell.host_commands import HOST_HANDLERS
from nccl_logscan.configs.shell.launcher_options import (
    Launcher,
    Option,
    beside,
    first_number,
    options,
    statement,
    take_flag,
    take_variable,
    take_variables,
    with_value,
)
from nccl_logscan.configs.shell.mpi_hosts import hosts_told
from nccl_logscan.configs.shell.program_args import take_program
from nccl_logscan.configs.shell.remote_launchers import REMOTE_HANDLERS
from nccl_logscan.configs.shell.script import Script
from nccl_logscan.configs.shell.words import HOLE, Command, Word, lex
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span

Rest = Sequence[Word]
Handler = Callable[[Script, Rest, Command], Rest]

_STEPS_LIMIT = 20
_HOSTS = frozenset({"H", "host", "hosts"})

_ALL_NAMES = frozenset({"ALL", "all"})
_PASSED_BY_MPI = frozenset({"OMPI_*", "PMIX_*"})
_PASSED_BY_DEEPSPEED = frozenset({"MLFLOW*", "PYTHON*", "MV2*", "UCX*", "NCCL*"})

_NAME = deferred(r"[A-Za-z_]\w*", re.ASCII)
_DEFAULT = deferred(r'"?\$\{([A-Za-z_]\w*):?=([^}"$`]*)\}"?', re.ASCII)
_PAIRED = frozenset({"mca", "gmca", "prtemca", "omca", "genv", "env"})
_TORCH_MODULES = frozenset({"torch.distributed.run", "torch.distributed.launch", "torch.distributed.launcher"})
_PROGRAMS = frozenset({"vllm", "sglang", "llamafactory-cli", "swift", "axolotl", "trl", "tune", "litgpt", "colossalai"})


def invoke(script: Script, words: Sequence[Word], command: Command) -> None:
    """Take what a command sets, and what the command that it starts sets, and so on."""
    script.command = command
    rest: Rest = script.spliced(words)
    for _ in range(_STEPS_LIMIT):
        if not rest:
            return
        name = script.literal(rest[0]).rpartition("/")[2]
        handler = _HANDLERS.get(name)
        if handler is not None:
            rest = handler(script, rest, command)
        elif HOLE in name or name.startswith("python"):
            rest = _python(script, rest, command)
        elif name.endswith((".py", ".sh")) or name in _PROGRAMS:
            take_program(script, _named(script, rest), rest[1:], rest)
            return
        else:
            if len(rest) > 1 and rest[1].text[:1] == "=" and name.isupper():
                _parted(script, rest[1])
            return


def _parted(script: Script, word: Word) -> None:
    """Say that a = has blanks around it: the shell then takes the name for a command."""
    line = script.lines.line_of(word.start)
    script.faults.append(f"line {line}: nothing is set here: the shell takes no blanks around a =")


def _named(script: Script, rest: Rest) -> str:
    """Return a command's name, with the subcommand of one that has these: `vllm serve`."""
    name = script.literal(rest[0])
    return f"{name} {rest[1].text}" if name in _PROGRAMS and len(rest) > 1 else name


# Wrappers


def _wrapper(launcher: Launcher, skipped: int = 0) -> Handler:
    """Return the handler of a wrapper: options, then `skipped` words of its own, then the command."""

    def peel(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
        _, at = options(script, rest, 1, launcher)
        return rest[at + skipped :]

    return peel


def _env(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    found, at = options(script, rest, 1, known.ENV)
    for option in found:
        if option.name in {"-u", "--unset"} and option.value and HOLE not in option.value:
            script.place(option.value, None, Kind.ENV, Form.UNSET, option.start, option.end)
    # env takes any word with a = for a variable, also one in quotes.
    while at < len(rest) and script.assign(rest[at], Form.COMMAND_PREFIX):
        at += 1
    return rest[at:]


def _sudo(script: Script, rest: Rest, command: Command) -> Rest:
    found, at = options(script, rest, 1, known.SUDO)
    kept = any(option.name in {"-E", "--preserve-env"} for option in found)
    while at < len(rest) and script.assigns(rest[at]):
        script.assign(rest[at], Form.COMMAND_PREFIX)
        at += 1
    if not kept and at < len(rest) and rest[at].text in _HANDLERS and rest[at].text not in HOST_HANDLERS:
        script.launch("sudo", Forwards.NOTHING, rest)
    return rest[at:] if command else ()


def _separated(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    """Return what follows the -- of a profiler or the like, or the first launcher's name."""
    for at, word in enumerate(rest[1:], 1):
        if word.text == "--":
            return rest[at + 1 :]
        if word.text in _HANDLERS or word.text.startswith("python"):
            return rest[at:]
    return ()


def _tool(script: Script, rest: Rest, command: Command) -> Rest:
    """Take what uv, conda and their like install, or return the command that they run."""
    if any(word.text in {"install", "create"} for word in rest[1:4]):
        return HOST_HANDLERS["pip"](script, rest, command)
    return _separated(script, rest, command)


# The shell's own


def _export(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    keyword = rest[0].text
    flags = "".join(word.text for word in rest[1:] if word.text[:1] == "-")
    exports = keyword == "export" or "x" in flags
    words = [word for word in rest[1:] if word.text[:1] not in {"-", "+"}]
    if "n" in flags or "f" in flags:
        return ()
    form = script.export_form if exports else Form.ASSIGNMENT
    whole = statement(script, rest) if len(words) == 1 else None
    for word in words:
        if word.items is not None:
            continue
        if "=" in word.text and word.text != "=":
            name = script.assign(word, form, whole)
            if exports and name:
                script.exported.add(name)
        elif exports and word.text == "=":
            _parted(script, word)
        elif exports and _NAME.fullmatch(word.text):
            script.exported.add(word.text)
            script.bare_exports.setdefault(word.text, whole or _span(word))
    return ()


def _span(word: Word) -> Span:
    return Span(word.start, word.end)


def _unset(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    words = [word for word in rest[1:] if _NAME.fullmatch(word.text)]
    if any(word.text == "-f" for word in rest):
        return ()
    whole = statement(script, rest) if len(words) == 1 else None
    for word in words:
        span = whole or _span(word)
        script.place(word.text, None, Kind.ENV, Form.UNSET, span.start, span.end)
    return ()


def _set(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    texts = [word.text for word in rest[1:]]
    if "allexport" in texts or any(re.fullmatch(r"-[b-zA-Z]*a[a-zA-Z]*", text) for text in texts):
        script.exports_all = "+o" not in texts
    elif any(text.startswith("+") and "a" in text for text in texts):
        script.exports_all = False
    return ()


def _default(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    """Take `: ${NAME:=value}`, which sets a variable where it has none."""
    for word in rest[1:]:
        found = _DEFAULT.fullmatch(script.text, word.start, word.end)
        if found:
            script.unexported.setdefault(found[1], []).append(len(script.settings))
            script.place(
                found[1],
                found[2],
                Kind.ENV,
                Form.ASSIGNMENT,
                rest[0].start if len(rest) == 2 and beside(script, rest[0], word) else word.start,
                word.end,
                found.start(2),
                found.end(2),
                fallback=True,
            )
    return ()


def _eval(script: Script, rest: Rest, command: Command) -> Rest:
    if len(rest) == 2:
        script.nested(rest[1], command.unit)
        return () if " " in rest[1].text or rest[1].ref else rest[1:]
    return rest[1:]


def _shell(script: Script, rest: Rest, command: Command) -> Rest:
    at = 1
    while at < len(rest) and rest[at].text[:1] in {"-", "+"}:
        text = rest[at].text
        at += 1
        if text[:2] != "--" and text.endswith("c"):
            if at < len(rest):
                script.nested(rest[at], command.unit)
            return ()
        if text in {"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}:
            at += 1
    if at < len(rest):
        take_program(script, rest[at].text, rest[at + 1 :], ())
    return ()


# Python and its launchers


def _python(script: Script, rest: Rest, command: Command) -> Rest:
    """Return what a Python module that is a launcher starts; take the arguments of any other program."""
    at = 1
    while at < len(rest) and rest[at].text[:1] == "-":
        text = rest[at].text
        at += 1
        if text in {"-m", "--module"}:
            return _module(script, rest[at:], command, rest)
        if text == "-c":
            return ()
        if text in {"-X", "-W", "-Q"}:
            at += 1
    if at >= len(rest):
        return ()
    program = script.literal(rest[at])
    if HOLE in script.literal(rest[0]) and not program.endswith(".py"):
        # A variable in front of a launcher: sudo, numactl, nothing at all.
        return rest[at:] if program.rpartition("/")[2] in _HANDLERS else ()
    take_program(script, program, rest[at + 1 :], rest)
    return ()


def _module(script: Script, rest: Rest, command: Command, launch: Rest) -> Rest:
    if not rest:
        return ()
    module = script.literal(rest[0])
    if module in _TORCH_MODULES:
        return _torchrun(script, rest, command)
    if module == "accelerate.commands.launch":
        return _accelerated(script, rest, 1, command)
    if module == "deepspeed.launcher.runner":
        return _deepspeed(script, rest, command)
    take_program(script, module, rest[1:], launch)
    return ()


def _torchrun(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    program = rest[0].text.rpartition("/")[2]
    found, at = options(script, rest, 1, known.TORCHRUN)
    for option in found:
        if option.name not in {"-m", "--module"}:
            take_flag(script, option, program, "pytorch")
    script.launch(
        program, Forwards.ALL, rest, nodes=first_number(found, "--nnodes", "--nnode", "-N"), framework="pytorch"
    )
    return _started(script, found, rest, at)


def _started(script: Script, found: Sequence[Option], rest: Rest, at: int) -> Rest:
    """Take the program that a Python launcher starts, or return the command if it starts any command."""
    names = {option.name.replace("_", "-") for option in found}
    if "--no-python" in names:
        return rest[at:]
    if at < len(rest):
        if rest[at].text == "-m" and at + 1 < len(rest):
            at += 1
        take_program(script, script.literal(rest[at]), rest[at + 1 :], rest)
    return ()


def _launcher_args(script: Script, rest: Rest, option: Option, command: Command) -> None:
    """Take the -x NAME=VALUE of Open MPI in DeepSpeed's --launcher_args."""
    word = next((word for word in rest if word.start <= option.value_start < word.end), None)
    inner = word and script.inner(word, command.unit, option.value_start)
    for within in lex(inner).commands if inner else ():
        for at, flag in enumerate(within.words[:-1]):
            if flag.text == "-x":
                take_variable(script, with_value(script, flag, within.words[at + 1]), "mpirun")


def _deepspeed(script: Script, rest: Rest, command: Command) -> Rest:
    found, at = options(script, rest, 1, known.DEEPSPEED)
    for option in found:
        take_flag(script, option, "deepspeed", "deepspeed")
        if option.name in {"--launcher_args", "--launcher-args"}:
            _launcher_args(script, rest, option, command)
    nodes = first_number(found, "--num-nodes")
    given = {option.name.replace("_", "-") for option in found}
    remote = (nodes or 0) > 1 or (nodes is None and bool(given & {"--hostfile", "-H", "--force-multi"}))
    script.launch(
        "deepspeed",
        Forwards.NAMED if remote else Forwards.ALL,
        rest,
        names=_PASSED_BY_DEEPSPEED if remote else (),
        remote=remote,
        nodes=nodes,
        framework="deepspeed",
    )
    return _started(script, found, rest, at)


def _accelerate(script: Script, rest: Rest, command: Command) -> Rest:
    if len(rest) < 2 or rest[1].text != "launch":
        return ()
    return _accelerated(script, rest, 2, command)


def _accelerated(script: Script, rest: Rest, first: int, command: Command) -> Rest:  # noqa: ARG001 - as the others
    found, at = options(script, rest, first, known.ACCELERATE)
    for option in found:
        if option.name not in {"-m", "--module"}:
            take_flag(script, option, "accelerate launch", "accelerate")
    nodes = first_number(found, "--num-machines")
    script.launch("accelerate launch", Forwards.ALL, rest, nodes=nodes, framework="accelerate")
    return _started(script, found, rest, at)


# MPI and Slurm


def _mpirun(script: Script, rest: Rest, command: Command) -> Rest:  # noqa: ARG001 - a Handler
    program = rest[0].text.rpartition("/")[2]
    found: list[Option] = []
    names: set[str] = set()
    at = 1
    while at < len(rest) and rest[at].text[:1] == "-":
        before = at
        text = rest[at].text.lstrip("-")
        if text in _PAIRED and at + 2 < len(rest) and "=" not in rest[at + 1].text:
            names.update(_pair(script, program, rest[at : at + 3]))
            at += 3
        else:
            some, at = options(script, rest[: min(len(rest), at + 2)], at, known.MPI)
            found += some[:1]
            at = before + (2 if some and some[0].end != rest[before].end else 1)
    names.update(_mpi_options(script, program, found))
    forwards, remote, nodes = _mpi_reach(script, found, rest)
    if forwards is Forwards.NAMED:
        names |= _PASSED_BY_MPI
    script.launch(program, forwards, rest, names=names, remote=remote, nodes=nodes, framework="openmpi")
    return rest[at:]


def _pair(script: Script, program: str, words: Rest) -> list[str]:
    """Take `--mca KEY VALUE` as the flag `--mca KEY`, and `-genv NAME VALUE` as a variable."""
    option, key, value = words
    if HOLE in key.text or not (beside(script, option, key) and beside(script, key, value)):
        return []
    mca = option.text.lstrip("-").endswith("mca")
    script.place(
        f"--mca {key.text}" if mca else key.text,
        value.text,
        Kind.CLI_FLAG if mca else Kind.ENV,
        Form.FLAG if mca else Form.LAUNCHER_OPTION,
        option.start,
        value.end,
        value.start,
        value.end,
        program=program,
        framework="openmpi" if mca else None,
        fallback=value.fallback,
    )
    return [] if mca else [key.text]


def _mpi_options(script: Script, program: str, found: Sequence[Option]) -> set[str]:
    names: set[str] = set()
    for option in found:
        name = option.name.lstrip("-")
        if name in {"x", "env", "genv"}:
            names.add(take_variable(script, option, program) or "")
        elif name in {"genvlist", "envlist"}:
            names.update(take_variables(script, option, program))
        else:
            take_flag(script, option, program, "openmpi")
    return names - {""}


def _mpi_reach(script: Script, found: Sequence[Option], rest: Rest) -> tuple[Forwards, bool, int | None]:
    """Return what of its environment an MPI launcher hands over, and whether to other hosts.

    Hydra's mpiexec (MPICH, Intel MPI), known by its own options, hands over all unless told otherwise.
    """
    given = {option.name.lstrip("-"): option.value for option in found}
    hydra = any(name.startswith("genv") or name in {"ppn", "f", "rr", "envlist", "envall"} for name in given) or any(
        word.text in {"-genv", "-env"} for word in rest
    )
    forwards = Forwards.ALL if hydra and not {"genvlist", "genvnone", "envlist", "envnone"} & given.keys() else None
    hosts = next((option for option in found if option.name.lstrip("-") in _HOSTS), None)
    nodes, several = hosts_told(script, hosts) if hosts else (None, False)
    nodes = nodes or script.nodes
    listed = several or bool({"hostfile", "machinefile", "f", "default-hostfile"} & given.keys())
    ranks = first_number(found, "-np", "-n", "--np", "--n", "-c")
    per_node = first_number(found, "-N", "-npernode", "--npernode", "-ppn", "--N")
    if nodes is None and ranks and per_node:
        nodes = -(-ranks // per_node)
    remote = (nodes or 0) > 1 or (nodes is None and listed)
    return forwards or Forwards.NAMED, remote, nodes


def _slurm(script: Script, rest: Rest, command: Command) -> Rest:
    program = rest[0].text.rpartition("/")[2]
    found, at = options(script, rest, 1, known.SLURM)
    listed: list[str] | None = None
    for option in found:
        take_flag(script, option, program, "slurm")
        if option.name == "--export" and option.value is not None:
            listed = take_variables(script, option, program)
        elif option.name == "--wrap":
            _wrapped(script, rest, option, command)
    nodes = first_number(found, "--nodes", "-N") or (script.nodes if program == "srun" else None)
    if listed is None and program == "srun":
        listed = script.step_export
    forwards = slurm_forwards(listed)
    names = [name for name in listed or () if name not in _ALL_NAMES]
    alone = nodes == 1 or any(option.name in {"-w", "--nodelist"} and nodes is None for option in found)
    script.launch(program, forwards, rest, names=names, remote=not alone, nodes=nodes, framework="slurm")
    return () if program == "sbatch" else rest[at:]


def slurm_forwards(listed: Sequence[str] | None) -> Forwards:
    """Return what --export hands over; None stands for none given."""
    if listed is None or _ALL_NAMES & set(listed):
        return Forwards.ALL
    return Forwards.NAMED if set(listed) - {"NONE", "NIL"} else Forwards.NOTHING


def _wrapped(script: Script, rest: Rest, option: Option, command: Command) -> None:
    word = next((word for word in rest if word.start <= option.value_start < word.end), None)
    inner = word and script.inner(word, command.unit, option.value_start)
    if inner:
        script.read(inner)


_HANDLERS: dict[str, Handler] = {
    **HOST_HANDLERS,
    **REMOTE_HANDLERS,
    **dict.fromkeys(("nohup", "exec", "time", "setsid", "command", "builtin", "catchsegv"), _wrapper(known.PLAIN)),
    **dict.fromkeys(("nice", "ionice", "stdbuf", "unbuffer", "chronic"), _wrapper(known.NICE)),
    **dict.fromkeys(("timeout", "taskset", "chrt", "flock"), _wrapper(known.NICE, 1)),
    "numactl": _wrapper(known.NUMACTL),
    "env": _env,
    "sudo": _sudo,
    **dict.fromkeys(("nsys", "ncu", "py-spy", "strace", "tini"), _separated),
    **dict.fromkeys(("uv", "poetry", "conda", "mamba", "micromamba"), _tool),
    **dict.fromkeys(("export", "declare", "typeset", "readonly", "local"), _export),
    "unset": _unset,
    "set": _set,
    ":": _default,
    "eval": _eval,
    **dict.fromkeys(("bash", "sh", "zsh", "ksh", "dash"), _shell),
    "torchrun": _torchrun,
    "deepspeed": _deepspeed,
    "accelerate": _accelerate,
    **dict.fromkeys(("mpirun", "mpiexec", "orterun", "mpiexec.hydra", "mpirun_rsh", "prterun", "prun"), _mpirun),
    **dict.fromkeys(("srun", "sbatch", "salloc"), _slurm),
}
