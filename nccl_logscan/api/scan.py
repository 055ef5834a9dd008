"""`nccl_logscan.scan`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from nccl_logscan import pipeline
from nccl_logscan.api.names import Paths, names_of
from nccl_logscan.api.result import ScanResult, result_of
from nccl_logscan.pipeline import Options
from nccl_logscan.records import replace
from nccl_logscan.rulebook.load import rulebook_with
from nccl_logscan.sources.line_source import LineSource, progress_of


class Progress(NamedTuple):
    """How far one input has been read.

    Attributes:
        name: The input, as it was named; a file of a folder by its own name.
        done: Bytes read: of those on the disk where `size` is known, else of the unpacked ones.
        size: Bytes on the disk; None where that is not known (standard input, a pipe).
    """

    name: str
    done: int
    size: int | None


def scan(
    paths: Paths,
    *,
    config: Paths = (),
    rules: Paths = (),
    redact: bool = False,
    progress: Callable[[Progress], object] | None = None,
    options: Options | None = None,
    stdin: BinaryIO | None = None,
) -> ScanResult:
    """Read logs once, in order, as one job, and say what failed first.

        >>> import nccl_logscan
        >>> result = nccl_logscan.scan("fixtures/cases/lab/timeout-dataloader/driver.log")
        >>> result
        <ScanResult collective_timeout, likely, 72%: Rank 1 never came to ALLREDUCE number 27, for which others ...>
        >>> result.diagnosis.culprit.rank
        1
        >>> result.evidence_frame().select("role", "line").row(0)
        ('cause', 170)

    Nothing keeps the log: a scan holds what it found out, which is bounded.

    Args:
        paths: What the command line takes: a file, folder, pattern, URL or archive, compressed or not, or several of
            them, as str or Path. `"-"` is the stream given as `stdin`.
        config: Launch scripts and configuration files of the job, in which advice is to name the line. Files beside a
            log are looked at anyway.
        rules: Folders of rules of your own, beside the built-in ones.
        redact: Whether what the result shows (pages, texts, frames, what a notebook displays) has stand-ins for hosts,
            addresses, users, folders and jobs. Its attributes (`result.diagnosis`) keep what the log said. Passwords
            and tokens are taken out of what it shows in any case.
        progress: Called every few thousand lines with what is being read. What it raises ends the scan.
        options: Limits, how large logs are read, and another model for the classifier.
        stdin: What is read for `"-"`.

    Returns:
        The verdict and what it rests on.

    Raises:
        InputError: No input is named, one is missing or unreadable, or no line of any of them is of a known kind.
        RulebookError: A rule file has mistakes; `problems` has all of them.
    """
    options = options or Options()
    if progress is not None:
        options = replace(options, progress=telling(progress))
    options = replace(options, configs=(*options.configs, *names_of(config)))
    rulebook = rulebook_with([Path(name) for name in names_of(rules)])
    return result_of(pipeline.scan(names_of(paths), rulebook, options, stdin), redacted=redact)


def telling(progress: Callable[[Progress], object] | None) -> Callable[[LineSource], None] | None:
    """Return what the layers below call with a source, for a function that is called with its progress."""
    if progress is None:
        return None

    def tell(source: LineSource) -> None:
        progress(Progress(source.name, *progress_of(source)))

    return tell
