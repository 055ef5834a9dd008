"""Makes reports/samples: the pages of real cases, and a picture of each for the README.

python tools/samples.py           write them (pictures need Chromium)
python tools/samples.py --check   say whether the pages are fresh and the pictures there
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from nccl_logscan import scan
from nccl_logscan.report.html import render_html
from nccl_logscan.report.view import build_view

_ROOT = Path(__file__).resolve().parents[1]
_FOLDER = _ROOT / "reports" / "samples"
_LARGEST_PICTURE = 300_000

_SAMPLES = {
    "timeout-of-8-ranks": ("fixtures/cases/lab/m8-timeout-rank5/driver.log", 1120),
    "infiniband": ("fixtures/cases/field/net002/trainer.log", 1120),
    "healthy": ("fixtures/cases/lab/m8-healthy/driver.log", 700),
}


def main() -> int:
    """Write or compare all samples."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether they are fresh")
    if parser.parse_args().check:
        return _check()
    _FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (log, height) in _SAMPLES.items():
        page = _FOLDER / f"{name}.html"
        page.write_text(_page(log), "utf-8")
        _take_picture(page, height)
        print(f"{page.relative_to(_ROOT)} and its picture are written")
    return 0


def _check() -> int:
    stale = [name for name, (log, _) in _SAMPLES.items() if not _is_fresh(_FOLDER / f"{name}.html", log)]
    for name in stale:
        print(f"reports/samples/{name} is stale: run python tools/samples.py")
    return 1 if stale else 0


def _is_fresh(page: Path, log: str) -> bool:
    picture = page.with_suffix(".png")
    return picture.is_file() and page.is_file() and page.read_text("utf-8") == _page(log)


def _page(log: str) -> str:
    """Return the page of a log, which it names from the root of the checkout."""
    with contextlib.chdir(_ROOT):  # named from elsewhere, a long path would be shortened, and the page be another
        view = build_view(scan([log]))
    # Any change of any rule changes the digest; only one that shows in these pages should make them stale.
    view["tool"]["rules_digest"] = "of-the-sample"
    return render_html(view)


def _take_picture(page: Path, height: int) -> None:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("error: pictures need Chromium\n help: apt-get install chromium")
    picture = page.with_suffix(".png")
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
        options += [f"--window-size=1200,{height}", f"--screenshot={picture}"]
        subprocess.run([program, *options, page.as_uri()], check=True, capture_output=True, timeout=120)
    if picture.stat().st_size > _LARGEST_PICTURE:
        raise SystemExit(f"error: {picture} is larger than {_LARGEST_PICTURE} bytes")


if __name__ == "__main__":
    sys.exit(main())
