"""The forms of a report. To add one, write a module that is called like it, with `render_<form>`, and a row here."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from nccl_logscan.report.view import ReportView


class Form(NamedTuple):
    """A form of a report. `suffix`: how a file of it is named; `endings`: of names that ask for it."""

    suffix: str
    endings: tuple[str, ...]


FORMS = {
    "html": Form(".html", (".html", ".htm")),
    "json": Form(".json", (".json",)),
    "text": Form(".txt", (".txt",)),
    "markdown": Form(".md", (".md",)),
    "sarif": Form(".sarif", (".sarif", ".sarif.json")),
    "junit": Form(".xml", (".xml",)),
    "github": Form(".github.txt", (".github.txt",)),
    "gitlab": Form(
        ".codequality.json",
        ("codequality.json", "code-quality.json", "code-quality-report.json"),
    ),
    "openmetrics": Form(".prom", (".prom", ".om")),
    "trace": Form(".trace.json", (".trace.json", ".perfetto.json")),
}


def form_of(name: str) -> str | None:
    """Return the form that a file's name asks for by its longest ending that one has; None where it asks for none."""
    name = name.lower()
    asked = [(len(ending), form) for form, one in FORMS.items() for ending in one.endings if name.endswith(ending)]
    return max(asked)[1] if asked else None


def render(view: ReportView, form: str, *, verbose: bool = True) -> str:
    """Return a report in a form; only what a terminal shows knows of a shorter one."""
    # Each form needs its own libraries (MarkupSafe, rich, hashlib), so it is imported where a run has asked for it.
    module = import_module(f"nccl_logscan.report.{form}")
    if form == "text":
        return str(module.plain_text(view, verbose=verbose))
    return str(getattr(module, f"render_{form}")(view))
