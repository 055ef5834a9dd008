"""Measures whether a scan's advice names the right setting and its place, and writes reports/advice.md.

python tools/advice_accuracy.py            measure and write
python tools/advice_accuracy.py --check    measure and say whether reports/advice.md is fresh

Cases whose fix names a setting are in fixtures/launch/named_settings.yaml; launch files with the place to be changed
are the folders beside it. Both are explained in fixtures/README.md.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from nccl_logscan.catalogue.load import catalogue
from nccl_logscan.pipeline import scan
from nccl_logscan.report.view import build_view
from nccl_logscan.rulebook.load import builtin_rulebook

_ROOT = Path(__file__).resolve().parents[1]
_CASES = _ROOT / "fixtures" / "cases"
_LAUNCH = _ROOT / "fixtures" / "launch"
_REPORT = _ROOT / "reports" / "advice.md"
_FIRST = 3


@dataclass(frozen=True, slots=True)
class Named:
    """A case whose fix names a setting: what would be accepted, and what the first three remedies name."""

    case: str
    wanted: tuple[str, ...]
    got: tuple[str | None, ...]

    @property
    def found(self) -> bool:
        """Whether one of the first three is accepted."""
        return any(accepted(setting, self.wanted) for setting in self.got)


@dataclass(frozen=True, slots=True)
class Pointed:
    """A case with launch files. `diff`: None where none was given and none is due; `why` says what is not right."""

    name: str
    case: str
    setting: bool
    place: bool
    diff: bool | None
    why: tuple[str, ...]


def main() -> int:
    """Measure; write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the report is fresh")
    check = parser.parse_args().check
    table = yaml.safe_load((_LAUNCH / "named_settings.yaml").read_text("utf-8"))
    named = [_named(case, tuple(wanted)) for case, wanted in table.items()]
    pointed = [measure(path.parent) for path in sorted(_LAUNCH.glob("*/expected.yaml"))]
    text = _page(named, pointed)
    if check:
        fresh = _REPORT.is_file() and _REPORT.read_text("utf-8") == text
        print("reports/advice.md is fresh" if fresh else "reports/advice.md is stale: run tools/advice_accuracy.py")
        return 0 if fresh else 1
    _REPORT.write_text(text, "utf-8")
    print(text)
    return 0


def _named(case: str, wanted: tuple[str, ...]) -> Named:
    view = build_view(scan([str(path) for path in _logs(_CASES / case)], builtin_rulebook()))
    return Named(case, wanted, tuple(step["setting"] for step in first_steps(view)))


def _logs(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "case.yaml")


