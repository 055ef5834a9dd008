"""The gallery of mistakes: what a person is told about each broken rule.

python tests/rulebook/gallery.py    writes expected.txt anew; read the difference before you commit it
"""

from __future__ import annotations

from pathlib import Path

from nccl_logscan.errors import Problem
from nccl_logscan.rulebook.find import RuleSource
from nccl_logscan.rulebook.lint import lint
from nccl_logscan.rulebook.read import RuleFile, read_rule
from nccl_logscan.rulebook.rule import Rulebook
from nccl_logscan.selfcheck import prove

GALLERY = Path(__file__).parents[2] / "fixtures" / "broken-rules"

OTHER_IDS = frozenset({"infiniband/broken", "infiniband/flushed-work-request"})


def mistakes() -> list[Path]:
    return sorted(folder for folder in GALLERY.iterdir() if folder.is_dir())


def problems_of(content: bytes) -> list[Problem]:
    """What `rules check` says of a file, were it `infiniband/broken.yaml` in an otherwise sound set."""
    file = read_rule(RuleSource("rule.yaml", "infiniband/broken", content))
    if not isinstance(file, RuleFile):
        return list(file)
    linted = lint([file], ids=OTHER_IDS, groups=(), detectors={"rank-absent"})
    return [*linted, *prove(file, Rulebook({file.rule.id: file.rule}, ""))]


def said_about(folder: Path) -> str:
    return "".join(problem.render() + "\n" for problem in problems_of((folder / "rule.yaml").read_bytes()))


if __name__ == "__main__":
    for mistake in mistakes():
        (mistake / "expected.txt").write_text(said_about(mistake), "utf-8")
