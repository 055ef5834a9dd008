"""Job: the settings of one job with what is needed to judge them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from nccl_logscan.catalogue.load import Catalogue, catalogue
from nccl_logscan.catalogue.model import Kind, Option
from nccl_logscan.catalogue.versions import lies_between
from nccl_logscan.configs.model import Config
from nccl_logscan.expressions import deferred
from nccl_logscan.lint.made import FIX_BUDGET, Budget, Made
from nccl_logscan.lint.model import Versions
from nccl_logscan.lint.uses import used_in
from nccl_logscan.records import dataclass, replace

_TELLING_DOTS = 2
_NUMBER = deferred(r"\[\d+\]")
_FIELD_PARTS = 8
_SMALL = 32 << 10


@dataclass(frozen=True)
class Job:
    """What belongs to one job: its files' settings, or those that its log shows, and the versions it runs."""

    configs: Sequence[Config]
    made: Sequence[Made]
    versions: Versions
    catalogue: Catalogue

    @cached_property
    def variables(self) -> tuple[Made, ...]:
        """Every variable that is set."""
        return tuple(made for made in self.made if made.placed.kind is Kind.ENV and made.is_given)

    @cached_property
    def by_name(self) -> Mapping[str, tuple[Made, ...]]:
        """The settings of each name, as the catalogue writes it, in the order of the files."""
        found: dict[str, list[Made]] = {}
        for made in self.made:
            found.setdefault(made.key, []).append(made)
        return {name: tuple(all_made) for name, all_made in found.items()}

    def options_for(self, made: Made) -> tuple[Option, ...]:
        """Return the verified options that a setting may be; none where the file does not tell whose setting it is.

        A flag or a key of one word (`--fp16`, `debug`) may be anybody's; a long dotted key tells its framework itself.
        """
        placed = made.placed
        is_variable = placed.kind is Kind.ENV
        if placed.framework is None and not is_variable and placed.name.count(".") < _TELLING_DOTS:
            return ()
        if placed.kind is Kind.K8S_FIELD:
            return _fields(placed.name)
        return _options(placed.name, None if is_variable else placed.framework, is_variable=is_variable)

    def covering(self, made: Made) -> tuple[Option, ...]:
        """Return the options that a setting may be in the versions in use; all of them where none has it."""
        options = self.options_for(made)
        return tuple(option for option in options if covers(option, self.version_of(option.framework))) or options

    def version_of(self, framework: str) -> str | None:
        """Return the version of a framework that is in use; None where it is not known."""
        if framework in {"nccl", "pytorch"}:
            return self.versions.nccl if framework == "nccl" else self.versions.torch
        return self.versions.frameworks.get(framework)

    @cached_property
    def by_file(self) -> Mapping[str, tuple[Made, ...]]:
        """The settings of each file, by its name."""
        found: dict[str, list[Made]] = {config.name: [] for config in self.configs}
        for made in self.made:
            if made.config is not None:
                found[made.config.name].append(made)
        return {name: tuple(all_made) for name, all_made in found.items()}

    @cached_property
    def taken_back(self) -> frozenset[tuple[str, str]]:
        """The files and names of settings that are taken away again (unset, env -u, ~key)."""
        return frozenset((made.placed.at.source, made.key) for made in self.made if not made.is_given)

    @property
    def logged(self) -> tuple[Made, ...]:
        """The settings that a log shows."""
        return tuple(made for made in self.made if made.config is None)

    def uses(self, made: Made) -> bool:
        """Return whether a file uses the variable elsewhere than where it is set: `$NAME`, os.environ["NAME"]."""
        return self._may_use(made.placed.name.encode("utf-8", "surrogatepass")) and made.placed.name in self._used

    def _may_use(self, name: bytes) -> bool:
        """Whether a file holds what a use of the variable looks like: told of small files sooner than what all use."""
        if sum(len(config.data) for config in self.configs) > _SMALL:
            return True
        marks = (b"$" + name, b"${" + name, b"environ", b"getenv")
        return any(mark in config.data for config in self.configs for mark in marks)

    @cached_property
    def _used(self) -> frozenset[str]:
        return frozenset().union(*map(used_in, self.configs))


def covers(option: Option, in_use: str | None) -> bool:
    """Return whether a version has the option; one that is not known may."""
    return in_use is None or lies_between(in_use, option.since, option.until)


@lru_cache(16_384)
def _options(name: str, framework: str | None, *, is_variable: bool) -> tuple[Option, ...]:
    found = catalogue().options_called(name, framework)
    return tuple(option for option in found if option.verified and (option.kind is Kind.ENV) is is_variable)


@lru_cache(16_384)
def _fields(name: str) -> tuple[Option, ...]:
    """Return the options that a manifest's field may be: `volumes[].emptyDir.medium` holds in any kind of object."""
    parts = _NUMBER.sub("[]", name).split(".")[-_FIELD_PARTS:]
    found = (_options(".".join(parts[at:]), "kubernetes", is_variable=False) for at in range(len(parts)))
    return next(filter(None, found), ())


def job_of(configs: Sequence[Config], versions: Versions, *, fixes: bool) -> Job:
    """Return the job that these files are of; a version that nobody named is taken from a file that pins it.

    Without `fixes` none is looked for beyond those that cost nothing.
    """
    made = tuple(made for config in configs for made in _made(config, fixes=fixes))
    return Job(configs, made, _pinned(versions, configs), catalogue())


def _made(config: Config, *, fixes: bool) -> Iterator[Made]:
    budget = Budget(FIX_BUDGET if fixes else 0)
    return (Made(placed, config, budget) for placed in config.settings)


def _pinned(versions: Versions, configs: Sequence[Config]) -> Versions:
    """Complete the versions by what all files that pin one agree on."""
    pins: dict[str, set[str]] = {}
    for config in configs:
        for name, pinned in config.pins.items():
            pins.setdefault(name, set()).add(pinned)
    agreed = {name: next(iter(pinned)) for name, pinned in pins.items() if len(pinned) == 1}
    return replace(
        versions,
        nccl=versions.nccl or agreed.get("nccl"),
        torch=versions.torch or agreed.get("torch"),
        frameworks={**agreed, **versions.frameworks},
    )
