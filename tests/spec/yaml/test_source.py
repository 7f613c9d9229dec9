"""Problems, and the line that they show."""

from __future__ import annotations

from gradcheck.spec.yaml.source import Source


def test_a_problem_shows_nothing_unprintable_and_no_endless_line() -> None:
    source = Source("s.yaml", "a:\t\x1b[31m" + "x" * 1000)
    source.problem_at(1, 1, "here", length=5000)
    (problem,) = source.problems
    assert "\x1b" not in str(problem)
    assert len(problem.source) == problem.length == 160
