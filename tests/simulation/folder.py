"""Folder: the files of a job, by the layout of its logs; remembers which file holds which piece of evidence."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path

from tests.simulation.job import Job
from tests.simulation.torch_words import local_time

_FLUSH = 4 << 20


class Folder:
    """Where ranks, launchers and kernels write. Lines are kept until some megabytes are together, then appended.

    `attempt`: torchrun's. `now`: the true time of what is written next, for those who stamp lines as they come.
    """

    def __init__(self, root: Path, job: Job, rng: random.Random) -> None:
        self.root, self.job, self.rng = root, job, rng
        scenario = job.scenario
        self.layout, self.prefix = scenario.layout, scenario.prefix
        self.attempt = 0
        self.now = 0.0
        self.marks: dict[str, set[object]] = defaultdict(set)
        self.files: set[str] = set()
        self._pieces: dict[str, list[str]] = defaultdict(list)
        self._held: dict[str, str] = {}
        self._waiting = 0
        self._number = rng.randint(1000, 999_999)
        self._run = f"none_{rng.choice('abcdef')}{rng.randrange(10**6):06d}"
        self._width = len(str(scenario.ranks - 1))
        self._named = rng.choice(("rank{:d}.log", "rank_{:05d}.log", "log.{:d}.txt", "worker-rank-{:d}.out"))
        self._workers = [f"worker-{rng.getrandbits(112):028x}-01000000-{pid}" for pid in job.pids]

    @property
    def launched_by(self) -> str:
        """torchrun, srun or ray."""
        if self.layout == "ray":
            return "ray"
        return "srun" if self.layout == "slurm" or self.prefix == "srun" else "torchrun"

    def rank(self, rank: int, text: str, mark: object = None, nccl: bool = False) -> None:
        """Write a line of a rank."""
        name = self.file_of(rank, nccl)
        if name == "driver.log" or self.layout == "node_files":
            text = self._tag(rank, text)
            if mark is None and text and self._tears(name, text):
                return
        self.append(name, self._stamp(text, self.job.host(rank)), mark)

    def launcher(self, host: int, text: str, mark: object = None) -> None:
        """Write a line of a host's launcher."""
        self.append(self.launcher_file(host), self._stamp(text, host), mark)

    def kernel(self, host: int, text: str, mark: object = None) -> None:
        """Write a line of a host's kernel log."""
        self.append(f"kernel-{self.job.host_names[host]}.log", text, mark)

    def file_of(self, rank: int, nccl: bool) -> str:
        """The file that a rank's line goes to."""
        job = self.job
        host = job.host_names[job.host(rank)]
        of_one = {"rank_files": self._named.format(rank), "slurm": f"{self._number}_{rank}.out"}
        if self.layout in of_one:
            return of_one[self.layout]
        if self.layout == "node_files":
            return f"{host}.log"
        if self.layout == "torchelastic":
            return f"{self.elastic_folder(rank)}/{'stdout' if nccl else 'stderr'}.log"
        if self.layout == "ray":
            return f"session_2026-03-01_00-00-00_000000_1/logs/{self._workers[rank]}.{'out' if nccl else 'err'}"
        if self.layout == "nccl_files" and nccl:
            return f"nccl.{host}.{job.pids[rank]}.log"
        return "driver.log"

    def elastic_folder(self, rank: int) -> str:
        """torchelastic's folder of a rank."""
        job = self.job
        node = f"{job.host_names[job.host(rank)]}/" if job.scenario.hosts > 1 else ""
        return f"{node}{self._run}/attempt_{self.attempt}/{job.local(rank)}"

    def launcher_file(self, host: int) -> str:
        """The file that a host's launcher writes to."""
        name = self.job.host_names[host]
        if self.layout == "node_files":
            return f"{name}.log"
        if self.layout == "slurm":
            return f"slurm-{self._number}.out"
        if self.layout == "ray":
            return "session_2026-03-01_00-00-00_000000_1/logs/job-driver-raysubmit_Fq8Zb1.log"
        if self.layout == "rank_files":
            return f"launcher-{name}.log"
        if self.layout == "torchelastic" and self.job.scenario.hosts > 1:
            return f"{name}/torchrun.log"
        return "driver.log"

    def dump_path(self, rank: int) -> Path:
        """Where a rank's recorder is written."""
        name = f"{self.rng.choice(('',))}fr_{rank}" if self._number % 2 else f"nccl_trace_rank_{rank}"
        folder = self.root / ("" if self.layout == "dumps" else "fr")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / name
        self.files.add(str(path.relative_to(self.root)))
        return path

    def _tag(self, rank: int, text: str) -> str:
        if self.prefix == "srun":
            return f"{rank:>{self._width}}: {text}"
        if self.prefix in {"tee", "role"}:
            return f"[{'default' if self.prefix == 'tee' else 'rank'}{self.job.local(rank)}]:{text}"
        return text

    def _stamp(self, text: str, host: int) -> str:
        """Put a container runtime's stamp before a line: when it came, by the clock of whoever collects."""
        if self.prefix != "cri":
            return text
        at = self.now + (self.job.skews[host] if self.layout == "node_files" else 0.0)
        return f"{local_time(at):%Y-%m-%dT%H:%M:%S.%f}000Z stderr F {text}"

    def _tears(self, name: str, text: str) -> bool:
        """Hold back the end of a line till another process has written, as two writers of one pipe do."""
        if not self.job.scenario.torn or self.prefix != "none" or name in self._held or len(text) < 60:
            return False
        if self.rng.random() > 0.01:
            return False
        cut = self.rng.randrange(20, len(text) - 10)
        self._pieces[name].append(text[:cut])
        self._held[name] = text[cut:]
        return True

    def append(self, name: str, text: str, mark: object) -> None:
        """Add a line to a file."""
        if self.layout == "dumps":
            return
        self.files.add(name)
        if mark is not None:
            self.marks[name].add(mark)
        held = self._held.pop(name, None)
        pieces = self._pieces[name]
        pieces.append(f"{text}\n" if held is None or mark is None else f"\n{text}\n")
        if held is not None:
            pieces.append(f"{held}\n")
        self._waiting += len(text)
        if self._waiting > _FLUSH:
            self.flush()

    def flush(self) -> None:
        """Bring all lines to the files."""
        for name, pieces in self._pieces.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.writelines(pieces)
        self._pieces.clear()
        self._waiting = 0

    def lose(self, share: float) -> set[str]:
        """Remove a share of the files at random, never all; return the names of those that are left."""
        self.flush()
        names = sorted(self.files)
        gone = {name for name in names if self.rng.random() < share}
        if gone and len(gone) == len(names):
            gone.remove(names[0])  # not just any: the order of a set of names differs from run to run
        for name in gone:
            (self.root / name).unlink()
        return self.files - gone
