"""Where the tests of this folder find what they try."""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
INTEGRATIONS = ROOT / "integrations"
LAB = ROOT / "fixtures" / "cases" / "lab"
PROGRAM = Path(sys.executable).with_name("nccl-logscan")
"""As pip installs it, with Python beside it."""


class _GitlabLoader(yaml.SafeLoader):
    """YAML with GitLab's references."""


_GitlabLoader.add_constructor("!reference", lambda loader, node: loader.construct_sequence(node))


def documents_of(path):
    """Return the documents of a YAML file, a reference of GitLab's as the list of its names."""
    return list(yaml.load_all(path.read_text("utf-8"), _GitlabLoader))
