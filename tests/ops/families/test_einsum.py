"""The formula that is written from an equation, over random equations."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gradcheck.ops import find
from tests.ops.oracle import evaluate

if TYPE_CHECKING:
    from gradcheck.model import Shape


@dataclass(frozen=True)
class Drawn:
    """An equation and inputs that fit it."""

    equation: str
    shapes: dict[str, Shape]


@st.composite
def equations(draw: st.DrawFn) -> Drawn:
    letters = string.ascii_letters[:3] + "Z"
    extents = {letter: draw(st.integers(1, 3)) for letter in letters}
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    terms, shapes = [], {}
    for i in range(draw(st.integers(1, 3))):
        term = draw(st.lists(st.sampled_from(letters), max_size=3))
        shape = [extents[letter] for letter in term]
        if draw(st.booleans()):
            place = draw(st.integers(0, len(term)))
            kept = batch[draw(st.integers(0, len(batch))) :]
            term.insert(place, "...")
            shape[place:place] = [draw(st.sampled_from([1, size])) for size in kept]
        terms.append("".join(term))
        shapes[f"x{i}"] = tuple(shape)
    used = sorted({letter for term in terms for letter in term} - {"."})
    output = draw(
        st.permutations(draw(st.lists(st.sampled_from(used), unique=True)) if used else [])
    )
    if any("..." in term for term in terms):
        output.insert(draw(st.integers(0, len(output))), "...")
    return Drawn(f"{','.join(terms)}->{''.join(output)}", shapes)


@settings(max_examples=150)
@given(equations(), st.booleans())
def test_formula_and_shape_agree_with_tensorflow(drawn: Drawn, complex_: bool) -> None:
    op = find("einsum")
    assert op is not None
    args = {"equation": drawn.equation}
    point = evaluate(op, drawn.shapes, args, complex_=complex_)
    assert op.shape(op.call(drawn.shapes, args)) == point.out.shape
    for name, tape in point.tape.items():
        assert point.formula[name].shape == tape.shape
        np.testing.assert_allclose(point.formula[name], tape, rtol=1e-11, atol=1e-11)


def test_the_formula_of_a_matrix_product_reads_as_one_would_write_it() -> None:
    op = find("einsum")
    assert op is not None
    call = op.call({"a": (2, 3), "b": (3, 4)}, {"equation": "ij,jk->ik"})
    assert op.formulas(call) == {
        "a": "einsum('ik,jk->ij', G, conj(b))",
        "b": "einsum('ik,ij->jk', G, conj(a))",
    }


def test_summed_out_and_repeated_indices_get_a_factor_of_their_own() -> None:
    op = find("einsum")
    assert op is not None
    assert op.formulas(op.call({"x": (2, 3)}, {"equation": "ij->i"})) == {
        "x": "einsum('i,j->ij', G, ones(3))"
    }
    assert op.formulas(op.call({"x": (3, 3)}, {"equation": "ii->i"})) == {
        "x": "einsum('i,ij->ij', G, eye(3))"
    }
