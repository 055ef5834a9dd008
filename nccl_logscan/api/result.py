"""ScanResult as callers have it: what a scan found out, and every form that it can be shown in."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from nccl_logscan.diagnosis import verdict
from nccl_logscan.records import dataclass
from nccl_logscan.report.view import ReportView, build_view
from nccl_logscan.report.visible import visible

if TYPE_CHECKING:
    import polars as pl

_HEADLINE_LIMIT = 72


@dataclass(frozen=True, slots=True)
class ScanResult(verdict.ScanResult):
    """What a scan found out: the verdict, what it rests on and what to do.

    In a notebook it displays as the HTML report. The methods below give the report in other forms; all of them are
    made of the JSON report, so they are bounded (`to_dict()["omitted"]` says how many entries a bound left out), and
    passwords and tokens are taken out.

    Attributes:
        diagnosis: The verdict: `category`, `headline`, `confidence` (0 to 1), `level`, `reasons`, `culprit` (`rank`,
            `host`, `pid`, `device`, `adapter`, `peer`, `process_group`; each None where the log does not say),
            `evidence`, `consequences`, `alternatives`, `unknowns`, `action`.
        findings: Everything that a rule recognised.
        plan: What to do, in order; and what not to do (`do_not`).
        timeline: Moments worth showing.
        standings: In a hang: where each rank stood in each process group.
        job: What the log says of the job: versions, hosts, ranks, communicators, settings.
        coverage: How much was read and understood.
        unclaimed: Warnings and errors that no rule knew.
        inputs: The inputs, as they were read.
        notes: What is to be said of the reading.
        rulebook_digest: sha256 of the rules.
        rules_used: The rules behind the findings, by id.
        judged: What `lint` says of the job's settings.
        activity: When each rank spoke first and last and when its trouble began; None where nothing failed, or where
            neither times nor the lines of one input compare them.
        spans: What took time: the latest calls of each rank that left a flight recorder's dump, the tasks of a timeline
            of Ray, and the stall in which the calls of a hang ended; None where there is neither.
        figures: Bandwidths by collective and size, time in collectives, ranks that others wait for, what dmon sampled,
            and what NCCL chose; None where nothing of nccl-tests, NCCL's Inspector, dmon or TUNING is in the logs.
        model_digest: Digest of the classifier's model; None where it was not asked.
        redacted: Whether hosts, addresses, users, folders and jobs are stand-ins in what it shows.
    """

    redacted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON report as Python's own types; `docs/report-contract.md` has its fields."""
        view: ReportView = build_view(self)
        if self.redacted:
            from nccl_logscan.report.public import public_view  # noqa: PLC0415 - few reports are for the public

            return public_view(view)[0]
        return view

    def to_json(self) -> str:
        """Return the JSON report, in ASCII."""
        from nccl_logscan.report.json import render_json  # noqa: PLC0415 - as the following: only what is asked for

        return render_json(self.to_dict())

    def to_html(self) -> str:
        """Return the report as one HTML page that needs no network, to be written to a file or sent."""
        from nccl_logscan.report.html import render_html  # noqa: PLC0415

        return render_html(self.to_dict())

    def to_text(self, *, verbose: bool = False) -> str:
        """Return the verdict as a terminal shows it: at most 24 lines, with `verbose` all of them."""
        from nccl_logscan.report.text import plain_text  # noqa: PLC0415

        return plain_text(self.to_dict(), verbose=verbose)

    def findings_frame(self) -> pl.DataFrame:
        """Return everything that a rule recognised, a row each, in the order of reading."""
        return self._frame("findings")

    def evidence_frame(self) -> pl.DataFrame:
        """Return the lines that speak for the verdict, decisive ones first."""
        return self._frame("evidence")

    def steps_frame(self) -> pl.DataFrame:
        """Return what to do, in order, and what not to do."""
        return self._frame("steps")

    def ranks_frame(self) -> pl.DataFrame:
        """Return where each rank stood in each process group; without rows where nothing hung."""
        return self._frame("ranks")

    def timeline_frame(self) -> pl.DataFrame:
        """Return the moments worth showing. Times of different clocks are comparable only as `aligned_time`."""
        return self._frame("timeline")

    def settings_frame(self) -> pl.DataFrame:
        """Return the settings that the log shows, with the line that shows them."""
        return self._frame("settings")

    def _frame(self, name: str) -> pl.DataFrame:
        from nccl_logscan.api.frames import frame_of  # noqa: PLC0415 - polars takes a quarter of a second

        return frame_of(name, self.to_dict())

    def __repr__(self) -> str:
        told = self.to_dict()["verdict"]
        sure = f"{told['level']}, {told['confidence']:.0%}" if told["level"] != "none" else f"{told['confidence']:.0%}"
        return f"<ScanResult {told['category']}, {sure}: {_shortened(visible(told['headline']))}>"

    def _repr_html_(self) -> str:
        """Return what a notebook displays: the page in a frame of its own, and the verdict as text."""
        from nccl_logscan.api.notebook import framed  # noqa: PLC0415

        return framed(self.to_html(), self.to_text())


def result_of(found: verdict.ScanResult, *, redacted: bool) -> ScanResult:
    """Return the pipeline's result as callers have it."""
    return ScanResult(**{own.name: getattr(found, own.name) for own in fields(found)}, redacted=redacted)


def _shortened(text: str) -> str:
    if len(text) <= _HEADLINE_LIMIT:
        return text
    return f"{text[:_HEADLINE_LIMIT].rsplit(' ', 1)[0]} ..."
