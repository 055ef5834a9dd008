"""The options of launchers and wrappers: which take a value, and what the words of a command make of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from nccl_logscan.catalogue.model import Kind
from nccl_logscan.configs.model import Form
from nccl_logscan.configs.shell.script import Script
from nccl_logscan.configs.shell.words import HOLE, Word
from nccl_logscan.expressions import deferred
from nccl_logscan.position import Span
from nccl_logscan.records import dataclass

_NUMBER = deferred(r"-\d")
_NAME = deferred(r"[A-Za-z_]\w*", re.ASCII)
_FAR_APART = 2_000
_BETWEEN = deferred(r"(?:[ \t\r\n\\]|(?<=[ \t\n])#[^\n]*+)*+")
_ITEM = deferred(r"""(?:[^,'"]|'[^']*'|"[^"]*"|['"])+""")


class Option(NamedTuple):
    """An option as written: `start` to `end` with its value, which is None where it has none."""

    name: str
    value: str | None
    start: int
    end: int
    value_start: int
    value_end: int
    fallback: bool = False


@dataclass(frozen=True, slots=True)
class Launcher:
    """A launcher's options: `switches` take no value, with dashes for underscores; all others the next word, if that is
    no option. `attached`: a short option's value may follow without a blank, as in -N2.
    """

    program: str
    framework: str
    switches: frozenset[str]
    attached: bool = False


def _switches(text: str) -> frozenset[str]:
    return frozenset(text.split())


TORCHRUN = Launcher("torchrun", "pytorch", _switches("--standalone --no-python -m --module --run-path --use-env"))
DEEPSPEED = Launcher(
    "deepspeed",
    "deepspeed",
    _switches(
        "--no-ssh --no-ssh-check --force-multi --save-pid --elastic-training --no-local-rank --module --no-python "
        "--bind-cores-to-rank -h --help"
    ),
)
ACCELERATE = Launcher(
    "accelerate",
    "accelerate",
    _switches(
        "--multi-gpu --cpu --tpu --use-cpu --use-deepspeed --use-fsdp --use-megatron-lm --use-xpu --use-mps-device "
        "--quiet -q --debug --module -m --no-python --same-network --dynamo-use-dynamic --dynamo-use-fullgraph "
        "--use-parallelism-config --use-tpu --tpu-use-sudo --tpu-use-cluster --no-tpu-cluster --ipex --no-sudo"
    ),
)
MPI = Launcher(
    "mpirun",
    "openmpi",
    _switches(
        "--allow-run-as-root -allow-run-as-root --oversubscribe -oversubscribe --nooversubscribe --tag-output "
        "-tag-output --timestamp-output --verbose -v --version -V --display-map -display-map --display-allocation "
        "--report-bindings -report-bindings --nolocal -nolocal --quiet -q --bynode -bynode --byslot -byslot "
        "--enable-recovery --do-not-launch --do-not-resolve --disable-recovery --continuous --debug-devel -d "
        "--leave-session-attached -genvall -genvnone -prepend-rank -l --xml -print-rank-map -envall -envnone "
        "--use-hwthread-cpus"
    ),
)
SLURM = Launcher(
    "srun",
    "slurm",
    _switches(
        "--label -l --exclusive --unbuffered -u --verbose -v -vv --overlap --multi-prog --no-kill -k "
        "--kill-on-bad-exit -K --quiet -Q --pty --exact --overcommit -O --oversubscribe -s "
        "--spread-job --disable-status -X "
        "--contiguous --no-allocate -Z --requeue --no-requeue --parsable --hold -H --wait -W "
        "--container-mount-home --no-container-mount-home --container-remap-root --no-container-remap-root "
        "--container-writable --container-readonly --no-container-entrypoint --container-entrypoint --get-user-env "
        "--immediate -I --reboot --test-only --use-min-nodes --preserve-env -E --interactive --nice"
    ),
    attached=True,
)
DOCKER = Launcher(
    "docker",
    "docker",
    _switches(
        "-d --detach -i --interactive -t --tty -it -ti -dit -itd -id -td --rm --privileged --init --read-only -P "
        "--publish-all -q --quiet --no-healthcheck --oom-kill-disable --env-host --sig-proxy --tls --replace "
        "--disable-content-trust"
    ),
)
APPTAINER = Launcher(
    "apptainer",
    "apptainer",
    _switches(
        "--nv --rocm --cleanenv -e --contain -c --containall -C --writable --writable-tmpfs --no-home --fakeroot -f "
        "--ipc -i --pid -p --net -n --no-privs --userns -u --uts --no-init --boot --nvccli --quiet -q --silent -s "
        "--debug -d --no-eval --compat --underlay --unsquash"
    ),
)
SSH = Launcher(
    "ssh", "ssh", _switches("-A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -tt -V -v -vv -X -x -Y -y -4 -6 -nT -Tn -fn")
)
FANOUT = Launcher(
    "pdsh", "pdsh", _switches("-S -b -N -h -q -V -d -L -n -B -c -r -D -a -p -v -s -C -A -P --noprompt --quiet --all")
)
KUBECTL = Launcher("kubectl", "kubernetes", _switches("-i --stdin -t --tty -it -ti -q --quiet --rm --attach"))
HOROVOD = Launcher(
    "horovodrun",
    "horovod",
    _switches("--verbose -v --gloo --mpi --disable-cache --check-build -cb --use-gloo --use-mpi --js --autotune"),
)
RAY_START = Launcher("ray start", "ray", _switches("--head --block --no-monitor --disable-usage-stats --verbose -v"))
RAY_SUBMIT = Launcher("ray job submit", "ray", _switches("--no-wait --verbose --no-config-cache --follow"))
ENROOT = Launcher("enroot", "enroot", _switches("-w --rw -r --root"))
ENV = Launcher("env", "env", _switches("-i --ignore-environment -0 --null -v --debug"))
SUDO = Launcher("sudo", "sudo", _switches("-E --preserve-env -n -H -S -b -i -s -k -A --non-interactive"))
NICE = Launcher(
    "nice", "host", _switches("--foreground --preserve-status -v --verbose -t -a -p -c -f -r -x -s --exclusive")
)
NUMACTL = Launcher("numactl", "host", _switches("-l --localalloc -a --all -b --balancing -s --show -H --hardware"))
PLAIN = Launcher("", "", frozenset())


def options(script: Script, words: Sequence[Word], at: int, launcher: Launcher) -> tuple[list[Option], int]:
    """Return the options from `words[at]` on, and where the first word stands that is none."""
    found: list[Option] = []
    while at < len(words):
        word = words[at]
        if word.text[:1] != "-" or word.text == "-":
            break
        at += 1
        if word.text == "--":
            break
        option = _alone(script, word, launcher)
        if option is None:
            follower = words[at] if at < len(words) else None
            if follower and (follower.text[:1] != "-" or _NUMBER.match(follower.text)):
                option = with_value(script, word, follower)
                at += 1
            else:
                option = switch(word)
        found.append(option)
    return found, at


def _alone(script: Script, word: Word, launcher: Launcher) -> Option | None:
    """Return the option that a single word is; None where the next word may be its value."""
    name, equals, value = word.text.partition("=")
    if equals:
        return Option(name, value, word.start, word.end, *script.value_bounds(word), word.fallback)
    long = name.startswith("--")
    if (name.replace("_", "-") if long else name) in launcher.switches:
        return switch(word)
    if launcher.attached and not long and len(name) > 2:
        return Option(name[:2], name[2:], word.start, word.end, word.start + 2, word.end, word.fallback)
    return None


def switch(word: Word) -> Option:
    """Return an option without a value."""
    return Option(word.text, None, word.start, word.end, word.end, word.end)


def beside(script: Script, word: Word, follower: Word) -> bool:
    """Return whether a word follows another in the file too: one put in from a variable stands elsewhere."""
    gap = follower.start - word.end
    if gap < 0 or gap > _FAR_APART:
        return False
    return gap == 1 or bool(_BETWEEN.fullmatch(script.text, word.end, follower.start))


def statement(script: Script, words: Sequence[Word]) -> Span | None:
    """Return the span of a whole command; None where some of its words stand elsewhere in the file."""
    together = all(beside(script, word, follower) for word, follower in pairwise(words))
    return Span(words[0].start, words[-1].end) if together else None


def with_value(script: Script, word: Word, value: Word) -> Option:
    """Return an option whose value is the next word; one that stands elsewhere in the file is not told."""
    if not beside(script, word, value):
        return Option(word.text, HOLE, word.start, word.end, word.end, word.end)
    return Option(word.text, value.text, word.start, value.end, value.start, value.end, value.fallback)


def take_flag(
    script: Script, option: Option, program: str | None, framework: str | None, name: str | None = None
) -> None:
    """Add an option as a flag that `program` gets; a switch is "true"."""
    script.place(
        name or option.name,
        "true" if option.value is None else option.value,
        Kind.CLI_FLAG,
        Form.FLAG,
        option.start,
        option.end,
        None if option.value is None else option.value_start,
        option.value_end,
        program=program,
        framework=framework,
        fallback=option.fallback,
    )


def take_keyed(script: Script, option: Option, launcher: Launcher) -> None:
    """Add `--ulimit memlock=-1` as the flag `--ulimit memlock` of value -1."""
    key, equals, value = (option.value or "").partition("=")
    if not equals or HOLE in key:
        take_flag(script, option, launcher.program, launcher.framework)
        return
    start, end = unquoted(script, option.value_start, option.value_end)
    start = script.text.find("=", start, end) + 1
    script.place(
        f"{option.name} {key}",
        value,
        Kind.CLI_FLAG,
        Form.FLAG,
        option.start,
        option.end,
        start,
        end,
        program=launcher.program,
        framework=launcher.framework,
        fallback=option.fallback,
    )


def take_variable(script: Script, option: Option, program: str) -> str | None:
    """Add `-x NAME=VALUE` or `-x NAME` as a variable handed over; return its name, None where it is not told."""
    name, equals, value = (option.value or "").partition("=")
    if not _NAME.fullmatch(name):
        return None
    start, end = unquoted(script, option.value_start, option.value_end)
    script.place(
        name,
        value if equals else None,
        Kind.ENV,
        Form.LAUNCHER_OPTION,
        option.start,
        option.end,
        script.text.find("=", start, end) + 1 if equals else None,
        end,
        program=program,
        fallback=option.fallback,
    )
    return name


def take_variables(script: Script, option: Option, program: str) -> list[str]:
    """Add every NAME=VALUE and NAME of a list as `--export=ALL,A=1,B` takes; return what is listed, ALL too."""
    text = option.value or ""
    start, end = unquoted(script, option.value_start, option.value_end)
    items = list(_ITEM.finditer(text))
    written = list(_ITEM.finditer(script.text, start, end))
    listed: list[str] = []
    for item, place in zip(items, written if len(written) == len(items) else [None] * len(items), strict=True):
        name, equals, value = item[0].partition("=")
        if not _NAME.fullmatch(name):
            continue
        listed.append(name)
        if name in {"ALL", "NONE", "NIL"} and not equals:
            continue
        first, last = place.span() if place else (option.start, option.end)
        script.place(
            name,
            value.strip("\"'") if equals else None,
            Kind.ENV,
            Form.LAUNCHER_OPTION,
            first,
            last,
            first + len(name) + 1 if place and equals else None,
            last,
            program=program,
        )
    return listed


def unquoted(script: Script, start: int, end: int) -> tuple[int, int]:
    """Return the bounds without the quotes around them."""
    text = script.text
    if end - start > 1 and text[start] in "\"'" and text[end - 1] == text[start]:
        return start + 1, end - 1
    return start, end


def number(text: str | None) -> int | None:
    """Return a count as written, None for anything else."""
    return int(text) if text and len(text) < 9 and text.isascii() and text.isdigit() else None


def first_number(found: Sequence[Option], *names: str) -> int | None:
    """Return the count that one of the options gives."""
    values = (option.value for option in found if option.name.replace("_", "-") in names)
    return next((count for value in values if (count := number(value)) is not None), None)
