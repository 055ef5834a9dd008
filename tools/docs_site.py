"""Builds the documentation's site, strictly.

A page, link or anchor that is not there, a page that the navigation lacks, or an address of no right form ends it
with 1.

python tools/docs_site.py [-o FOLDER]    default: site

The site is the pages of docs/ and those of `_PAGES`, which stand elsewhere in the checkout; links between them are made
anew for the places that they have on the site. It needs `pip install -e '.[docs]'` and no network.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

_ROOT = Path(__file__).resolve().parents[1]
_DOCS = _ROOT / "docs"
_SETTINGS = _ROOT / "mkdocs.yml"
_STYLE = _DOCS / "site.css"
_PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "rules/README.md": "writing-rules.md",
    "fixtures/README.md": "cases.md",
    "nccl_logscan/classifier/MODEL.md": "model.md",
}
"""Pages outside docs/ and their places on the site; those of reports/ keep their names."""
_LINK = re.compile(r"(?<=\]\()(?P<path>[\w./-]+)(?=[)#])")
_FAR = re.compile(r"(?<=\]\()<?(?P<address>[a-z]+://[^)]*?)>?(?=\))")


def main() -> int:
    """Build the site."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=_ROOT / "site", help="folder of the site")
    output: Path = parser.parse_args().output
    faults = [*_faulty_output(output), *_faulty_navigation(), *_faulty_addresses()]
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        stage(Path(scratch))
        built = build(Path(scratch))
        if built.returncode:
            print(built.stdout, built.stderr, sep="", file=sys.stderr)
            return 1
        if output.exists():
            shutil.rmtree(output)
        shutil.copytree(Path(scratch) / "site", output)
    return 0


def stage(folder: Path) -> None:
    """Lay the site's settings and pages into a folder, as the builder takes them."""
    shutil.copy(_SETTINGS, folder)
    (folder / "docs").mkdir()
    shutil.copy(_STYLE, folder / "docs")
    places = page_places()
    for page, place in places.items():
        there = folder / "docs" / place
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(_relinked(page, places), "utf-8")


def page_places() -> Mapping[Path, str]:
    """Return the path of every page of the checkout that the site has, with its place on the site."""
    own = {page: page.relative_to(_DOCS).as_posix() for page in sorted(_DOCS.rglob("*.md"))}
    reports = {page: f"reports/{page.name}" for page in sorted((_ROOT / "reports").glob("*.md"))}
    return own | reports | {_ROOT / page: place for page, place in _PAGES.items()}


def _relinked(page: Path, places: Mapping[Path, str]) -> str:
    """Return a page's text with each link to another page leading to that page's place on the site."""
    here = Path(places[page]).parent

    def moved(found: re.Match[str]) -> str:
        place = places.get((page.parent / found["path"]).resolve())
        return found["path"] if place is None else Path(os.path.relpath(place, here)).as_posix()

    return _LINK.sub(moved, page.read_text("utf-8"))


def _faulty_output(folder: Path) -> Iterator[str]:
    if folder.exists() and not (folder / "404.html").is_file():
        yield f"{folder} is there and is no site: it would be replaced"


def _faulty_navigation() -> Iterator[str]:
    named = list(_places_in(yaml.safe_load(_SETTINGS.read_text("utf-8"))["nav"]))
    there = set(page_places().values())
    yield from (f"mkdocs.yml: no page is {place}" for place in sorted(set(named) - there))
    yield from (f"mkdocs.yml: the navigation lacks {place}" for place in sorted(there - set(named)))
    yield from (f"mkdocs.yml: {place} is named twice" for place, count in Counter(named).items() if count > 1)


def _places_in(entry: Any) -> Iterator[str]:
    """Yield the pages of an entry of the navigation: a place, a list of entries, or an entry with its title."""
    if isinstance(entry, str):
        yield entry
        return
    for below in entry.values() if isinstance(entry, dict) else entry:
        yield from _places_in(below)


def _faulty_addresses() -> Iterator[str]:
    """Yield each address of another site that has no right form; nobody is asked whether it is there."""
    for page in page_places():
        for found in _FAR.finditer(page.read_text("utf-8")):
            address = found["address"]
            if urlsplit(address).scheme != "https" or not urlsplit(address).hostname or re.search(r"\s", address):
                yield f"{page.relative_to(_ROOT)}: {address} is no address of the form https://host/path"


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build what is laid into a folder, into its `site`."""
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "NO_COLOR": "1"}
    words = [sys.executable, "-m", "zensical", "build", "--strict"]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main())
