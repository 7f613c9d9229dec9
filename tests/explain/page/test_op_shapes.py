"""The shapes of a call, axis by axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.explain.document import Equation
from gradcheck.explain.page.op_shapes import shapes
from gradcheck.explain.style import UNICODE
from tests.explain.explained import every_example, example_of

if TYPE_CHECKING:
    from gradcheck.ops import Op


@every_example
def test_the_example_names_its_axes(op: Op) -> None:
    lines = [b.math(UNICODE) for b in shapes(example_of(op)) if isinstance(b, Equation)]
    assert lines
    named = [line for line in lines if "=" in line or "a number" in line or ": []" in line]
    # One axis of an index, or of parts that differ in size, has no letter of its own.
    assert named == lines
