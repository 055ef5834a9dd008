"""The verdict as JUnit XML, which Jenkins, GitLab and GitHub's readers of test results take."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from nccl_logscan.report.view import ReportView
from nccl_logscan.report.visible import harmless_to_runners, visible
from nccl_logscan.taxonomy import Category

# Of the Unicode that `visible` leaves, XML 1.0 takes all but these.
_ILLEGAL = {0xFFFE: "<U+FFFE>", 0xFFFF: "<U+FFFF>"}


def render_junit(view: ReportView) -> str:
    """Return one suite with one case, which fails with the headline and its evidence unless the job is healthy."""
    verdict = view["verdict"]
    healthy = verdict["category"] == Category.NONE
    seconds = f"{view['coverage']['seconds']:.3f}"
    case = f'<testcase classname="nccl-logscan" name="job" time="{seconds}"'  # one name, so that a CI keeps one history
    failure = "/>" if healthy else f">\n{_failure(view)}\n    </testcase>"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
        f'  <testsuite name="nccl-logscan" tests="1" failures="{int(not healthy)}" errors="0" time="{seconds}">\n'
        f"    {case}{failure}\n  </testsuite>\n</testsuites>\n"
    )


def _failure(view: ReportView) -> str:
    verdict = view["verdict"]
    cited = [f"{entry['file']}:{entry['line']}: {entry['text']}" for entry in verdict["evidence"]]
    text = "\n".join(_legal(line) for line in [*verdict["reasons"], *cited])
    message, kind = _attribute(verdict["headline"]), _attribute(verdict["rule"] or verdict["category"])
    return f"      <failure message={message} type={kind}>{escape(text)}</failure>"


def _attribute(text: str) -> str:
    return quoteattr(_legal(text))


def _legal(text: str) -> str:
    return harmless_to_runners(visible(text)).translate(_ILLEGAL)
