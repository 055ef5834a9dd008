"""Everything that the program writes about a poisoned job, by the command line as a user has it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from poisoned_job import Job

from nccl_logscan.cli import main, progress
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.sources.line_source import TextSource

FORMS = {
    "html": "html", "json": "json", "text": "txt", "markdown": "md", "sarif": "sarif", "junit": "xml",
    "github": "github.txt", "gitlab": "codequality.json", "openmetrics": "prom",
    "trace": "trace.json",
}  # fmt: skip


@dataclass(frozen=True)
class Printed:
    """What a run printed, and its exit code."""

    code: int
    out: bytes
    err: bytes


class _Stream(io.TextIOWrapper):
    def __init__(self, *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    @property
    def sent(self) -> bytes:
        self.flush()
        return self.buffer.getvalue()


def run(*words: str) -> Printed:
    """Run the command line in this process."""
    out, err = _Stream(), _Stream()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return Printed(code, out.sent, err.sent)


def produced(jobs: Mapping[str, Job], rulebook: Rulebook) -> dict[str, list[bytes]]:
    """Return all outputs by their names, one or more of each."""
    found: dict[str, list[bytes]] = {}
    for job in jobs.values():
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(job.folder)
            # To read the built-in rules as files takes a second each time.
            for module in ("scanning", "show", "suggest", "explain"):
                patch.setattr(f"nccl_logscan.cli.{module}.rulebook_with", lambda _folders: rulebook)
            patch.setattr(progress, "_PATIENCE", 0.0)
            patch.setenv("TERM", "xterm-256color")
            patch.setenv("COLUMNS", "120")
            for output, sent in _of_job(job, patch):
                found.setdefault(output, []).append(sent)
    return found


def _of_job(job: Job, patch: pytest.MonkeyPatch) -> Iterator[tuple[str, bytes]]:
    yield from _scanned(job, patch)
    yield from _tables(job)
    yield from _lint(job)
    [log] = [name for name in job.logs if name.endswith(".log")]
    for line in (9, 12):
        yield from _both("show", run("show", f"{log}:{line}", "-C", "30"))
    drafts = run("rules", "suggest", log, "--limit", "100")
    yield from _both("suggest", drafts)
    yield from _both("suggest's names", run("rules", "suggest", log, "-o", "drafts"))
    yield "suggest's names", "\n".join(str(path) for path in Path("drafts").rglob("*")).encode()
    script = job.configs[0]
    advise = ("advise", "--params", "7B", "--nodes", "2", "--network", "ib", "--framework", "torchrun")
    yield from _both("advise", run(*advise, "--format", "diff", "--script", script))
    yield from _both("explain", run("explain", job.claimed))
    yield from _both("explain", run("explain", "--format", "json", job.claimed))
    yield from _both("messages", run("explain", log))
    yield from _mistakes(log)
    for at in range(0, len(log), 12):
        yield "progress", _bar(log[at : at + 24])  # as much of a name as a bar shows


def _both(name: str, printed: Printed) -> Iterator[tuple[str, bytes]]:
    assert printed.code != 70, printed.err
    yield name, printed.out
    yield "messages", printed.err


def _scanned(job: Job, patch: pytest.MonkeyPatch) -> Iterator[tuple[str, bytes]]:
    reports = [word for suffix in FORMS.values() for word in ("-o", f"out.{suffix}")]
    configs = [word for config in job.configs for word in ("--config", config)]
    patch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    yield from _both("verdict", run("scan", *job.logs, *configs, *reports, "--verbose"))
    patch.delenv("GITHUB_STEP_SUMMARY")
    for form, suffix in FORMS.items():
        yield form, Path(f"out.{suffix}").read_bytes()
    yield "step summary", Path("summary.md").read_bytes()
    usual = run("scan", *job.logs, "--format", "json")
    yield from _both("verdict", usual)
    yield "names of reports", "\n".join(str(path) for path in Path("reports").iterdir()).encode()
    patch.setenv("FORCE_COLOR", "1")
    yield from _both("terminal", run("scan", *job.logs, *configs, "-o", "out.json", "--verbose"))
    patch.delenv("FORCE_COLOR")
    yield from _both("redacted", run("scan", *job.logs, *configs, "--redact", "--format", "html", "-o", "-"))
    for suffix in FORMS.values():
        Path(f"out.{suffix}").unlink()


def _tables(job: Job) -> Iterator[tuple[str, bytes]]:
    for form in ("csv", "jsonl", "parquet"):
        yield from _both("messages", run("events", *job.logs, "-o", f"{job.logs[0]}.{form}"))
        yield f"{form} file", Path(f"{job.logs[0]}.{form}").read_bytes()
        Path(f"{job.logs[0]}.{form}").unlink()
    for form in ("csv", "jsonl"):
        yield from _both(f"printed {form}", run("events", *job.logs, "-o", "-", "--format", form))


def _lint(job: Job) -> Iterator[tuple[str, bytes]]:
    for form in ("text", "json", "sarif", "github"):
        yield from _both(f"lint as {form}", run("lint", *job.configs, "--format", form))
    yield from _both("lint's diff", run("lint", *job.configs, "--fix"))
    copy = Path(f"{job.configs[0]}.mended.sh")
    copy.write_bytes(Path(job.configs[0]).read_bytes())
    yield from _both("messages", run("lint", str(copy), "--fix", "--write"))
    copy.unlink()


def _mistakes(log: str) -> Iterator[tuple[str, bytes]]:
    """Yield what is said of names that lead nowhere."""
    nowhere = f"{log} nowhere"
    for words in (
        ("scan", nowhere),
        ("scan", log, "-o", f"{nowhere}/x.html"),
        ("scan", log, "--config", nowhere),
        ("scan", log, "--format", nowhere),
        ("events", nowhere, "-o", "x.csv"),
        ("events", log, "-o", nowhere),
        ("show", f"{log}:99999"),
        ("show", nowhere),
        ("lint", nowhere),
        ("lint", log, "--nccl", nowhere),
        ("advise", "--params", nowhere),
        ("explain", nowhere),
        ("rules", "suggest", nowhere),
        ("train", nowhere),
        ("--follow", nowhere, "--timeout", "1s"),
    ):
        yield from _both("messages", run(*words))


def _bar(name: str) -> bytes:
    stream = _Stream(terminal=True)
    with progress.progress_on(stream) as show:
        show(TextSource(name, "x", bytes_read=3_000_000))
    return stream.sent
