"""The compiled templates are the templates."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nccl_logscan.report import html
from nccl_logscan.report.compiled_templates import DIGEST
from nccl_logscan.report.html import render_html
from nccl_logscan.report.view import build_view

sys.path.append(str(Path(__file__).parents[2] / "tools"))

import templates


@pytest.mark.parametrize("name", ["sample_result", "healthy_result", "unknown_result", "hostile_result"])
def test_a_page_is_what_jinja_makes_of_the_templates(request, monkeypatch, name):
    view = build_view(request.getfixturevalue(name))
    own = render_html(view)
    jinja = templates.environment()
    monkeypatch.setattr(html, "page_of", lambda template, values: jinja.get_template(template).render(**values))

    assert render_html(view) == own


def test_the_compiled_templates_are_fresh():
    assert templates.digest() == DIGEST, "run python tools/templates.py"
