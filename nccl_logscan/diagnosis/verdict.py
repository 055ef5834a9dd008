"""ScanResult and its parts: what a scan concludes. The report layer turns it into the contract's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from nccl_logscan.diagnosis.activity import Activity
from nccl_logscan.diagnosis.figures import Figures
from nccl_logscan.diagnosis.findings import Evidence, Finding
from nccl_logscan.diagnosis.machines import Links, Machine
from nccl_logscan.diagnosis.spans import Spans
from nccl_logscan.diagnosis.training import Training
from nccl_logscan.position import Instant, Position
from nccl_logscan.records import dataclass, field
from nccl_logscan.rulebook.rule import Rule
from nccl_logscan.taxonomy import Action, Basis, Category, Level

if TYPE_CHECKING:
    from nccl_logscan.classifier.score import Suggestion
    from nccl_logscan.lint.model import Remark


@dataclass(frozen=True, slots=True)
class Culprit:
    """Where the failure began; every unknown is None. `rank` is the global rank."""

    rank: int | None = None
    host: str | None = None
    pid: int | None = None
    device: int | None = None
    adapter: str | None = None
    peer: str | None = None
    process_group: str | None = None


@dataclass(frozen=True, slots=True)
class Cited:
    """A line of the verdict's evidence. `role`: cause, symptom or context."""

    evidence: Evidence
    role: str


