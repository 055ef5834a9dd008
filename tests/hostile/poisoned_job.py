"""Real jobs with a hostile content in every field that an output has: of logs, dumps, configurations, rules, names."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "rulebook"))

from rule_folders import write_rule

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
_IN_DUMPS = frozenset({"profiling_name", "thread_name", "comm_lib_version", "desc", "name", "filename"})


@dataclass(frozen=True)
class Job:
    """A job in a folder of its own: its inputs and its configurations, as they are named to the program in there.

    `claimed` is a message that a rule of the site knows.
    """

    folder: Path
    claimed: str
    logs: tuple[str, ...]
    configs: tuple[str, ...]


def poisoned(folder: Path, content: str, mark: str, *, called: str | None = None) -> Mapping[str, Job]:
    """Write three jobs below a folder: an adapter's failure, a mismatch that dumps tell, and a program's exception.

    The first has a line that the rule of `site_rules` for this `mark` claims. Files and hosts are named after the
    content, or are `called` otherwise.
    """
    jobs = {}
    called = content if called is None else called
    for name, text in (
        ("adapter", _adapter(content, mark, called)),
        ("dumps", _dumps(content)),
        ("program", _program(content)),
    ):
        place = folder / f"{name} {_name(called, 40)}"
        place.mkdir(parents=True)
        (place / f"{_name(called)}.log").write_bytes(_encoded(text))
        if name == "dumps":
            _write_dumps(place, content)
        logs = [f"./{path.name}" for path in sorted(place.iterdir())]
        jobs[name] = Job(
            place,
            f"MY-NET-{mark} : Got completion from peer node-2 with status=12",
            tuple(logs),
            _write_configs(place, content, called),
        )
    return jobs


def site_rules(folder: Path, contents: Mapping[str, str]) -> None:
    """Write a rule for each mark, whose texts are the content."""
    for mark, content in contents.items():
        text = content.encode("utf-8", "replace").decode()
        line = " ".join(text.split("\n"))
        braced = line.replace("{", "{{").replace("}", "}}")
        hit = f"node-1:1:1 [3] a.cc:1 NCCL WARN MY-NET-{mark} : Got completion from peer node-2 with status=12\n"
        write_rule(
            folder,
            f"infiniband/{mark}",
            match={
                "event": "nccl.warn",
                "wordings": [{"message": rf"MY-NET-{mark} ?: Got completion from peer (?P<peer>\S+) with status=12"}],
            },
            title=line,
            what=text,
            why=text,
            summary=f"{braced} {{peer}}",
            strength=99,
            references=[{"title": line, "url": "https://docs.nvidia.com/zz"}],
            remediation=[
                {"do": line, "run": braced, "why": text, "risk": text, "owner": "user", "effect": "fix"},
                {"do": line, "why": text, "do_not": True},
            ],
            confirm=[{"do": line, "run": braced}],
            examples={"hit": [{"name": line, "source": line, "log": hit, "captures": {"peer": "node-2"}}]},
        )


def _name(content: str, most: int = 180) -> str:
    """Return as much of the content as the name of a file takes, in bytes."""
    name = ""
    for letter in content.replace("/", "\u2215").replace("\0", ""):
        if len(_as_name(name + letter)) > most:
            break
        name += letter
    return name


def _as_name(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _word(content: str) -> str:
    """Return the content as one word, for a field that ends at a blank."""
    return re.sub(r"\s+", "_", content)


def _replaced(pattern: str, head: str, content: str, text: str) -> str:
    return re.sub(pattern, lambda found: f"{found.expand(head)}{content}", text)


# --- logs ----------------------------------------------------------------------------------------------------


def _adapter(content: str, mark: str, called: str) -> str:
    word, host = _word(content), f"w07{_word(called)}"
    text = (CASES / "field" / "net002" / "trainer.log").read_text("utf-8")
    text = text.replace("pretrain-w07", host).replace("<39158>", f"<39158>{word}")
    text = _replaced(r"localGid \S+", "localGid ", word, text)
    text = _replaced(r"set by environment to (\d+)\.", r"set by environment to \1 ", content, text)
    before = f"{host}:1204:1204 [4] NCCL INFO"
    start = (
        f"NCCL version 2.21.5{word}",
        f"cudaDriverVersion 12080{word}",
        f"NET/IB : Using [0]mlx5_0{word}:1/RoCE [RO]; OOB eth0{word}:10.0.0.1<0>",
        f"Using network {content}",
        f"NCCL_IB_HCA set by environment to {content}",
        f"NCCL_{word} set by environment to {content}",
        f"NCCL_DEBG set by environment to {content}",
        f"comm 0x{word} rank 44 nranks 96 cudaDev 4 nvmlDev 4 busId 9b000 commId 0x31{word} - Init START",
    )
    warn = f"{host}:1204:1702 [4] misc/zz{word}.cc:1 NCCL WARN"
    return "\n".join(
        (
            *(f"{before} {line}" for line in start),
            content,
            f"[rank44{word}]: {content}",
            f"[rank44]: step: 1 loss: 1.0 {content}",
            f"{warn} MY-NET-{mark} : Got completion from peer {word} with status=12 {content}",
            text,
            f"{warn} {content}",
            f"[rank44]:[E1130 10:36:21.229529190 zz.cpp:1] {content}",
            "",
        )
    )


def _dumps(content: str) -> str:
    text = (CASES / "recorder" / "fr-op-flat-json" / "driver.log").read_text("utf-8")
    word = _word(content)
    return f"{text.replace('default_pg', f'default_pg{word}').replace('2.30.7', f'2.30.7{word}')}\n{content}\n"


def _program(content: str) -> str:
    word = _word(content)
    text = (CASES / "lab" / "user-exception" / "driver.log").read_text("utf-8")
    text = text.replace("localhost", f"localhost{word}").replace("/workspace/projects", f"/workspace/{word}")
    text = _replaced(r"(?m)^((?:\[rank\d\]: ?)?\w*Error: ).*$", r"\1", content, text)
    return f"{text}\n{content}\n[rank1]: RuntimeError: {content}\nsrun: error: n1{word}: task 0: {content}\n"


# --- files beside them ---------------------------------------------------------------------------------------


def _write_dumps(folder: Path, content: str) -> None:
    for dump in sorted((CASES / "recorder" / "fr-op-flat-json").glob("fr_*.json")):
        # A JSON string may hold half of a surrogate pair, which no text of a log does.
        document = _filled(json.loads(dump.read_text("utf-8")), f"{content}\ud800")
        (folder / dump.name).write_text(json.dumps(document), "utf-8")


def _filled(part: Any, content: str, key: str = "") -> Any:
    if isinstance(part, dict):
        return {name: _filled(value, content, name) for name, value in part.items()}
    if isinstance(part, list):
        return [
            _filled(value, content, "desc" if key == "process_group" and at else key) for at, value in enumerate(part)
        ]
    return f"{part}{content}" if key in _IN_DUMPS and isinstance(part, str) else part


def _write_configs(folder: Path, content: str, called: str) -> tuple[str, ...]:
    script = folder / f"{_name(called, 80)} run.sh"
    lines = (
        "#!/bin/bash",
        f"# {content}",
        f"export NCCL_IB_TIMEOUT=18 # {_word(content)}",
        f"export NCCL_DEBUG='{content}'",
        f'export NCCL_ALGO="{content}"',
        f"export NCCL_DEBG='{content}'",
        f"export NCCL_{_word(content)}=1",
        "#",
        "#",
        "#",
        "export NCCL_TIMEOUT=1800",
        "torchrun train.py",
        "",
    )
    script.write_bytes(_encoded("\n".join(lines)))
    values = folder / f"{_name(called, 80)} values.yaml"
    value = json.dumps(content.encode("utf-8", "replace").decode())
    values.write_text(f"command: torchrun\nenv:\n  - name: NCCL_DEBG\n    value: {value}\n", "utf-8")
    return f"./{script.name}", f"./{values.name}"
