"""Files that people and programs write: rule files, flight recorder dumps, configuration."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

from fuzz.target import CASES, ROOT, Target
from nccl_logscan.configs.model import Config
from nccl_logscan.configs.read import read_text
from nccl_logscan.errors import Problem
from nccl_logscan.recorder import Dump, DumpError, read_dump
from nccl_logscan.rulebook.find import RuleSource
from nccl_logscan.rulebook.read import read_rule

_LARGEST = 1 << 63
_RULE = """\
id: infiniband/port-down
title: A port went down
role: cause
severity: fatal
strength: 70
action: fix_host
match:
  event: [nccl.warn]
  wordings:
  - message: 'port (?P<port>\\d+) of (?P<hca>mlx5_\\d+) is down'
    nccl: '>=2.18'
blames: observer
summary: port {port} of {hca} is down
what: The port lost its link.
why: A cable, a switch.
confirm:
- do: Look at the port.
  run: ibstat {hca}
  'on': the host
remediation:
- do: Mend the link.
  owner: cluster-admin
references:
- title: It is so.
  url: https://example.org/ib
examples:
  hit:
  - name: one
    source: invented
    log: 'node1:1:2 [0] NCCL WARN port 1 of mlx5_0 is down'
  miss:
  - name: another
    source: invented
    log: 'node1:1:2 [0] NCCL INFO port 1 of mlx5_0 is up'
"""


def _rule(data: bytes) -> None:
    """A rule file is a rule, or its mistakes, each at a line and column that the file has."""
    read = read_rule(RuleSource("rules/infiniband/port-down.yaml", "infiniband/port-down", data))
    if not isinstance(read, tuple):
        return
    assert read, "no rule, and nothing said against it"
    lines = data.count(b"\n") + 1
    for problem in read:
        assert isinstance(problem, Problem)
        assert 1 <= problem.line <= lines + data.count(b"\r") + len(data), problem
        assert problem.column >= 1, problem
        problem.render().encode("utf-8", "surrogatepass")


def _dump(data: bytes) -> None:
    """A dump is read into plain facts that a report can hold, or refused with a reason of one line."""
    read = _read(data)
    if isinstance(read, Dump):
        _plain(read)
    else:
        assert read, "refused without a reason"
        assert "\n" not in read, read


def _read(data: bytes) -> Dump | str:
    try:
        return read_dump(data, "nccl_trace_rank_3")
    except DumpError as refusal:
        return str(refusal)


def _plain(part: Any) -> None:
    if isinstance(part, str):
        part.encode("utf-8", "surrogatepass")
    elif isinstance(part, int):
        assert -_LARGEST <= part < _LARGEST, part
    elif isinstance(part, tuple | list | frozenset):
        for entry in part:
            _plain(entry)
    elif isinstance(part, dict):
        _plain(tuple(part.items()))
    elif is_dataclass(part):
        for field in fields(part):
            _plain(getattr(part, field.name))


_NAMES = ("run.sh", "a.env", "conf.toml", "train.py", "ds_config.json", "job.yaml", "Dockerfile", "nccl.conf")


def _config(data: bytes) -> None:
    """A configuration file is read as what its name says; each setting lies in it, at the bytes that are told."""
    name, content = _NAMES[data[0] % len(_NAMES) if data else 0], data[1:]
    config = read_text(name, content)
    if config is None:
        return
    assert isinstance(config, Config)
    for placed in config.settings:
        assert 1 <= placed.at.line <= content.count(b"\n") + content.count(b"\r") + 1, placed
        assert placed.column >= 1, placed
        for span in (placed.span, placed.value_span):
            assert span is None or 0 <= span.start <= span.end <= len(content), placed


def _rules() -> Iterator[bytes]:
    yield _RULE.encode()
    for path in islice(sorted((ROOT / "rules").rglob("*.yaml")), 0, None, 9):
        text = path.read_text("utf-8")
        yield text[: text.index("examples:")].encode() if "examples:" in text else text.encode()
        yield text.encode()


def _dumps() -> Iterator[bytes]:
    for path in islice(sorted(CASES.rglob("fr_*")), 0, None, 3):
        data = path.read_bytes()
        whole = json.loads(data) if data[:1] == b"{" else pickle.loads(data)  # noqa: S301 - of our own cases
        small = whole if not isinstance(whole, dict) else {**whole, "entries": whole.get("entries", [])[-1:]}
        for protocol in (2, 4, 5):
            yield pickle.dumps(small, protocol)
        yield json.dumps(small, default=str).encode()
        yield data


def _configs() -> Iterator[bytes]:
    kinds = {".sh": 0, ".env": 1, ".toml": 2, ".py": 3, ".json": 4, ".yaml": 5, ".yml": 5}
    for path in sorted((ROOT / "fixtures" / "launch").rglob("*")):
        number = 6 if path.name.startswith("Dockerfile") else kinds.get(path.suffix, 7 if path.is_file() else None)
        if path.is_file() and number is not None:
            yield bytes([number]) + path.read_bytes()[:1_500]


TARGETS = (
    Target(
        "rule_files",
        _rule,
        _rules,
        "a rule file is a rule, or a list of its mistakes, each with a line and a column",
        longest=900,
    ),
    Target(
        "dumps",
        _dump,
        _dumps,
        "a dump gives plain facts whose numbers fit 64 bits, or is refused in one line; no code of a pickle runs",
        longest=1_200,
    ),
    Target(
        "configs",
        _config,
        _configs,
        "a script or configuration file gives settings that lie in it where they are said to, or none",
        longest=600,
    ),
)
