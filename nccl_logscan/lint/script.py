"""A shell script as the question of reach sees it: what it starts, where, and what of its environment that gets."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property

from nccl_logscan.configs.frameworks import RAY
from nccl_logscan.configs.model import Config, Form, Forwards, Launch
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.made import Made
from nccl_logscan.position import Span
from nccl_logscan.records import dataclass, replace

Arms = tuple[tuple[int, int], ...]
"""The ifs and cases around a place, the outermost first: where each begins, and its arm."""

SLURM = frozenset({"srun", "sbatch", "salloc"})
_MPI = frozenset({"mpirun", "mpiexec", "orterun", "prterun"})
_HANDED = frozenset({Form.LAUNCHER_OPTION, Form.RUNTIME_ENV, Form.ENV_FILE, Form.ENV_MAPPING})

# A command that may train, at the beginning of a command line; what is exported reaches it.
_RUN = deferred(
    rb"(?m)(?:^|[;&|(){]|\b(?:then|do|else))[ \t]*+"
    rb"(?:(?:exec|time|nohup|sudo|command|eval|numactl|[A-Za-z_]\w*+=[^\s;&|]*+)[ \t]++){0,8}+"
    rb"(?P<program>(?:\S{0,200}/)?(?:torchrun|python[0-9.]*|accelerate|deepspeed|horovodrun|llamafactory-cli|swift|bash|sh"
    rb"|uv|poetry|conda)|\S{0,200}\.sh|\$\{?\w+|\"\$@\"|\"\$\{\w+\[@\]\}\")(?=[ \t\\\r\n;&|]|\Z)"
)
_RAY_START = deferred(rb"\bray[ \t]+start\b(?P<options>(?:[^\n;&|\\]|\\\r?\n|\\.){0,2000})")
_UNTOLD = deferred(rb"--env-host|env_list|-genvall|-envall|--export-file|--tune\b|SendEnv|\$0|BASH_SOURCE")
_LISTS_VARIABLES = deferred(
    rb"(?:^|[;&|(\s`])(?:env|printenv|export[ \t]+-p|declare[ \t]+-p?x|set)[ \t]*(?:\||>)"
    rb"|\$\{!\w*(?:NCCL|TORCH)\w*[@*]\}|compgen[ \t]+-[ev]"
)
_ARM = deferred(rb"(?<![\w$./\"'=-])(?:if|elif|else|fi|case|esac)(?![\w.=/:-])|;;")
_BEGINS_COMMAND = deferred(rb"(?:\A|[;&|({!]|\b(?:then|do|else))[ \t]*\Z")
_LONGEST_INDENT = 2000
_DEEPEST = 64
_ASKED = 200
"""Of how many launches after a setting it is asked whether they run with it."""
_FED_LIMIT = 20
_VARIABLE = deferred(rb"\$\{?(\w+)\}?\"?\Z")
_SBATCH = deferred(rb"(?m)^#SBATCH\b")
_VERL = deferred(rb"\bverl\.trainer\b|\bmain_ppo\b")
_RAY_DRIVERS = deferred(rb"\bverl\.trainer\b|\bmain_ppo\b|\bopenrlhf\.cli\.train_ppo_ray\b|\bray\.init\b")


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
    inside: Span | None = None
    """The here-document that it is, of a remote shell that the file starts; None for the file itself."""

    @cached_property
    def fed(self) -> tuple[Script, ...]:
        """The here-documents that remote shells read as scripts: each runs elsewhere, in an environment of its own."""
        spans = [launch.fed for launch in self.config.launches if launch.fed and launch.fed != self.inside]
        own = [span for span in spans[:_FED_LIMIT] if self.inside is None]
        return tuple(
            replace(self, made=[made for made in self.made if _holds(span, made)], inside=span) for span in own
        )

    def makes(self, made: Made) -> bool:
        """Return whether it makes a setting itself."""
        return self._is_own(made.placed.span.start)

    def _is_own(self, at: int) -> bool:
        if self.inside is not None:
            return self.inside.start <= at < self.inside.end
        return not any(part.inside and part.inside.start <= at < part.inside.end for part in self.fed)

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """What it starts by itself; a launch within another one is that one's matter."""
        found: list[Launch] = []
        own = (launch for launch in self.config.launches if self._is_own(launch.span.start))
        for launch in sorted(own, key=lambda launch: (launch.span.start, -launch.span.end)):
            if not found or launch.span.start >= found[-1].span.end:
                found.append(launch)
        return tuple(found)

    def launches_after(self, at: int) -> tuple[Launch, ...]:
        """Return the launches that end after the byte at `at` and may run after it."""
        after = self.launches[bisect_right(self.launches, at, key=lambda launch: launch.span.end) :]
        if not self._arms or len(after) > _ASKED:
            return after
        return tuple(launch for launch in after if self.may_follow(at, launch.span.start))

    @cached_property
    def exported(self) -> frozenset[str]:
        """The names that it exports anywhere."""
        return frozenset(made.placed.name for made in self.made if made.placed.form is Form.EXPORT and self.makes(made))

    @cached_property
    def handed_over(self) -> frozenset[str]:
        """The names that it hands over to any process expressly, or sets within the command that it sends elsewhere."""
        return frozenset(
            made.placed.name
            for made in self.made
            if made.placed.form in _HANDED or self.is_elsewhere(made) or (self.fed and not self.makes(made))
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
        code = re.sub(rb"(?m)^[ \t]*#[^\n]*", lambda comment: b" " * len(comment[0]), self.config.data)
        if self.inside is not None:
            return b" " * self.inside.start + code[self.inside.start : self.inside.end]
        for part in self.fed:
            if part.inside is not None:
                start, end = part.inside.start, part.inside.end
                code = code[:start] + b" " * (end - start) + code[end:]
        return code

    # --- arms of if and case -----------------------------------------------------------------------------------

    @cached_property
    def _arms(self) -> tuple[tuple[int, Arms], ...]:
        """Where the arm of an if or a case begins or ends, and in which ones what follows stands."""
        found: list[tuple[int, Arms]] = []
        stack: list[tuple[int, int]] = []
        for token in _ARM.finditer(self._code):
            line = self._code.rfind(b"\n", max(0, token.start() - _LONGEST_INDENT), token.start()) + 1
            word = token[0]
            if word != b";;" and not _BEGINS_COMMAND.search(self._code[line : token.start()]):
                continue
            if word in {b"if", b"case"}:
                stack.append((token.start(), 0))
            elif stack and word in {b"fi", b"esac"}:
                stack.pop()
            elif stack:
                stack[-1] = (stack[-1][0], token.start())
            found.append((token.start(), tuple(stack[-_DEEPEST:])))
        return tuple(found)

    def may_follow(self, one: int, other: int) -> bool:
        """Return whether one run of the script may pass both bytes: not so in two arms of the same if."""
        first, second = self._arms_at(one), self._arms_at(other)
        return all(a == b or a[0] != b[0] for a, b in zip(first, second, strict=False))

    def _arms_at(self, at: int) -> Arms:
        number = bisect_right(self._arms, at, key=lambda each: each[0])
        return self._arms[number - 1][1] if number else ()

    def runs_here_after(self, at: int) -> bool:
        """Return whether a command is started on this host after the byte at `at`."""
        after = self._here[bisect_left(self._here, at) :]
        if not self._arms or len(after) > _ASKED:
            return bool(after)
        return any(self.may_follow(at, start) for start in after)

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

    def reaches_after(self, name: str, at: int) -> bool:
        """Return whether a launch after the byte at `at` hands an exported variable on."""
        return any(not self.misses(launch, name) for launch in self.launches_after(at)[:_ASKED])

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
        if self._hands_over_what_is_set:
            return False
        return _UNTOLD.search(self._code, launch.span.start, launch.span.end) is None

    @cached_property
    def _hands_over_what_is_set(self) -> bool:
        """Whether it lists the variables that are set, to write them into a command for elsewhere."""
        return _LISTS_VARIABLES.search(self.config.data) is not None

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


def _holds(span: Span, made: Made) -> bool:
    return span.start <= made.placed.span.start < span.end


def _stands_for(pattern: str, name: str) -> bool:
    """NCCL* stands for all names that begin so."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
