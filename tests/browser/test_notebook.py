"""A report among the outputs of a notebook, as a browser shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

import nccl_logscan

LOG = Path(__file__).parents[2] / "fixtures" / "cases" / "lab" / "timeout-dataloader" / "driver.log"
OUTPUT = "<!doctype html><title>notebook</title><style>h1 {{ color: rgb(1, 2, 3) }}</style><h1>own</h1>{}"
COLOUR = "getComputedStyle(document.querySelector('h1')).color"


@pytest.fixture(scope="module")
def notebook(light, tmp_path_factory):
    """Give a page that displays a result of a log in which a host is called like markup."""
    folder = tmp_path_factory.mktemp("notebook")
    log = folder / "trainer.log"
    attack = "<script>top.document.title = 'attacked'</script></iframe><img src=x onerror=top.attacked=1>"
    log.write_text(LOG.read_text() + f"[rank1]: ValueError: {attack}\n")
    place = folder / "notebook.html"
    place.write_text(OUTPUT.format(nccl_logscan.scan(log)._repr_html_()))
    light.tab.set_viewport_size({"width": 1000, "height": 900})
    light.open(place.as_uri())
    return light


def test_the_frame_is_as_wide_as_the_output_and_not_higher_than_the_window(notebook):
    width, height = notebook.tab.evaluate("(f => [f.offsetWidth, f.offsetHeight])(document.querySelector('iframe'))")

    assert width == notebook.tab.evaluate("document.body.clientWidth")
    assert 320 <= height <= 720


def test_the_report_reaches_nothing_of_the_notebook(notebook):
    assert notebook.tab.evaluate("document.title") == "notebook"
    assert notebook.tab.evaluate("typeof window.attacked") == "undefined"
    assert notebook.tab.evaluate("document.querySelector('iframe').contentDocument") is None
    assert notebook.tab.evaluate("document.querySelectorAll('img, script').length") == 0
    assert notebook.tab.evaluate(COLOUR) == "rgb(1, 2, 3)"
    assert all(address.startswith(("file:", "about:")) for address in notebook.requests)


def test_the_text_stands_below_the_frame(notebook):
    assert "user_code" in notebook.tab.evaluate("document.querySelector('details pre').textContent")
