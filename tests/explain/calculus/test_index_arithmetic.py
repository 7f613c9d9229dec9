"""Computed places: conditions solved, contracted, printed as places where they stay inside."""

from __future__ import annotations

import pytest

from gradcheck.explain import Subject, make_call
from gradcheck.explain.calculus.einstein import Delta, Number, Select, select
from gradcheck.explain.calculus.indices import form
from gradcheck.explain.derive.chain import closed_form
from gradcheck.explain.derive.gradient_steps import forward_element
from gradcheck.explain.derive.read_graph import read_graph
from gradcheck.explain.page.op_derivation import Letters
from gradcheck.explain.style import UNICODE
from gradcheck.explain.trees import text_of
from gradcheck.ops import find

I, J, SHORT = "_1:4", "_2:4", "_3:2"  # noqa: E741  (the names that indices have)


def test_a_condition_is_solved_for_an_index() -> None:
    assert (form(I) - (form(SHORT) + 1)).solved(I) == form(SHORT) + 1
    assert (form(I) * 2 - form(SHORT)).solved(I) is None


def test_what_always_or_never_holds_is_a_number() -> None:
    assert select("<=", SHORT, 1) == Number(1)
    assert select("=", SHORT, form(I) + 2) == Number(0)
    assert select("=", I, J) == Delta(I, J)
    assert isinstance(select("=", SHORT, I), Select)


@pytest.mark.parametrize(
    ("name", "args", "written"),
    [
        ("slice", {}, "x[i + 1,j]"),
        ("roll", {}, "x[(i − 2) mod 5]"),
        ("reverse", {}, "x[3 − i]"),
        ("gather", {}, "x[indices[i],j]"),
        ("pad", {}, "Σⱼ x[j]·[i = j + 1]"),
        ("cumsum", {}, "Σⱼ x[j]·[j ≤ i]"),
        ("cumsum", {"reverse": True}, "Σⱼ x[j]·[i ≤ j]"),
        ("band_part", {}, "X[i,j]·[j ≤ i]"),
        ("conv1d", {}, "Σ_{ac} K[a,c,d]·x[n,w + a,c]"),
    ],
)
def test_the_forward_is_written_by_elements(
    name: str, args: dict[str, object], written: str
) -> None:
    op = find(name)
    assert op is not None
    subject = Subject(op, make_call(op, {}, args))
    found = forward_element(subject)
    assert found is not None
    assert Letters(subject, UNICODE, found.indices, ()).text(found.node) == written


@pytest.mark.parametrize(
    ("text", "shapes", "written"),
    [
        (
            "tf.reduce_sum(tf.square(tf.matmul(A, x) - b))",
            {"A": (4, 3), "x": (3, 1), "b": (4, 1)},
            "2 * (G * matmul(mT(A), matmul(A, x) - b))",
        ),
        (
            "tf.tensordot(x, tf.linalg.matvec(A, x), 1)",
            {"A": (3, 3), "x": (3,)},
            "G * vector(matmul(A + mT(A), column(x)))",
        ),
        ("tf.linalg.trace(tf.matmul(x, tf.transpose(x)))", {"x": (2, 3)}, "2 * (G * x)"),
    ],
)
def test_terms_share_what_they_have_in_common(
    text: str, shapes: dict[str, tuple[int, ...]], written: str
) -> None:
    form = closed_form(read_graph(text, shapes), "x")
    assert form is not None
    assert form.formula is not None
    assert text_of(form.formula) == written
