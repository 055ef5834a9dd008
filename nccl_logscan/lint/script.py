"""A shell script as the question of reach sees it: what it starts, where, and what of its environment that gets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nccl_logscan.configs.model import Config, Form, Forwards, Launch
from nccl_logscan.lint.job import Made

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
_UNTOLD = re.compile(
    rb"--env-file|--env-host|--runtime-env(?!-json)|env_list|-genvall|-envall|--export-file|--tune\b|SendEnv|\$0|BASH_SOURCE"
)
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

    @property
    def launches(self) -> Sequence[Launch]:
        """What it starts that may not inherit its environment."""
        return self.config.launches

    @cached_property
    def exported(self) -> frozenset[str]:
        """The names that it exports anywhere."""
        return frozenset(made.placed.name for made in self.made if made.placed.form is Form.EXPORT)

    @cached_property
    def handed_over(self) -> frozenset[str]:
        """The names that it hands over to any process expressly."""
        return frozenset(made.placed.name for made in self.made if made.placed.form in _HANDED)

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
        taken = [launch.span for launch in self.launches if launch.forwards is not Forwards.ALL]
        found = (run.start("program") for run in _RUN.finditer(self._code))
        return tuple(at for at in found if not any(span.start <= at < span.end for span in taken))

    @cached_property
    def _code(self) -> bytes:
        """The script with its comment lines blanked, every byte in its place."""
        return re.sub(rb"(?m)^[ \t]*#[^\n]*", lambda comment: b" " * len(comment[0]), self.config.data)

    def runs_here_after(self, at: int) -> bool:
        """Return whether a command is started on this host after the byte at `at`."""
        return any(start >= at for start in self._here)

    def runs_after(self, at: int) -> bool:
        """Return whether anything is started after the byte at `at`."""
        return self.runs_here_after(at) or any(launch.span.end > at for launch in self.launches)

    def launched_before(self, at: int) -> bool:
        """Return whether anything is started before the byte at `at`."""
        return any(start < at for start in self._here) or any(launch.span.start < at for launch in self.launches)

    def launch_of(self, made: Made) -> Launch | None:
        """Return the launch that a variable in front of a command is for; None for another command."""
        span = made.placed.span
        launch = next((launch for launch in self.launches if launch.span.end > span.end), None)
        if launch is None or b"\n" in self._code[span.end : max(span.end, launch.span.start)].replace(b"\\\n", b""):
            return None
        return launch

    def misses(self, launch: Launch, name: str) -> bool:
        """Return whether what a launch starts surely does not get an exported variable."""
        if launch.forwards is Forwards.ALL or not (launch.remote or launch.program in SLURM):
            return False
        if launch.program in _MPI and (self._in_slurm or launch.nodes == 1):
            # Under Slurm mpirun's daemons are started by srun, which hands the whole environment over.
            return False
        if _UNTOLD.search(self._code, launch.span.start, launch.span.end):
            return False
        return not any(_stands_for(pattern, name) for pattern in launch.names)

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
        counts = [made.placed.value or "" for made in self.made if made.placed.name in names]
        return max(
            (int(count) for count in counts if count.isascii() and count.isdigit() and len(count) < 6), default=1
        )


def _stands_for(pattern: str, name: str) -> bool:
    """NCCL* stands for all names that begin so."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
