"""Changes to a job's logs: harmless ones, which leave the verdict as it was, and others, which may not."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cases import Case

Texts = Mapping[str, str]
Files = Mapping[str, bytes]

_NOISE = (
    "INFO     | data pipeline warmed up, 32 workers",
    "Some weights of the model checkpoint were not used when initializing: ['lm_head.weight']",
    "tokenizer: vocab size 32000, bos 1, eos 2",
    "Loading extension module fused_adam...",
    "/usr/lib/python3/dist-packages/foo.py:12: FutureWarning: use of bar is deprecated",
    "wandb: Tracking run with wandb version 0.16.1",
)
_BAR = "Loading checkpoint shards: {0:3}%|####      | {0}/100 [00:12<00:30,  1.63it/s]"
_RANK_IN_NAME = re.compile(r"rank[-_]?(\d+)")
_NCCL_PIDS = re.compile(r"(?m)^(?:\S* )?\S+:(\d{4,7}):(\d{4,7}) \[")
_HEX = re.compile(r"0x[0-9a-f]{6,16}")


@dataclass(frozen=True)
class Job:
    """A job's logs by name; `hosts` are those that a scan of them names; `chance` is the same for the same job."""

    texts: Texts
    hosts: Sequence[str]
    chance: random.Random


Mutation = Callable[[Job], Files | None]
"""Returns the changed logs; None where the change cannot be made of this job, or would not be harmless."""


def job_of(case: Case, hosts: Sequence[str], seed: str) -> Job:
    return Job(case.texts(), hosts, random.Random(f"{seed} {case.name}"))  # noqa: S311 - the same every time


def lay_out(case: Case, files: Files, folder: Path) -> None:
    """Write changed logs, and beside them what else the case has, into a folder."""
    others = {str(path.relative_to(case.folder)): path for path in case.inputs}
    kept = {name: path.read_bytes() for name, path in others.items() if name not in case.texts()}
    for name, data in {**kept, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def encoded(texts: Texts) -> dict[str, bytes]:
    return {name: text.encode("utf-8", "surrogateescape") for name, text in texts.items()}


def _lines(change: Callable[[int, str], str]) -> Mutation:
    def mutation(job: Job) -> Files:
        return encoded(
            {
                name: "\n".join(change(at, line) for at, line in enumerate(text.split("\n")))
                for name, text in job.texts.items()
            }
        )

    return mutation


def _clock(at: int) -> str:
    return f"{5 + at // 3_600_000:02}:{at // 60_000 % 60:02}:{at // 1000 % 60:02}"


def _bytes(change: Callable[[str], bytes]) -> Mutation:
    return lambda job: {name: change(text) for name, text in job.texts.items()}


def _on_its_host(change: Callable[[int, str, str], str]) -> Mutation:
    """A collector that names the host: of a job of one host it tells what is true."""

    def mutation(job: Job) -> Files | None:
        if len(job.hosts) != 1:
            return None
        return _lines(lambda at, line: change(at, line, job.hosts[0]))(job)

    return mutation


def _with_noise(job: Job) -> Files:
    noisy = {}
    for name, text in job.texts.items():
        lines = []
        for at, line in enumerate(text.split("\n")):
            lines.append(line)
            if at % 7 == 3 and not line.startswith((" ", "\t")):
                lines.append(job.chance.choice(_NOISE))
        noisy[name] = "\n".join(lines)
    return encoded(noisy)


def _noise_before(job: Job) -> Files:
    noise = "\n".join(job.chance.choice(_NOISE) for _ in range(400))
    return encoded({name: f"{noise}\n{text}" for name, text in job.texts.items()})


def _noise_behind(job: Job) -> Files:
    noise = "\n".join(job.chance.choice(_NOISE) for _ in range(400))
    return encoded({name: text.rstrip("\n") + f"\n{noise}\n" for name, text in job.texts.items()})


def _other_hosts(job: Job) -> Files | None:
    if not job.hosts:
        return None
    names = {host: f"gpunode{40 + at}" for at, host in enumerate(job.hosts)}
    by_length = sorted(names, key=len, reverse=True)
    told = "|".join(map(re.escape, by_length))
    # In a header also behind the rest of a line that another process began.
    known = re.compile(rf"(?<![\w.-])(?:{told})(?![\w-])|(?:{told})(?=:\d+:\d+ \[)")
    return encoded({name: known.sub(lambda match: names[match[0]], text) for name, text in job.texts.items()})


def _full_hosts(job: Job) -> Files | None:
    if not job.hosts or any("." in host or len(host) < 3 for host in job.hosts):
        return None
    known = re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, job.hosts)) + r")(?=:\d+:\d+ \[)")
    return encoded({name: known.sub(r"\g<0>.cluster.example", text) for name, text in job.texts.items()})


