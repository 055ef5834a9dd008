"""The catalogue's types: a Variable (of the environment), an Option (of a framework or host), a Practice (advice)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from nccl_logscan.records import dataclass, field


class Kind(StrEnum):
    """How a setting is made; the values are the report contract's."""

    ENV = "env"
    CLI_FLAG = "cli_flag"
    YAML_KEY = "yaml_key"
    JSON_KEY = "json_key"
    PYTHON_KWARG = "python_kwarg"
    K8S_FIELD = "k8s_field"
    HOST_COMMAND = "host_command"


class Reader(StrEnum):
    """Whose code reads a variable.

    NOBODY is for names that are widely set and read by nothing, OTHER for what CUDA, a launcher, a build or another
    communication library reads: known, so no misspelling, and nothing else is said of it.
    """

    NCCL = "nccl"
    PLUGIN = "nccl-plugin"
    TORCH = "torch"
    NOBODY = "none"
    OTHER = "other"


class Form(StrEnum):
    """The shape of a value. FLAG is 0 or 1; LIST is comma-separated, its members from `choices` where there are any."""

    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"
    CHOICE = "choice"
    LIST = "list"
    PATH = "path"
    TEXT = "text"


class Parser(StrEnum):
    """Which function makes a number or a truth value of the text, where that is known."""

    STRTOLL = "strtoll"
    """C's, with base 0: what follows the leading digits is dropped, a word is 0, 0x and a leading 0 change the base."""
    STOI = "stoi"
    """C++'s: what follows the leading digits is dropped, a text without them ends the program."""
    TORCH_BOOL = "torch-bool"
    """PyTorch's getCvarBool: another word than those it knows ends the program."""
    NCCL_BOOL = "nccl-bool"
    """NCCL's own since 2.30: another word leaves the default."""


@dataclass(frozen=True, slots=True)
class Domain:
    """Which values are taken (see domain.py's `takes`). Bounds are inclusive; `unit` is bytes, seconds or the like.

    `special` are values taken besides those of the form (-1 or -2 for "automatic"). `pattern` says exactly what is
    taken where form and `choices` say it roughly; it matches the whole value, and `wanted` says it in words that fit
    "takes ...". `strict`: another value is an error or is silently read as something else; where it is False another
    value may be right, and is no finding.
    """

    form: Form = Form.TEXT
    choices: tuple[str, ...] = ()
    at_least: float | None = None
    at_most: float | None = None
    unit: str | None = None
    special: tuple[str, ...] = ()
    ignores_case: bool = False
    strict: bool = False
    pattern: str | None = None
    parser: Parser | None = None
    wanted: str | None = None


@dataclass(frozen=True, slots=True)
class Default:
    """A default and the first version that has it ("": from the beginning)."""

    since: str
    value: str


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable. Versions are those of its reader: NCCL's, a plugin's or PyTorch's.

    `since` and `last_seen` bound the versions whose source was searched and holds it; `removed_in` is the first one
    without it (None: it is still read). `replaced_by` is a name, or NAME=VALUE; `keeps_value` is False where the old
    value does not mean the same under it, so that renaming alone mends nothing. `of_site`: only the site can tell its
    right value. `verified` is False where it was only seen as a string in a binary: such a name is known, and no advice
    is made of it. A `name` that ends in * is a family of names (of Reader.OTHER).
    """

    name: str
    reader: Reader
    meaning: str | None
    domain: Domain
    defaults: tuple[Default, ...]
    since: str | None
    last_seen: str | None
    removed_in: str | None
    deprecated_in: str | None
    replaced_by: str | None
    documented: bool
    verified: bool
    source: str
    note: str | None = None
    keeps_value: bool = True
    of_site: bool = False


class Fate(StrEnum):
    """What becomes of a key, a flag or a variable that a framework's version has no use for."""

    ABORTS = "aborts"
    """The program stops at it."""
    IGNORED = "ignored"
    """It may be written, and nothing reads it."""


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of a framework, a launcher, a container runtime or a host.

    `names` are the names under which it may be written, canonical first: a flag with its dashes
    (`--distributed-timeout-minutes`), a dotted key (`fp16.initial_scale_power`), a call's keyword
    (`init_process_group(timeout=)`), a variable. `since` and `until` are versions of `framework` ("": not known), both
    inclusive. `concept` joins settings of different frameworks that do the same (see concepts.py): the advice
    "raise the process group's timeout" finds each framework's own name by it. `harmful`: it works, and is
    still never advice: a relic of older versions, or values of one site. `verified` is False where no source was read:
    known, and no advice.

    `fate`: the versions from `since` to `until` have no use for it; it is never advice. `afterwards` is its fate in the
    versions after `until`, where that is known (None: what the framework does with any unknown name). `reserved`: a
    variable that the framework writes itself for each worker; it stops where an environment for them has it.
    `unshipped`: a key that the configuration shipped with the framework lacks, so that Hydra takes it with a + only.

    `of_site`: only the site can tell its right value: the name of an interface, an adapter or a node, an index.
    `main`: of several settings that its framework has for its concept, the one that governs the time after start-up.
    `goes_beyond`: it does more than its concept says.
    """

    id: str
    framework: str
    kind: Kind
    names: tuple[str, ...]
    default: str | None
    domain: Domain
    since: str
    until: str
    effect: str
    risk: str
    helps_with: tuple[str, ...]
    example: str
    source: str
    verified: bool
    concept: str | None = None
    harmful: bool = False
    note: str | None = None
    fate: Fate | None = None
    afterwards: Fate | None = None
    reserved: bool = False
    unshipped: bool = False
    of_site: bool = False
    main: bool = False
    goes_beyond: bool = False

    @property
    def dead(self) -> bool:
        """Whether it does nothing, or ends the program, in the versions from `since` to `until`."""
        return self.fate is not None


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one setting; all that is given must hold. Without any test: the setting is made at all.

    `equals` compares as text (any of them, case ignored), `below` and `above` as numbers, `missing` holds where the
    setting is not made anywhere. A `name` that ends in * (FI_*) is any setting so called, and takes no test of its
    value but `missing`. `below_setting` and `above_setting` name a second setting to compare with; `times`
    one to multiply with before `below` and `above` are asked. A flag's name is written as load.py's flag_form has it.
    """

    name: str
    equals: tuple[str, ...] = ()
    differs_from: tuple[str, ...] = ()
    matches: str | None = None
    below: float | None = None
    above: float | None = None
    below_setting: str | None = None
    above_setting: str | None = None
    times: str | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Practice:
    """Advice on values that are valid and yet wrong: harmful copies, leftovers of debugging, contradictory pairs.

    It speaks where every condition of `when` holds (practice.py's `spoken_of`), at the setting of the first one.
    `check` is the lint check it belongs to. `fix` maps a setting to the value it should have ("": take it out); empty
    where the right value depends on facts a file lacks: `tells` is then the command that would tell. `nccl` and
    `torch` are ranges of versions outside of which it is silent, `frameworks` those of frameworks. Where a file's text
    matches `unless_said`, it shows that the value belongs there, and no more than a note is made of it. `hits` and
    `misses` are its proof: settings that it speaks of, and near ones that it does not.
    """

    id: str
    check: str
    severity: str
    when: tuple[Condition, ...]
    problem: str
    advice: str
    source: str
    fix: Mapping[str, str] = field(default_factory=dict)
    tells: str | None = None
    nccl: str = ""
    torch: str = ""
    frameworks: Mapping[str, str] = field(default_factory=dict)
    unless_said: str | None = None
    hits: tuple[Mapping[str, str], ...] = ()
    misses: tuple[Mapping[str, str], ...] = ()
