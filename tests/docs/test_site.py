"""The documentation's site builds without a network, and every link in it leads somewhere."""

from __future__ import annotations

import os
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import nccl_logscan

ROOT = Path(__file__).parents[2]
SITE = ROOT / "tools" / "docs_site.py"
sys.path.append(str(SITE.parent))

import docs_site  # noqa: E402 - tools is no package

needs_builder = pytest.mark.skipif(
    find_spec("zensical") is None and os.environ.get("CI") != "true", reason="needs pip install -e '.[docs]'"
)


class _Page(HTMLParser):
    """What a page of the site leads to, loads, and can be led to within."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.leads_to: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for value in (given.get("id"), given.get("name")) if value}
        if tag == "a" and given.get("href"):
            self.leads_to.append(given["href"])
        if tag == "link" and given.get("rel") == "stylesheet":
            self.loads.append(given["href"])
        if tag in {"script", "img", "iframe"} and given.get("src"):
            self.loads.append(given["src"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "site"
    told = _build("-o", str(folder))
    assert told.returncode == 0, told.stdout + told.stderr
    return {
        path.resolve(): _Page(path.read_text("utf-8")) for path in folder.rglob("*.html") if path.name != "404.html"
    }


def _build(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SITE), *words], capture_output=True, text=True, check=False, timeout=300)


@needs_builder
def test_every_link_within_the_site_leads_to_a_page_and_a_place_of_it(site):
    assert [
        (page.name, link)
        for page, read in site.items()
        for link in read.leads_to
        if not urlsplit(link).scheme and not _is_there(site, page, link)
    ] == []


def _is_there(site, page, link):
    aim = urlsplit(link)
    target = (page.parent / unquote(aim.path)).resolve() if aim.path else page
    if target.is_dir():
        target /= "index.html"
    if target not in site:
        return target.is_file()
    return aim.fragment in site[target].anchors or not aim.fragment


@needs_builder
def test_a_page_loads_nothing_from_another_host(site):
    assert {load for read in site.values() for load in read.loads if urlsplit(load).netloc} == set()


@needs_builder
def test_what_python_programs_use_is_told(site):
    [page] = [read for path, read in site.items() if path.name == "python.html"]
    assert {f"nccl_logscan.{name}" for name in nccl_logscan.__all__ if name != "__version__"} <= page.anchors


@needs_builder
@pytest.mark.parametrize("link", ["nowhere.md", "rules/none.md#nowhere", "#nowhere"])
def test_a_link_to_nowhere_ends_the_build(tmp_path, link):
    docs_site.stage(tmp_path)
    with (tmp_path / "docs" / "index.md").open("a", encoding="utf-8") as page:
        page.write(f"\n[there]({link})\n")

    told = docs_site.build(tmp_path)

    assert told.returncode
    assert "does not exist" in told.stdout + told.stderr


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        ("nav: [index.md, no.md]", "mkdocs.yml: no page is no.md"),
        ("nav: [index.md]", "mkdocs.yml: the navigation lacks python.md"),
        ("nav: [index.md, {Again: [index.md]}]", "mkdocs.yml: index.md is named twice"),
    ],
)
def test_the_navigation_has_every_page_once_and_no_other(tmp_path, monkeypatch, capsys, written, fault):
    settings = tmp_path / "mkdocs.yml"
    settings.write_text(written, "utf-8")
    monkeypatch.setattr(docs_site, "_SETTINGS", settings)
    monkeypatch.setattr(sys, "argv", ["docs_site.py", "-o", str(tmp_path / "site")])

    assert docs_site.main() == 1
    assert fault in capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("address", ["http://host/path", "https://", "https://host/a b"])
def test_an_address_of_no_right_form_is_told(tmp_path, monkeypatch, address):
    page = tmp_path / "page.md"
    page.write_text(f"[there]({address}) and [here](https://host/path)", "utf-8")
    monkeypatch.setattr(docs_site, "_ROOT", tmp_path)
    monkeypatch.setattr(docs_site, "page_places", lambda: {page: "page.md"})

    assert list(docs_site._faulty_addresses()) == [f"page.md: {address} is no address of the form https://host/path"]


def test_links_follow_pages_to_their_places_on_the_site(tmp_path):
    docs_site.stage(tmp_path)

    decision = (tmp_path / "docs" / "decisions" / "010-a-classifier-of-words.md").read_text("utf-8")
    assert "](../model.md)" in decision
    assert "](../reports/models.md)" in decision
    accuracy = (tmp_path / "docs" / "reports" / "accuracy.md").read_text("utf-8")
    assert "](../model.md)" in accuracy


def test_a_folder_that_is_no_site_is_not_replaced(tmp_path, monkeypatch, capsys):
    (tmp_path / "thesis.txt").write_text("years", "utf-8")
    monkeypatch.setattr(sys, "argv", ["docs_site.py", "-o", str(tmp_path)])

    assert docs_site.main() == 1
    assert "is no site" in capsys.readouterr().err
    assert (tmp_path / "thesis.txt").read_text("utf-8") == "years"
