"""What SARIF of a scan and SARIF of lint have in common: SARIF 2.1.0, within what GitHub's code scanning takes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from nccl_logscan.lint.model import Check
from nccl_logscan.report.json import json_document
from nccl_logscan.report.lint.checks import ABOUT
from nccl_logscan.report.markdown_text import prose
from nccl_logscan.report.visible import visible_lines
from nccl_logscan.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# GitHub shows no more of a rule's descriptions.
_DESCRIPTION = 1_024


def document(rules: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]], **more: Any) -> str:
    """Return one run in ASCII; `more` are further properties of it."""
    driver = {"name": "nccl-logscan", "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The folder in which nccl-logscan was run."}}},
        **more,
        "results": results,
    }
    whole = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_document(whole)


def described(identifier: str, name: str, title: str, text: str, **more: Any) -> dict[str, Any]:
    """Return a rule; `text` is its help as well as its description. Nothing of it is markup: a rule may be a site's."""
    return {
        "id": identifier,
        "name": name[:255],
        "shortDescription": {"text": title[:_DESCRIPTION]},
        "fullDescription": {"text": text[:_DESCRIPTION]},
        "help": {"text": text, "markdown": prose(text)},
        **more,
    }


def check_described(check: Check) -> dict[str, Any]:
    """Return the rule that a check of lint is."""
    about = ABOUT[check]
    level = {"level": about.severity.value}
    return described(check.value, about.name, about.title, about.text, helpUri=about.uri, defaultConfiguration=level)


def message(text: str) -> dict[str, str]:
    """Return a message in which no text is taken for a link: `[text](place)` is one, in plain text as well."""
    return {"text": visible_lines(text).replace("](", "] (")}


def artifact_location(name: str) -> dict[str, str]:
    """Return where a file is: by a path from the folder of the run, or by an absolute one.

    Standard input is `stdin`. What has the name of a URL stays a relative path: where the root of a repository is
    given, GitHub refuses a report with addresses of another scheme.
    """
    path = "stdin" if name == "-" else name
    written = quote(path.encode("utf-8", "surrogateescape"), safe="/")
    if PurePosixPath(path).is_absolute():
        # Of several slashes at its beginning a reader would make the name of a host.
        return {"uri": f"file:///{written.lstrip('/')}"}
    return {"uri": written.removeprefix("./"), "uriBaseId": "%SRCROOT%"}


def fingerprint(identity: Iterable[str], seen: Counter[str]) -> str:
    """Return a digest of what makes a result the same over runs; `seen` tells those of one run apart."""
    same = "\0".join(identity)
    seen[same] += 1
    return hashlib.sha256(f"{same}\0{seen[same]}".encode("utf-8", "replace")).hexdigest()[:32]