def first_steps(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the first three remedies that say what to do and not what to leave."""
    return [step for step in report["remediation"] if not step["do_not"]][:_FIRST]


def accepted(setting: str | None, wanted: Iterable[str]) -> bool:
    """Return whether a remedy's setting is one of those wanted, under any framework's name for the same thing."""
    if setting is None:
        return False
    words = re.findall(r"[\w./=()-]+", setting)
    return any(
        _bare(setting) == _bare(name) or name in words or name in setting.split("=") or _alike(setting, name)
        for name in wanted
    )


def _bare(name: str) -> str:
    """A name as it is compared: no marks, no modules before a call, `f(x=...)` as `f(x=)`."""
    call = re.sub(r"^[\w.]*\.(?=\w+\()", "", re.sub(r"=\.*\)$", "=)", name))
    return call.lstrip("+~").rstrip("=").replace("_", "-").lower()


def _alike(one: str, other: str) -> bool:
    return bool(_concepts(one) & _concepts(other))


@cache
def _concepts(name: str) -> frozenset[str]:
    return frozenset(option.concept for option in catalogue().options_called(name) if option.concept)


def measure(folder: Path) -> Pointed:
    """Scan a case's log with the folder's files as its configuration, and look at where the advice points."""
    expected = yaml.safe_load((folder / "expected.yaml").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as copy:
        work = Path(copy) / folder.name
        shutil.copytree(folder, work, ignore=shutil.ignore_patterns("expected.yaml"))
        steps = _scan(work, _logs(_CASES / expected["log"]))
        return judge(folder.name, expected, steps, work)


def _scan(work: Path, logs: Sequence[Path]) -> list[dict[str, Any]]:
    configs = [word for path in _files(work) for word in ("--config", str(path.relative_to(work)))]
    words = [sys.executable, "-m", "nccl_logscan", "scan", *map(str, logs), "--format", "json", "-o", "-", "-q"]
    done = subprocess.run([*words, *configs], capture_output=True, cwd=work, check=False)
    if done.returncode not in {0, 1}:
        raise SystemExit(f"{work.name}: the scan ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return first_steps(json.loads(done.stdout))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def judge(name: str, expected: Mapping[str, Any], steps: Sequence[Mapping[str, Any]], work: Path) -> Pointed:
    """Compare the first remedies with where the change belongs; `work` holds the files, and is left unchanged."""
    places = [*expected.get("points_to", ()), *expected.get("add_to", ())]
    wanted = {setting for place in places for setting in place["setting"]}
    naming = [step for step in steps if accepted(step["setting"], wanted)]
    hits = [(step, place) for step in naming if (place := _place_of(step, places)) is not None]
    why = []
    if not naming:
        why.append(f"names {', '.join(str(step['setting']) for step in steps) or 'nothing'}")
    elif not hits:
        said = (f"{step['where']['file']}:{step['where']['line']}" if step["where"] else "nowhere" for step in naming)
        why.append(f"points to {', '.join(said)}")
    judged = [(step, place, faults(step["diff"], place, places, work)) for step, place in hits if step["diff"]]
    why += sorted({fault for _, _, found in judged for fault in found})
    due = [place for _, place in hits if "to" in place]
    if due and not judged:
        why.append("no diff, though the value is known")
    diff = all(not found for _, _, found in judged) if judged else (False if due else None)
    return Pointed(name, expected["case"], bool(naming), bool(hits), diff, tuple(why))


def _place_of(step: Mapping[str, Any], places: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    where = step["where"]
    if where is None:
        return None
    return next(
        (
            place
            for place in places
            if where["file"].removeprefix("./") == place["file"]
            and place["line"] <= where["line"] <= place["line"] + place.get("lines", 1)
            and accepted(step["setting"], place["setting"])
        ),
        None,
    )


def faults(diff: str, place: Mapping[str, Any], places: Sequence[Mapping[str, Any]], work: Path) -> list[str]:
    """Return what is wrong with a diff: refused by git, other lines touched, or another value than is due."""
    before = {path: path.read_bytes() for path in _files(work)}
    try:
        for words in (["git", "apply", "--check", "-"], ["git", "apply", "-"]):
            done = subprocess.run(words, input=diff.encode(), cwd=work, capture_output=True, check=False)
            if done.returncode:
                return [f"git apply: {done.stderr.decode().strip()}"]
        after = {path: path.read_bytes() for path in _files(work)}
    finally:
        for path, data in before.items():
            path.write_bytes(data)
    found = [] if set(before) == set(after) else ["a file came or went"]
    for path, data in before.items():
        allowed = [entry for entry in places if entry["file"] == str(path.relative_to(work))]
        found += _touched(_lines(data), _lines(after.get(path, b"")), allowed)
    changed = _lines(after.get(work / place["file"], b""))
    return found + _value_fault(place, changed, _lines(before[work / place["file"]]))


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").split("\n")


def _touched(before: list[str], after: list[str], allowed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for tag, first, last, _, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        lines = range(first + 1, last + 1) or range(first + 1, first + 2)
        for line in lines:
            if not any(entry["line"] <= line <= entry["line"] + entry.get("lines", 1) for entry in allowed):
                yield f"line {line} is touched"


def _value_fault(place: Mapping[str, Any], after: Sequence[str], before: Sequence[str]) -> list[str]:
    if "to" not in place:
        return []
    to = str(place["to"])
    new = [line for line in after if line not in before]
    if to:
        return [] if any(re.search(rf"\b{re.escape(to)}\b", line) for line in new) else [f"the value is not {to}"]
    gone = place["setting"][0]
    return [f"{gone} is still set"] if any(gone in line for line in after) else []


def _page(named: Sequence[Named], pointed: Sequence[Pointed]) -> str:
    figures: tuple[tuple[str, Iterable[bool | None], str], ...] = (
        ("the setting is among the first three remedies", (case.found for case in named), "85 %"),
        ("the same, of the cases with launch files", (case.setting for case in pointed), ""),
        ("the right file and line is pointed at", (case.place for case in pointed), "all"),
        ("diffs that apply, change that alone and set the value that is due", (case.diff for case in pointed), "all"),
    )
    return "\n".join(
        [
            "<!-- written by: python tools/advice_accuracy.py -->",
            "# Advice",
            "",
            f"Measured on the {len(named)} cases whose fix names a setting (`fixtures/launch/named_settings.yaml`) and",
            f"on {len(pointed)} of these with launch files (`fixtures/launch`).",
            "",
            "| figure | value | must reach |",
            "|---|---|---|",
            *(f"| {name} | {_share(holds)} | {gate} |" for name, holds, gate in figures),
            "",
            "## Where another setting is named",
            "",
            *_rows(
                f"{case.case}: wants {_list(case.wanted)}; names {_list(case.got)}" for case in named if not case.found
            ),
            "",
            "## Where launch files are not pointed at as they should be",
            "",
            *_rows(f"{case.name} ({case.case}): {'; '.join(case.why)}" for case in pointed if case.why),
            "",
        ]
    )


def _rows(said: Iterable[str]) -> list[str]:
    return [f"- {line}" for line in said] or ["Nowhere."]


def _list(settings: Iterable[str | None]) -> str:
    return ", ".join(f"`{setting}`" if setting else "none" for setting in settings) or "nothing"


def _share(answers: Iterable[bool | None]) -> str:
    known = [answer for answer in answers if answer is not None]
    return f"{sum(known)}/{len(known)} = {100 * sum(known) / len(known):.1f} %" if known else "no case"


if __name__ == "__main__":
    sys.exit(main())