def _other_processes(job: Job) -> Files:
    """Processes and threads of NCCL's headers have other numbers, wherever a log speaks of them."""
    numbers = {
        number for text in job.texts.values() for match in _NCCL_PIDS.finditer(text) for number in match.groups()[1:]
    }
    named = (
        re.compile(r"(?<![\w.])(?:" + "|".join(sorted(numbers, key=len, reverse=True)) + r")(?![\w.])")
        if numbers
        else None
    )

    def later(text: str) -> str:
        return named.sub(lambda match: str(int(match[0]) + 100_000), text) if named else text

    return encoded({name: later(text) for name, text in job.texts.items()})


def _other_addresses(job: Job) -> Files:
    def other(match: re.Match[str]) -> str:
        return f"0x{int(match[0], 16) ^ 0x5A5A:0{len(match[0]) - 2}x}"

    return encoded({name: _HEX.sub(other, text) for name, text in job.texts.items()})


def _bars_between(job: Job) -> Files:
    """A progress bar on standard error draws itself between the lines of standard output."""

    def drawn(at: int, line: str) -> str:
        return (
            line
            if at % 9 != 4 or line.startswith((" ", "\t"))
            else f"{line}\n{_BAR.format(at % 100)}\r{_BAR.format(at % 100 + 1)}"
        )

    return dict(_lines(drawn)(job) or {})


def _mixed_ends(text: str) -> bytes:
    ends = ("\n", "\r\n", "\n")
    lines = text.split("\n")
    joined = "".join(line + ends[at % 3] for at, line in enumerate(lines[:-1]))
    return (joined + lines[-1]).encode("utf-8", "surrogateescape")


def _other_file(job: Job) -> Files | None:
    [text, *others] = job.texts.values()
    return None if others else encoded({"x/0-output.txt": text})


def _merged(label: Callable[[int], str]) -> Mutation:
    """The files of ranks as a launcher prints them into one, each a few lines at a time."""

    def mutation(job: Job) -> Files | None:
        ranks = {name: _RANK_IN_NAME.search(name) for name in job.texts}
        if len(ranks) < 2 or not all(ranks.values()):
            return None
        left = {
            int(rank[1]): text.split("\n")
            for rank, text in zip(ranks.values(), job.texts.values(), strict=True)
            if rank
        }
        lengths = {rank: len(lines) for rank, lines in left.items()}
        merged: list[str] = []
        while left:
            behind = max(left, key=lambda rank: len(left[rank]) / lengths[rank] + job.chance.random() * 0.02)
            count = job.chance.randint(1, 6)
            merged += (label(behind) + line for line in left[behind][:count])
            left[behind] = left[behind][count:]
            left = {rank: lines for rank, lines in left.items() if lines}
        return encoded({"all.log": "\n".join(merged) + "\n"})

    return mutation


