"""Shapes with a zero in them: every way through the checker takes them, and says what it judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.api import describe
from tests.checker.cases import run, values

FUNCTIONS: dict[str, tuple[str, list[tuple[int, ...]]]] = {
    "a sum of nothing": ("lambda x: tf.reduce_sum(x)", [(0, 3)]),
    "sums of nothing": ("lambda x: tf.reduce_sum(x, 0)", [(0, 3)]),
    "no sums": ("lambda x: tf.reduce_sum(x, 1)", [(0, 3)]),
    "a mean of nothing": ("lambda x: tf.reduce_mean(x)", [(0, 3)]),
    "the largest of nothing": ("lambda x: tf.reduce_max(x)", [(3, 0)]),
    "a product": ("tf.matmul", [(2, 0), (0, 3)]),
    "a product of no rows": ("tf.matmul", [(0, 2), (2, 3)]),
    "einsum": ("lambda a, b: tf.einsum('ij,jk->ik', a, b)", [(2, 0), (0, 3)]),
    "a determinant": ("tf.linalg.det", [(0, 0)]),
    "no determinants": ("tf.linalg.det", [(0, 2, 2)]),
    "a trace": ("tf.linalg.trace", [(0, 0)]),
    "an inverse": ("tf.linalg.inv", [(0, 0)]),
    "element by element": ("tf.sin", [(0,)]),
    "broadcast": ("tf.add", [(0, 3), (3,)]),
    "joined with something": ("lambda a, b: tf.concat([a, b], 0)", [(0, 3), (2, 3)]),
    "padded": ("lambda x: tf.pad(x, [[1, 1], [0, 0]])", [(0, 2)]),
    "softmax": ("tf.nn.softmax", [(2, 0)]),
    "nothing gathered": ("lambda x: tf.gather(x, tf.zeros([0], tf.int32))", [(3, 2)]),
    "nothing sliced": ("lambda x: x[:0]", [(3,)]),
    "no images": ("lambda x, k: tf.nn.conv2d(x, k, 1, 'SAME')", [(0, 3, 3, 1), (2, 2, 1, 2)]),
    "beside a scalar": ("lambda a, b: a * tf.reduce_sum(b) + a ** 2", [(), (0, 3)]),
    "two outputs": ("lambda x: (tf.reduce_sum(x), 2 * x)", [(0, 3)]),
    "a running sum": ("lambda x: tf.cumsum(x)", [(0, 2)]),
}


def _drawn(shapes: list[tuple[int, ...]], dtype: str) -> list[Any]:
    rng = np.random.default_rng(3)
    return [np.asarray(rng.uniform(0.5, 1.5, shape)).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("tolerance", [None, (1e-3, 1e-3)])
@pytest.mark.parametrize("kind", ["reverse", "forward", "second"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_passes(tf: Any, name: str, dtype: str, kind: str, tolerance: Any) -> None:
    source, shapes = FUNCTIONS[name]
    function = eval(source, {"tf": tf})  # noqa: S307  (ours)
    found = gradcheck.check(function, *_drawn(shapes, dtype), checks=kind, tolerance=tolerance)
    assert found.verdict == "pass", describe(found)
    for comparison in found.comparisons:
        if not comparison.elements:
            assert comparison.reservation.startswith("nothing to judge: no elements")


@pytest.mark.parametrize("mode", ["graph", "xla"])
@pytest.mark.parametrize("name", ["a sum of nothing", "a product", "joined with something"])
def test_in_other_modes(tf: Any, name: str, mode: str) -> None:
    source, shapes = FUNCTIONS[name]
    function = eval(source, {"tf": tf})  # noqa: S307  (ours)
    for dtype in ("float64", "float32", "float16", "complex128"):
        found = gradcheck.check(function, *_drawn(shapes, dtype), mode=mode)
        assert found.verdict == "pass", describe(found)


def test_a_wrong_gradient_beside_an_empty_input_is_found(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def joined(a: Any, b: Any) -> Any:
        return tf.concat([a, b**2], 0), lambda g: (g[:0], 2.001 * b * g)

    found = gradcheck.check(joined, np.zeros((0, 3)), np.ones((2, 3)))
    assert [str(c.verdict) for c in found.comparisons] == ["pass", "mismatch"]

    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def of_another_shape(a: Any) -> Any:
        return tf.reduce_sum(a), lambda g: g * tf.ones([1, 3], g.dtype)

    found = gradcheck.check(of_another_shape, np.zeros((0, 3)))
    assert found.verdict == "mismatch", describe(found)


def test_a_gradient_of_no_outputs_has_to_be_zero(tf: Any) -> None:
    @tf.custom_gradient  # type: ignore[untyped-decorator]  # no types in TF
    def nothing(x: Any) -> Any:
        return x[:0], lambda _: tf.ones_like(x)

    found = gradcheck.check(nothing, np.ones(3))
    assert found.verdict == "mismatch", describe(found)


class TestReservations:
    def test_a_pass_says_what_it_did_not_judge(self, tf: Any) -> None:
        def some(x: Any) -> Any:
            lost = tf.constant([np.nan, np.nan, np.inf], x.dtype)
            return tf.concat([tf.sin(x), lost], 0)

        for kind in ("reverse", "forward"):
            (found,) = gradcheck.check(some, np.array([0.3, 0.7]), checks=kind).comparisons
            assert found.verdict == "pass"
            assert found.reservation == "judged 2 of 5 outputs: 2 are NaN and 1 is infinite"

    def test_so_does_one_for_which_a_formula_vouches(self) -> None:
        (found,) = run("op", "log", values("x", [0.0, 1.0, -1.0])).comparisons
        assert (found.verdict, found.decided_by) == ("pass", "formula")
        assert found.reservation == "judged 1 of 3 outputs: 1 is NaN and 1 is infinite"

    def test_one_that_judged_all_says_nothing(self, tf: Any) -> None:
        (found,) = gradcheck.check(tf.sin, np.array([0.3, 0.7])).comparisons
        assert found.reservation == ""

    def test_complex_outputs_are_counted_once(self, tf: Any) -> None:
        def some(x: Any) -> Any:
            return tf.concat([x * x, tf.constant([complex(np.nan, 1.0)], x.dtype)], 0)

        (found,) = gradcheck.check(some, np.array([0.3 + 1j])).comparisons
        assert found.reservation == "judged 1 of 2 outputs: 1 is NaN"
