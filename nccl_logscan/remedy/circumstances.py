"""Circumstances: what advice has to fit, namely the job's facts, the user's files, and what the catalogue knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from nccl_logscan.catalogue.frameworks import HANDED_ON
from nccl_logscan.catalogue.load import Catalogue, catalogue, flag_form
from nccl_logscan.catalogue.model import Option, Reader, Variable
from nccl_logscan.catalogue.versions import lies_between, reads
from nccl_logscan.configs.model import Config, Form, Placed
from nccl_logscan.configs.syntax import Syntax
from nccl_logscan.diagnosis.verdict import Job
from nccl_logscan.expressions import deferred
from nccl_logscan.records import dataclass, field

_INDEX = deferred(r"\[\d*\]")
_NETWORKS = {"Libfabric": "efa", "AWS Libfabric": "efa", "Socket": "socket"}
"""What a step's `given` calls the networks that NCCL chose, where their adapters' link layer does not tell."""
PATHS = frozenset({"ib", "roce", "p2p", *_NETWORKS.values()})
"""All that `given` may hold beside frameworks."""
_PIN_OF = {"pytorch": "torch", "nccl": "nccl"}


@dataclass(frozen=True, slots=True)
class Standing:
    """A setting where a file makes it."""

    config: Config
    placed: Placed


@dataclass(frozen=True)
class Circumstances:
    """What advice has to fit.

    `syntaxes` maps a Config's syntax to what edits such files; `may_show` says whether a line holds no secret. `found`
    are the names of files that nobody named: they lay beside the log and are changed only where no other file is given.
    """

    job: Job = field(default_factory=Job)
    configs: tuple[Config, ...] = ()
    syntaxes: Mapping[str, Syntax] = field(default_factory=dict)
    catalogue: Catalogue = field(default_factory=catalogue)
    may_show: Callable[[str], bool] = lambda _: True
    found: frozenset[str] = frozenset()

    def uses(self, option: Option) -> bool:
        """Return whether the job is seen to run what takes an option."""
        return any(takes_options_of(framework, option.framework) for framework in self.frameworks)

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """What the log shows at work and the files configure."""
        return self.configured.union(self.job.frameworks)

    @cached_property
    def seen(self) -> frozenset[str]:
        """The frameworks, and the paths that the log shows in use: ib, roce, efa, socket, p2p."""
        layers = {layer.lower() for layer in self.job.link_layers}
        networks = {_NETWORKS[name] for name in self.job.network if name in _NETWORKS}
        transports = {"p2p" for name in self.job.topology if name.startswith("P2P")}
        return self.frameworks.union(layers, networks, transports)

    @cached_property
    def configured(self) -> frozenset[str]:
        """What the files configure or start."""
        return frozenset[str]().union(*map(frameworks_of, self.configs))

    @cached_property
    def _standings(self) -> Mapping[str, tuple[Standing, ...]]:
        found: dict[str, list[Standing]] = {}
        for config in self.configs:
            for placed in config.settings:
                if placed.form is not Form.UNSET:
                    found.setdefault(_tail(placed.name), []).append(Standing(config, placed))
        return {tail: tuple(standings) for tail, standings in found.items()}

    def standings(self, name: str, framework: str | None = None) -> tuple[Standing, ...]:
        """Return where the files make a setting.

        A dotted key is also found below other keys, a bare one only where the file is known to be its `framework`'s.
        """
        wanted = _comparable(name)
        is_bare = not name.startswith("-") and not set(".(") & set(name)
        standings = [
            standing
            for standing in self._standings.get(_tail(name), ())
            if _is_called(_comparable(standing.placed.name), wanted)
            or (is_bare and framework is not None and standing.placed.framework == framework)
        ]
        named = [standing for standing in standings if standing.config.name not in self.found]
        return tuple(named or standings)

    @property
    def changeable(self) -> tuple[Config, ...]:
        """The files to which a setting may be added: those that the user named, else all."""
        return tuple(config for config in self.configs if config.name not in self.found) or self.configs

    def versions(self, subject: str) -> tuple[str, ...]:
        """Return the versions of a framework in use: as the log shows them, else as the files pin them."""
        logged = {"nccl": self.job.nccl_versions, "pytorch": self.job.torch_versions}.get(subject, ())
        pin = _PIN_OF.get(subject, subject)
        return logged or tuple(config.pins[pin] for config in self.configs if pin in config.pins)

    def in_use(self, subject: str, since: str | None, until: str | None) -> bool:
        """Return whether a version in use lies between two, both included; True where none is known."""
        return self.fits(subject, lambda have: lies_between(have, since, until))

    def fits(self, subject: str, holds: Callable[[str], bool]) -> bool:
        """Return whether a condition holds of a version in use; True where none is known."""
        versions = self.versions(subject)
        return not versions or any(holds(have) for have in versions)

    def reads(self, variable: Variable) -> bool:
        """Return whether a version in use reads a variable."""
        subject = _SUBJECTS.get(variable.reader)
        if subject is None:
            return variable.reader is not Reader.NOBODY
        return self.fits(subject, lambda have: reads(variable, have))

    def takes(self, option: Option) -> bool:
        """Return whether a framework's version in use takes an option, and it may be advised."""
        return is_advice(option) and self.in_use(option.framework, option.since, option.until)


def is_advice(option: Option) -> bool:
    """Return whether an option may be advised at all."""
    return option.verified and not option.dead and not option.harmful


def takes_options_of(framework: str | None, other: str | None) -> bool:
    """Return whether a setting of `framework`, or of nobody known, may be an option of `other`."""
    return framework is None or other is None or other in {framework, HANDED_ON.get(framework)}


_SUBJECTS = {Reader.NCCL: "nccl", Reader.TORCH: "pytorch"}


def frameworks_of(config: Config) -> Iterator[str]:
    """Yield the frameworks that a file configures or starts."""
    yield from (placed.framework for placed in config.settings if placed.framework is not None)
    yield from (launch.framework for launch in config.launches if launch.framework is not None)


def _comparable(name: str) -> str:
    return _INDEX.sub("", flag_form(name))


def _tail(name: str) -> str:
    """The last key of a dotted name; of a call's keyword the call and the keyword."""
    return _comparable(name).rpartition(".")[2] if not name.startswith("--") else flag_form(name)


def _is_called(written: str, wanted: str) -> bool:
    dotted = "." in wanted or "(" in wanted
    return written == wanted or (dotted and (written.endswith(f".{wanted}") or wanted.endswith(f".{written}")))
