from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gradcheck.report.formats.html.pictures.trend_strip import trend_strip
from tests.report import examples
from tests.report.formats.html.pages import parse


def test_a_square_for_each_run() -> None:
    now = examples.passing()
    before = replace(examples.mismatch(), id=now.id)
    tree = parse(trend_strip([before, None, now]))
    assert (tree.one("path", "fill-failed").attributes["d"] or "").startswith("M1 28")
    assert (tree.one("path", "fill-pass").attributes["d"] or "").startswith("M29 28")
    label = tree.one("svg").attributes["aria-label"]
    assert label == "From the oldest run to this one: mismatch (5.0e-04), not there, pass (3.0e-13)"


@given(st.lists(st.none() | st.floats(min_value=0.0), min_size=1, max_size=6))
def test_any_errors(errors: list[float | None]) -> None:
    (told, _) = examples.passing().comparisons
    past = [
        replace(examples.passing(), comparisons=(replace(told, max_rel_error=error),))
        for error in errors
    ]
    parse(trend_strip(past))