@dataclass(frozen=True, slots=True)
class Alternative:
    """The next best explanation."""

    category: Category
    confidence: float
    why: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The verdict. `finding` is the deciding one; None for `none` and `unknown` without a rule.

    `confidence` is 0 to 1; `reasons` and `unknowns` are sentences; `consequences` are the findings the cause explains,
    in order.
    """

    category: Category
    basis: Basis
    level: Level
    confidence: float
    headline: str
    reasons: tuple[str, ...]
    culprit: Culprit
    evidence: tuple[Cited, ...]
    action: Action
    finding: Finding | None
    consequences: tuple[Finding, ...]
    alternatives: tuple[Alternative, ...]
    unknowns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Aligned:
    """A time as the clock named `clock` would have shown it, give or take `uncertainty` seconds."""

    value: datetime
    clock: str
    uncertainty: float


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """A moment worth showing. `clock` names whose clock `when` is by. `aligned`: None where no event that two clocks
    saw ties it to another clock.
    """

    when: Instant | None
    rank: int | None
    host: str | None
    kind: str
    text: str
    at: Position
    aligned: Aligned | None = None


@dataclass(frozen=True, slots=True)
class UnclaimedGroup:
    """Warnings and errors that no rule knew, by template.

    `first` is the place of the first of them, `sample` its message (cut at 500 characters), `kind` the kind of its
    event and `line` the whole line as it stood in the log (cut at 2,000); None where it had passed too long ago.
    `file` is the source file that wrote the first, where its line names one.
    `outlived`: the job went on after the last of them, or was started again.
    """

    template: str
    count: int
    first: Position
    sample: str
    kind: str
    line: str | None
    file: str = ""
    suggestion: Suggestion | None = None
    outlived: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable seen in the log. `origin` says where it was set, as NCCL prints it."""

    name: str
    value: str
    origin: str
    at: Position


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that differs between hosts or ranks: `values` maps each value to who has it.

    `harmless` says why the difference breaks nothing; None where it may.
    """

    name: str
    values: Mapping[str, tuple[str, ...]]
    harmless: str | None = None


@dataclass(frozen=True, slots=True)
class Communicator:
    """A communicator as its Init lines show it."""

    comm_id: str
    nranks: int | None
    started: tuple[int, ...]
    completed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Job:
    """What the log says about the job itself. `ranks_silent` are ranks of the world that never spoke.

    `frameworks` are the programs that the log shows at work, by the names that the catalogue has for them;
    `link_layers` those of the adapters that NCCL lists: IB, RoCE. `machines` are the hosts with their ranks, GPUs and
    adapters, `links` what NCCL printed of bandwidths, paths and channels.
    """

    nccl_versions: tuple[str, ...] = ()
    torch_versions: tuple[str, ...] = ()
    cuda_driver: tuple[str, ...] = ()
    world_size: int | None = None
    hosts: tuple[str, ...] = ()
    ranks_seen: tuple[int, ...] = ()
    ranks_silent: tuple[int, ...] = ()
    communicators: tuple[Communicator, ...] = ()
    network: tuple[str, ...] = ()
    topology: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[Setting, ...] = ()
    differences: tuple[Difference, ...] = ()
    frameworks: tuple[str, ...] = ()
    link_layers: tuple[str, ...] = ()
    machines: tuple[Machine, ...] = ()
    links: Links = field(default_factory=Links)


@dataclass(frozen=True, slots=True)
class RankStanding:
    """How far one rank came in one process group (None: it is not told in any), and its last words.

    `last_enqueued` and `last_completed` are sequence numbers; `waits_in` is the operation of the call that it issued
    and that did not finish, `waits_at` its number. `recorded`: its flight recorder's dump was read.
    """

    rank: int
    host: str | None
    process_group: str | None
    last_enqueued: int | None
    last_completed: int | None
    waits_in: str | None
    waits_at: int | None
    recorded: bool
    last_words: TimelineEntry | None


@dataclass(frozen=True, slots=True)
class ScannedInput:
    """One input as it was read. `kind`: one of `sources.Kind`, such as text or flight_recorder."""

    name: str
    kind: str
    bytes: int
    lines: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the inputs was read and understood."""

    lines: int
    bytes: int
    by_kind: Mapping[str, int]
    unrecognised_nccl_lines: int
    replaced_bytes: int
    truncated_lines: int
    seconds: float
    peak_rss_bytes: int


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A rule's step with its placeholders filled, in the terms of the job's own framework.

    `command` is None where a value was not in the log; `because` names the finding's rule. `present` is the setting's
    value now, and `where` the line that makes it: of a configuration file, else of the log that printed it; of a
    setting to be added, the line of the file at which it goes in. `diff` is the change of one file or several as
    `git apply` takes it; None where there is no file to change, or where the right value depends on what the log does
    not tell. `framework` is whose setting it is, `unit` what its value counts.
    """

    id: str
    title: str
    kind: str
    setting: str | None
    to: str | None
    command: str | None
    owner: str
    effect: str
    on: str | None
    why: str
    risk: str | None
    do_not: bool
    since: str | None
    until: str | None
    source: str | None
    because: str
    present: str | None = None
    where: Position | None = None
    diff: str | None = None
    framework: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedSetting:
    """What lint says of a setting in a configuration file or in the log; `diff` mends the file, where it can be."""

    remark: Remark
    diff: str | None = None


@dataclass(frozen=True, slots=True)
class ScanResult:
    """All that a scan found out."""

    diagnosis: Diagnosis
    findings: tuple[Finding, ...]
    plan: tuple[PlannedStep, ...]
    timeline: tuple[TimelineEntry, ...]
    standings: tuple[RankStanding, ...]
    job: Job
    coverage: Coverage
    unclaimed: tuple[UnclaimedGroup, ...]
    inputs: tuple[ScannedInput, ...]
    notes: tuple[str, ...]
    rulebook_digest: str
    rules_used: Mapping[str, Rule]
    judged: tuple[JudgedSetting, ...] = ()
    model_digest: str | None = None
    """Of the classifier's model; None where it was not asked."""
    activity: Activity | None = None
    """When ranks spoke; None where nothing failed, or where neither times nor the lines of one input compare them."""
    training: Training | None = None
    """The course of training; None where the log has not two points of it."""
    spans: Spans | None = None
    """The calls of dumps and the tasks of Ray's timelines; None where there is neither."""
    figures: Figures | None = None
    """What nccl-tests, NCCL's Inspector and dmon measured, and what NCCL chose; None where nothing is told of it."""
