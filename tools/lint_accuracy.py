"""Measures lint on the labelled settings in fixtures/lint and writes reports/lint.md.

python tools/lint_accuracy.py            measure and write
python tools/lint_accuracy.py --check    measure and say whether reports/lint.md is fresh
python tools/lint_accuracy.py FOLDER     measure another set of the same layout and print; nothing is written

A folder is a construct; its expected.yaml is explained in fixtures/README.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from lint_labels import Found, Label, Scored, labels_of, score, unlike

from nccl_logscan.configs.model import Config
from nccl_logscan.configs.read import read_text
from nccl_logscan.lint.mend import Mending, mend
from nccl_logscan.lint.model import Check, Versions
from nccl_logscan.lint.run import lint
from nccl_logscan.report.lint.mend import diff_of

_ROOT = Path(__file__).resolve().parents[1]
_FIXTURES = _ROOT / "fixtures" / "lint"
_REPORT = _ROOT / "reports" / "lint.md"
_GATE = 98.0


def main() -> int:
    """Measure; write, compare or print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="another set of fixtures, for which nothing is written")
    parser.add_argument("--check", action="store_true", help="only say whether the report is fresh")
    options = parser.parse_args()
    scored = [measure(path.parent) for path in sorted((options.folder or _FIXTURES).glob("*/expected.yaml"))]
    if not scored:
        parser.error(f"no */expected.yaml in {options.folder or _FIXTURES}")
    text = page(scored)
    if options.folder:
        print(text)
        return 0
    if options.check:
        fresh = _REPORT.is_file() and _REPORT.read_text("utf-8") == text
        print("reports/lint.md is fresh" if fresh else "reports/lint.md is stale: run python tools/lint_accuracy.py")
        return 0 if fresh else 1
    _REPORT.write_text(text, "utf-8")
    print(text)
    return 0


def measure(folder: Path) -> Scored:
    """Lint a folder's files, those of a job together, and compare remarks and fixes with its labels."""
    expected = yaml.safe_load((folder / "expected.yaml").read_text("utf-8"))
    configs = [read_text(str(path.relative_to(folder)), path.read_bytes()) for path in _files(folder)]
    read = {config.name: config for config in configs if config is not None}
    versions = _versions(expected["versions"])
    jobs = _jobs(read, expected.get("jobs", ()))
    remarks = [remark for job in jobs for remark in lint([read[name] for name in job], versions)]
    found = [
        Found(remark.at.source, remark.at.line, remark.name, str(remark.check), str(remark.severity))
        for remark in remarks
    ]
    scored = score(labels_of(folder.name, expected), found, folder.name)
    changes = [change for job in jobs for change in mend([read[name] for name in job], versions, set(Check))]
    changed = {change.config.name: change for change in changes}
    for config in read.values():
        _compare_fix(scored, config, changed.get(config.name), expected)
    return scored


def _jobs(names: Iterable[str], jobs: Iterable[Sequence[str]]) -> list[list[str]]:
    """The files that are linted together; what no job names is one by itself."""
    known = list(names)
    together = [[name for name in job if name in known] for job in jobs]
    return together + [[name] for name in known if not any(name in job for job in together)]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "expected.yaml")


def _versions(given: Mapping[str, Any]) -> Versions:
    return Versions(given.get("nccl"), given.get("torch"), dict(given.get("frameworks") or {}))


def _compare_fix(scored: Scored, config: Config, change: Mending | None, expected: Mapping[str, Any]) -> None:
    """Whether git takes the diff, and whether what it leaves reads as it should, line by line."""
    after = change.data if change else config.data
    scored.files += 1
    if change:
        scored.diffs += 1
        if not takes(config.name, config.data, diff_of(change).text, after):
            scored.refused.append(f"{scored.construct}/{config.name}")
    fixed = [entry for entry in expected.get("fixed", ()) if entry["file"] == config.name]
    added = [entry["matches"] for entry in expected.get("may_add", ()) if entry["file"] == config.name]
    scored.places += len(fixed)
    for line, said in unlike(_text(config.data), _text(after), fixed, added):
        scored.unlike.append(f"{scored.construct}/{config.name}:{line}: {said}")


