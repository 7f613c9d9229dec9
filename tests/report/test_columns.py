from __future__ import annotations

from gradcheck.report.columns import failure_text, grid_text, statements
from gradcheck.report.details import Grid, failure_details
from tests.report import examples


def test_the_first_column_is_flush_left_and_the_others_right() -> None:
    grid = Grid(("index", "value"), (("[0]", "1"), ("[0, 12]", "-2.5")))
    assert grid_text(grid).split("\n") == ["index    value", "[0]          1", "[0, 12]   -2.5"]


def test_a_failure_is_told_in_paragraphs_from_its_id_to_its_replay() -> None:
    result = examples.mismatch()
    paragraphs = failure_text(failure_details(result, examples.plan_of([result]))).split("\n\n")
    assert paragraphs[0].startswith(f"{result.id}\n  at ")
    assert paragraphs[-1].startswith("  replay: gradcheck run ")
    assert all(line.startswith("  ") for line in "\n".join(paragraphs[1:]).split("\n"))


def test_what_the_verdict_means_is_among_the_statements() -> None:
    details = failure_details(examples.mismatch(), examples.plan_of([]))
    assert statements(details) == [f"mismatch: {details.meaning}"]
