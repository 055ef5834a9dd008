"""The forms of a report: to add one, write its module and a row here."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from nccl_logscan.report.view import ReportView


class Form(NamedTuple):
    """A form. `suffix`: how a file of it is named; `endings`: names of files that ask for it; `renders`: module and
    function of nccl_logscan.report, imported where the form is asked for, since each needs its own libraries.
    """

    suffix: str
    endings: tuple[str, ...]
    renders: str
    told: str


FORMS = {
    "html": Form(".html", (".html", ".htm"), "html.render_html", "a page"),
    "json": Form(".json", (".json",), "json.render_json", "the report contract"),
    "text": Form(".txt", (".txt",), "text.plain_text", "what a terminal shows"),
    "markdown": Form(".md", (".md",), "markdown.render_markdown", "an issue or a job's summary"),
    "sarif": Form(".sarif", (".sarif", ".sarif.json"), "sarif.render_sarif", "code scanning"),
    "junit": Form(".xml", (".xml",), "junit.render_junit", "a test result"),
    "github": Form(".github.txt", (".github.txt",), "github.render_github", "annotations of a GitHub run"),
    "gitlab": Form(
        ".codequality.json",
        ("codequality.json", "code-quality.json", "code-quality-report.json"),
        "gitlab.render_gitlab",
        "GitLab's code quality",
    ),
    "openmetrics": Form(".prom", (".prom", ".om"), "openmetrics.render_openmetrics", "Prometheus' textfile collector"),
}


def form_of(name: str) -> str | None:
    """Return the form that a file's name asks for by its longest ending that one has; None where it asks for none."""
    asked = [(len(ending), form) for form, one in FORMS.items() for ending in one.endings if name.endswith(ending)]
    return max(asked)[1] if asked else None


def render(view: ReportView, form: str, *, verbose: bool = True) -> str:
    """Return a report in a form; only what a terminal shows knows of a shorter one."""
    module, _, function = FORMS[form].renders.partition(".")
    options = {"verbose": verbose} if form == "text" else {}
    rendered: str = getattr(import_module(f"nccl_logscan.report.{module}"), function)(view, **options)
    return rendered
