"""Each mistake of fixtures/broken-rules earns exactly the message beside it."""

from __future__ import annotations

import pytest
from gallery import mistakes, problems_of, said_about


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda folder: folder.name)
def test_a_mistake_earns_its_message(mistake):
    assert said_about(mistake) == (mistake / "expected.txt").read_text("utf-8")


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda folder: folder.name)
def test_a_problem_points_into_its_file(mistake):
    content = (mistake / "rule.yaml").read_bytes()
    lines = content.decode().split("\n")

    problems = problems_of(content)

    assert problems
    for problem in problems:
        assert 1 <= problem.line <= len(lines)
        assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