HARMLESS: Mapping[str, Mutation] = {
    "CRLF": _bytes(lambda text: text.replace("\n", "\r\n").encode("utf-8", "surrogateescape")),
    "UTF-16": _bytes(lambda text: text.encode("utf-16", "replace")),
    "UTF-16, big-endian": _bytes(lambda text: b"\xfe\xff" + text.encode("utf-16-be", "replace")),
    "mixed line ends": _bytes(_mixed_ends),
    "gzip": _bytes(lambda text: gzip.compress(text.encode("utf-8", "surrogateescape"))),
    "a byte order mark": _bytes(lambda text: b"\xef\xbb\xbf" + text.encode("utf-8", "surrogateescape")),
    "no last line feed": _bytes(lambda text: text.rstrip("\n").encode("utf-8", "surrogateescape")),
    "colours": _lines(lambda _, line: f"\x1b[33m{line}\x1b[0m"),
    "blanks at ends": _lines(lambda _, line: f"{line}  "),
    "Kubernetes (CRI)": _lines(lambda at, line: f"2026-11-30T{_clock(at)}.{at % 1000:03}Z stderr F {line}"),
    "Docker (JSON)": _lines(
        lambda at, line: json.dumps(
            {"log": f"{line}\n", "stream": "stderr", "time": f"2026-11-30T{_clock(at)}.{at % 1000:03}Z"}
        )
    ),
    "Docker Compose": _lines(lambda _, line: f"worker-0  | {line}"),
    "kubectl --prefix": _lines(lambda _, line: f"[pod/train-worker-0/pytorch] {line}"),
    "GitHub": _lines(lambda at, line: f"2026-11-30T{_clock(at)}.{at % 1000:03}0000Z {line}"),
    "journald": _on_its_host(lambda at, line, host: f"Nov 30 {_clock(1000 * at)} {host} trainer[4312]: {line}"),
    "pdsh": _on_its_host(lambda _, line, host: f"{host}: {line}"),
    "a date and a tab": _lines(lambda at, line: f"2026-11-30 {_clock(at)}.{at % 1000:03}\t{line}"),
    "a date in brackets": _lines(lambda at, line: f"[2026-11-30 {_clock(at)}] {line}"),
    "a launcher's logger": _lines(lambda at, line: f"2026-11-30 {_clock(at)},{at % 1000:03} INFO launcher: {line}"),
    "a quote": _lines(lambda _, line: f"> {line}"),
    "cat -n": _lines(lambda at, line: f"{at + 1:6}\t{line}"),
    "grep -n": _lines(lambda at, line: f"{at + 1}:{line}"),
    "grep of files": _lines(lambda _, line: f"logs/trainer.log:{line}"),
    "noise between": _with_noise,
    "noise before": _noise_before,
    "noise behind": _noise_behind,
    "progress bars between": _bars_between,
    "empty lines between": _lines(lambda _, line: f"{line}\n"),
    "other host names": _other_hosts,
    "full host names": _full_hosts,
    "other process numbers": _other_processes,
    "other addresses": _other_addresses,
    "another file name": _other_file,
    "srun --label": _merged(lambda rank: f"{rank}: "),
    "mpirun --tag-output": _merged(lambda rank: f"[1,{rank}]<stdout>:"),
    "torchrun --tee": _merged(lambda rank: f"[rank{rank}]:"),
}


def _mangled(change: Callable[[bytearray, random.Random], bytes]) -> Mutation:
    def mutation(job: Job) -> Files:
        return {name: change(bytearray(text), job.chance) for name, text in encoded(job.texts).items()}

    return mutation


def _cut(data: bytearray, chance: random.Random) -> bytes:
    start, end = sorted(chance.randint(0, len(data)) for _ in range(2))
    return bytes(data[:start] + data[end:])


def _spliced(data: bytearray, chance: random.Random) -> bytes:
    places = sorted(chance.randint(0, len(data)) for _ in range(3))
    return bytes(data[: places[0]] + data[places[1] : places[2]] + data[places[0] : places[1]] + data[places[2] :])


def _flipped(data: bytearray, chance: random.Random) -> bytes:
    for _ in range(len(data) // 50 + 1):
        if data:
            data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def _shuffled(data: bytearray, chance: random.Random) -> bytes:
    lines = bytes(data).split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def _repeated(data: bytearray, chance: random.Random) -> bytes:
    return b"\n".join(line for line in bytes(data).split(b"\n") for _ in range(chance.choice((1, 1, 2, 30))))


def _torn(data: bytearray, chance: random.Random) -> bytes:
    return b"".join(line + chance.choice((b"\n", b"\n", b"", b"\r", b"\0")) for line in bytes(data).split(b"\n"))


def _re_encoded(data: bytearray, chance: random.Random) -> bytes:
    text = bytes(data).decode("utf-8", "replace")
    return text.encode(chance.choice(("latin-1", "utf-16-be", "utf-32", "cp037", "utf-7")), "replace")


DESTRUCTIVE: Mapping[str, Mutation] = {
    "cut": _mangled(_cut),
    "spliced": _mangled(_spliced),
    "bytes changed": _mangled(_flipped),
    "lines in another order": _mangled(_shuffled),
    "lines repeated": _mangled(_repeated),
    "lines torn and joined": _mangled(_torn),
    "re-encoded": _mangled(_re_encoded),
}
