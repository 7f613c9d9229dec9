"""The shapes of a call, axis by axis."""

from __future__ import annotations

from gradcheck.explainer import Subject
from gradcheck.explainer.document import Equation
from gradcheck.explainer.page.op_shapes import shapes
from gradcheck.explainer.style import UNICODE
from gradcheck.ops import all_ops, find
from tests.explainer.explained import example_of


def test_every_example_names_its_axes() -> None:
    for op in all_ops():
        lines = [b.math(UNICODE) for b in shapes(example_of(op)) if isinstance(b, Equation)]
        assert lines, op.name
        named = [line for line in lines if "=" in line or "a number" in line or ": []" in line]
        # One axis of an index, or of parts that differ in size, has no letter of its own.
        assert named == lines, op.name


def test_what_broadcasts_has_the_letters_of_the_output() -> None:
    op = find("complex")
    assert op is not None
    for real, imag, told in (
        ((2, 3), (3,), ["real: [i=2, j=3]", "imag: [j=3]", "z: [i=2, j=3]"]),
        ((2, 1), (3,), ["real: [i=2, 1]", "imag: [j=3]", "z: [i=2, j=3]"]),
        ((), (3,), ["real: a number", "imag: [i=3]", "z: [i=3]"]),
    ):
        subject = Subject(op, op.call({"real": real, "imag": imag}, {}))
        lines = [b.math(UNICODE) for b in shapes(subject) if isinstance(b, Equation)]
        assert lines == told
