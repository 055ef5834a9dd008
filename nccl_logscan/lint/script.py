"""A shell script as the question of reach sees it: what it starts, where, and what of its environment that gets."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nccl_logscan.configs.frameworks import RAY
from nccl_logscan.configs.model import Config, Form, Forwards, Launch
from nccl_logscan.lint.made import Made

SLURM = frozenset({"srun", "sbatch", "salloc"})
_MPI = frozenset({"mpirun", "mpiexec", "orterun", "prterun"})
_HANDED = frozenset({Form.LAUNCHER_OPTION, Form.RUNTIME_ENV, Form.ENV_FILE, Form.ENV_MAPPING})

# A command that may train, at the beginning of a command line; what is exported reaches it.
_RUN = re.compile(
    rb"(?m)(?:^|[;&|({]|\b(?:then|do|else))[ \t]*+"
    rb"(?:(?:exec|time|nohup|sudo|command|eval|numactl|[A-Za-z_]\w*+=[^\s;&|]*+)[ \t]++){0,8}+"
    rb"(?P<program>(?:\S{0,200}/)?(?:torchrun|python[0-9.]*|accelerate|deepspeed|horovodrun|llamafactory-cli|swift|bash|sh"
    rb"|uv|poetry|conda)|\S{0,200}\.sh|\$\{?\w+|\"\$@\"|\"\$\{\w+\[@\]\}\")(?=[ \t\\\r\n;&|]|\Z)"
)
_RAY_START = re.compile(rb"\bray[ \t]+start\b(?P<options>(?:[^\n;&|\\]|\\\r?\n|\\.){0,2000})")
_UNTOLD = re.compile(rb"--env-host|env_list|-genvall|-envall|--export-file|--tune\b|SendEnv|\$0|BASH_SOURCE")
_VARIABLE = re.compile(rb"\$\{?(\w+)\}?\"?\Z")
_SBATCH = re.compile(rb"(?m)^#SBATCH\b")
_VERL = re.compile(rb"\bverl\.trainer\b|\bmain_ppo\b")
_RAY_DRIVERS = re.compile(rb"\bverl\.trainer\b|\bmain_ppo\b|\bopenrlhf\.cli\.train_ppo_ray\b|\bray\.init\b")


@dataclass(frozen=True, slots=True)
class RayStart:
    """Where `ray start` stands, and whether it joins a head that runs elsewhere: then the script runs on every host."""

    at: int
    joins: bool


@dataclass(frozen=True)
class Script:
    """A script, its settings and what it starts."""

    config: Config
    made: Sequence[Made]

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """What it starts by itself; a launch within another one is that one's matter."""
        found: list[Launch] = []
        for launch in sorted(self.config.launches, key=lambda launch: (launch.span.start, -launch.span.end)):
            if not found or launch.span.start >= found[-1].span.end:
                found.append(launch)
        return tuple(found)

    def launches_after(self, at: int) -> tuple[Launch, ...]:
        """Return the launches that end after the byte at `at`."""
        return self.launches[bisect_right(self.launches, at, key=lambda launch: launch.span.end) :]

    @cached_property
    def exported(self) -> frozenset[str]:
        """The names that it exports anywhere."""
        return frozenset(made.placed.name for made in self.made if made.placed.form is Form.EXPORT)

    @cached_property
    def handed_over(self) -> frozenset[str]:
        """The names that it hands over to any process expressly, or sets within the command that it sends elsewhere."""
        return frozenset(
            made.placed.name for made in self.made if made.placed.form in _HANDED or self.is_elsewhere(made)
        )

    def is_elsewhere(self, made: Made) -> bool:
        """Return whether a setting is made within a command that runs on another host, or in a container."""
        launch = self._launch_at(made.placed.span.start)
        return launch is not None and launch.remote and launch.span.start < made.placed.span.start

    def uses(self, name: str) -> bool:
        """Return whether the script expands the variable."""
        return name.encode() in self._expanded

    @cached_property
    def _expanded(self) -> frozenset[bytes]:
        return frozenset(re.findall(rb"\$\{?(\w+)", self.config.data))

    # --- what runs where ---------------------------------------------------------------------------------------

    @cached_property
    def _here(self) -> tuple[int, ...]:
        """Where a command starts on this host that no launch takes elsewhere."""
        found = (run.start("program") for run in _RUN.finditer(self._code))
        return tuple(at for at in found if not self._is_taken(at))

    def _is_taken(self, at: int) -> bool:
        launch = self._launch_at(at)
        return launch is not None and launch.forwards is not Forwards.ALL

    def _launch_at(self, at: int) -> Launch | None:
        before = bisect_right(self.launches, at, key=lambda launch: launch.span.start)
        launch = self.launches[before - 1] if before else None
        return launch if launch and at < launch.span.end else None

    @cached_property
    def _code(self) -> bytes:
        """The script with its comment lines blanked, every byte in its place."""
        return re.sub(rb"(?m)^[ \t]*#[^\n]*", lambda comment: b" " * len(comment[0]), self.config.data)

    def runs_here_after(self, at: int) -> bool:
        """Return whether a command is started on this host after the byte at `at`."""
        return bisect_left(self._here, at) < len(self._here)

    def runs_after(self, at: int) -> bool:
        """Return whether anything is started after the byte at `at`."""
        return self.runs_here_after(at) or bool(self.launches_after(at))

    def launch_of(self, made: Made) -> Launch | None:
        """Return the launch that a variable in front of a command is for; None for another command."""
        span = made.placed.span
        inside = self._launch_at(span.start)
        if inside and inside.span.start < span.start:
            return None
        launch = next(iter(self.launches_after(span.end)), None)
        if launch is None or b"\n" in self._code[span.end : max(span.end, launch.span.start)].replace(b"\\\n", b""):
            return None
        return launch

    def misses(self, launch: Launch, name: str) -> bool:
        """Return whether what a launch starts surely does not get an exported variable."""
        return launch in self._selective and not any(_stands_for(pattern, name) for pattern in launch.names)

    def reached_until(self, name: str) -> int:
        """Return where the last launch ends that hands an exported variable on; 0 if none does."""
        if name not in self._reached:
            reached = (launch.span.end for launch in reversed(self.launches) if not self.misses(launch, name))
            self._reached[name] = next(reached, 0)
        return self._reached[name]

    @cached_property
    def _reached(self) -> dict[str, int]:
        """What `reached_until` has found."""
        return {}

    @cached_property
    def _selective(self) -> frozenset[Launch]:
        """The launches that hand over what they are told to, and tell that themselves."""
        return frozenset(launch for launch in self.launches if self._is_selective(launch))

    def _is_selective(self, launch: Launch) -> bool:
        if launch.forwards is Forwards.ALL or launch.framework in RAY:
            # Ray's workers get what `ray start` had: see RayStart.
            return False
        if not launch.remote and launch.program not in SLURM:
            return False
        if launch.program in _MPI and (self._in_slurm or launch.nodes == 1):
            # Under Slurm mpirun's daemons are started by srun, which hands the whole environment over.
            return False
        return _UNTOLD.search(self._code, launch.span.start, launch.span.end) is None

    @cached_property
    def _in_slurm(self) -> bool:
        return _SBATCH.search(self.config.data) is not None

    # --- Ray ---------------------------------------------------------------------------------------------------

    @cached_property
    def is_verl(self) -> bool:
        """Whether it starts verl."""
        return _VERL.search(self._code) is not None

    @cached_property
    def is_under_ray(self) -> bool:
        """Whether it starts a program whose workers Ray starts."""
        return _RAY_DRIVERS.search(self._code) is not None

    @cached_property
    def ray_starts(self) -> tuple[RayStart, ...]:
        """Every `ray start`."""
        found = _RAY_START.finditer(self._code)
        return tuple(RayStart(start.start(), b"--address" in start["options"]) for start in found)

    @cached_property
    def ray_nodes(self) -> int:
        """On how many nodes the job runs; 1 where the script does not say."""
        names = {"trainer.nnodes", "--actor_num_nodes", "--actor-num-nodes"}
        counts = [self._told(made) for made in self.made if made.placed.name in names]
        return max(
            (int(count) for count in counts if count.isascii() and count.isdigit() and len(count) < 6), default=1
        )

    def _told(self, made: Made) -> str:
        """Return a setting's value; that of the variable which it is taken from, where the script sets that once."""
        if made.placed.value is not None or made.placed.value_span is None:
            return made.placed.value or ""
        span = made.placed.value_span
        variable = _VARIABLE.search(self.config.data, span.start, span.end)
        name = variable[1].decode() if variable else ""
        values = {other.placed.value or "" for other in self.made if other.placed.name == name}
        return values.pop() if len(values) == 1 else ""


def _stands_for(pattern: str, name: str) -> bool:
    """NCCL* stands for all names that begin so."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