def _text(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").split("\n")


def takes(name: str, before: bytes, diff: bytes, after: bytes) -> bool:
    """Return whether `git apply` takes the diff and leaves exactly `after`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(before)
        for words in (["git", "apply", "--check", "-"], ["git", "apply", "-"]):
            if subprocess.run(words, input=diff, cwd=folder, capture_output=True, check=False).returncode:
                return False
        return path.read_bytes() == after


def page(scored: Sequence[Scored]) -> str:
    """Return the report."""
    labels = [label for each in scored for label in each.labels]
    bad = [label for label in labels if label.check]
    wrong = [entry for each in scored for entry in each.wrong]
    met = {label: found for each in scored for label, found in each.met.items()}
    open_ = sum(label.either for label in labels)
    right = len(labels) - len(bad) - open_
    agree = sum(found.severity == label.severity for label, found in met.items())
    unlike_all = [said for each in scored for said in each.unlike]
    refused = [name for each in scored for name in each.refused]
    return "\n".join(
        [
            "<!-- written by: python tools/lint_accuracy.py -->",
            "# Lint",
            "",
            *textwrap.wrap(
                f"Measured on {len(labels)} labelled settings in {len(scored)} constructs: {len(bad)} wrong, {right} "
                f"right, {open_} where the facts leave it open (not counted). *Recall*: wrong settings on which an "
                "error or warning of the right check was given (or a note, where the label is a note). *Precision*: "
                "of the errors and warnings, and of the notes that meet a label, those that meet one.",
                120,
            ),
            "",
            "| figure | value | must reach |",
            "|---|---|---|",
            f"| recall | {_share(len(met), len(bad))} | {_GATE:.0f} % |",
            f"| precision | {_share(len(met), len(met) + len(wrong))} | {_GATE:.0f} % |",
            f"| severity as labelled | {_share(agree, len(met))} | |",
            f"| diffs that `git apply` takes | {_share_of(scored, 'diffs', len(refused))} | all |",
            f"| places that read as they should after `--fix` | {_share_of(scored, 'places', len(unlike_all))} | all |",
            "",
            "## By check",
            "",
            *_table("check", _by_check(labels, met, wrong)),
            "",
            "## By construct",
            "",
            *_table("construct", _by_construct(scored)),
            "",
            "## Missed",
            "",
            *_missed(scored),
            "",
            "## Wrongly remarked",
            "",
            *_wrong(scored),
            "",
            "## Fixes",
            "",
            *(f"- git refuses {name}" for name in refused),
            *(f"- {said}" for said in unlike_all),
            *(() if refused or unlike_all else ("As labelled, everywhere.",)),
            "",
        ]
    )


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {100 * part / whole:.1f} %" if whole else "none"


def _share_of(scored: Sequence[Scored], name: str, failed: int) -> str:
    whole = sum(getattr(each, name) for each in scored)
    return _share(max(0, whole - failed), whole)


_Row = tuple[str, int, int, int, int]


def _table(title: str, rows: Iterable[_Row]) -> Iterator[str]:
    yield f"| {title} | right | wrong | found | recall | wrongly remarked |"
    yield "|---|---|---|---|---|---|"
    for name, right, bad, met, wrong in rows:
        yield f"| {name} | {right} | {bad} | {met} | {f'{100 * met / bad:.0f} %' if bad else ''} | {wrong} |"


def _by_check(
    labels: Sequence[Label], met: Mapping[Label, Found], wrong: Sequence[tuple[Found, str]]
) -> Iterator[_Row]:
    for check in Check:
        own = [label for label in labels if label.check == check]
        yield (
            f"`{check}`",
            0,
            len(own),
            sum(label in met for label in own),
            sum(remark.check == check for remark, _ in wrong),
        )


def _by_construct(scored: Sequence[Scored]) -> Iterator[_Row]:
    for each in scored:
        right = sum(not label.check and not label.either for label in each.labels)
        yield each.construct, right, sum(bool(label.check) for label in each.labels), len(each.met), len(each.wrong)


def _missed(scored: Sequence[Scored]) -> list[str]:
    return [
        f"- {each.construct}/{label.file}:{label.line} `{label.name}`: {label.severity} `{label.check}`"
        for each in scored
        for label in each.missed
    ] or ["Nothing."]


def _wrong(scored: Sequence[Scored]) -> list[str]:
    return [
        f"- {each.construct}/{found.file}:{found.line} `{found.name}`: {found.severity} `{found.check}`, but {reason}"
        for each in scored
        for found, reason in each.wrong
    ] or ["Nothing."]


if __name__ == "__main__":
    sys.exit(main())
