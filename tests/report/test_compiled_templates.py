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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(templates, "FOLDER", tmp_path)
    return tmp_path


def test_each_script_of_the_folder_has_a_scope_of_its_own_and_the_pages_comes_first(folder):
    (folder / "chart.js").write_text("const one = 1;\n")
    (folder / "page.js").write_text("const one = 2;\n")

    first, second = templates.script().split("})();\n")[:-1]

    assert first.splitlines() == ["(() => {", '"use strict";', "const one = 2;"]
    assert "one = 1" in second


def test_all_style_sheets_of_the_folder_are_one_text(folder):
    (folder / "map.css").write_text("b {}\n")
    (folder / "style.css").write_text("a {}\n")

    assert templates.style() == "a {}\n\nb {}\n"


@pytest.mark.parametrize("text", ["</script>", "'</SCRIPT '", "<!-- x", "a\r\nb", "'<script'"])
def test_a_script_that_its_element_could_not_hold_is_refused(folder, text):
    (folder / "page.js").write_bytes(text.encode())

    with pytest.raises(SystemExit):
        templates.script()
