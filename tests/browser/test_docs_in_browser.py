"""The documentation's site in Chromium: nothing from elsewhere, readable for all, on phones as well."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

SITE = Path(__file__).parents[2] / "tools" / "docs_site.py"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PAGES = ["index", "tutorial", "launchers/mpi", "python", "rules/roce_config"]
pytestmark = pytest.mark.skipif(
    find_spec("zensical") is None and os.environ.get("CI") != "true", reason="needs pip install -e '.[docs]'"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documentation") / "site"
    words = [sys.executable, str(SITE), "-o", str(folder)]
    told = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert told.returncode == 0, told.stdout + told.stderr
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_site_stays_within_it(light, site, page):
    light.open((site / f"{page}.html").as_uri())

    assert [address for address in light.requests if not address.startswith(site.as_uri())] == []


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing_on_a_page_of_the_site(light, site, page, colours):
    light.tab.emulate_media(color_scheme=colours)
    try:
        light.open((site / f"{page}.html").as_uri())
        found = Axe().run(light.tab, options={"runOnly": RULES, "resultTypes": ["violations"]}).response["violations"]
    finally:
        light.tab.emulate_media(color_scheme="light")

    assert [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found] == []


@pytest.mark.parametrize("width", [360, 768, 1440])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_site_is_no_wider_than_its_window(light, site, page, width):
    before = light.tab.viewport_size
    light.tab.set_viewport_size({"width": width, "height": 800})
    try:
        light.open((site / f"{page}.html").as_uri())
        wider = light.tab.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    finally:
        light.tab.set_viewport_size(before)

    assert not wider
