"""What a case claims: gradients, upstream, verdict, tolerance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.model import Tolerance, Verdict

if TYPE_CHECKING:
    from tests.spec.conftest import Good, Load, Problem

SQUARE = "op: square\ninputs: {x: [2, 2]}\n"


def test_a_gradient_is_a_formula_or_values(good: Good) -> None:
    assert good(SQUARE + "gradient: {x: 2 * G * x}\n").gradient == {"x": "2 * G * x"}
    claim = good(SQUARE + "gradient: {x: [[1, 2], [3, 4]]}\n").gradient["x"]
    np.testing.assert_array_equal(claim, [[1, 2], [3, 4]])


def test_a_formula_may_use_the_args_of_the_op(good: Good) -> None:
    good(
        "op: matmul\ninputs: {a: [2, 2], b: [2, 2]}\ngradient: {a: 'where(transpose_a, G, out)'}\n"
    )


def test_upstream(good: Good) -> None:
    assert good(SQUARE).upstream == "random"
    assert good(SQUARE + "upstream: ones\n").upstream == "ones"
    values = good(SQUARE + "upstream: [[1, 2], [3, 4]]\n").upstream[0]
    np.testing.assert_array_equal(values, [[1, 2], [3, 4]])
    scalar = good("op: square\ninputs: {x: 3}\nupstream: 2\n").upstream[0]
    assert np.shape(scalar) == ()
    text = "expr: tf.split(x, 2)\ninputs: {x: [4]}\nupstream: {outputs: [[1, 2], [3, 4]]}\n"
    both = good(text).upstream
    assert len(both) == 2
    np.testing.assert_array_equal(both[1], [3, 4])


@pytest.mark.parametrize(
    ("zeros", "column"), [("[[0, 0], [0, 0]]", 11), ("{outputs: [[[0, 0], [0, 0]]]}", 21)]
)
def test_an_upstream_of_zeros_is_refused(problem: Problem, zeros: str, column: int) -> None:
    problem(SQUARE + f"upstream: {zeros}\n", (3, column), "weighs nothing")


@pytest.mark.parametrize(
    ("values", "column"),
    [
        ("[[1, 2], [.inf, 4]]", 21),
        ("[[.nan, .nan], [.nan, .nan]]", 13),
        ("[[1, -.inf], [0, 0]]", 16),
        ("[[1, 'nan+1j'], [0, 0]]", 16),
        ("{outputs: [[[1, 2], [3, .nan]]]}", 35),
    ],
)
def test_an_upstream_that_is_not_finite_is_refused(
    problem: Problem, values: str, column: int
) -> None:
    problem(SQUARE + f"upstream: {values}\n", (3, column), "must hold finite numbers")


def test_expect(good: Good) -> None:
    assert good(SQUARE).expect is None
    assert good(SQUARE + "expect: kink\n").expect is Verdict.KINK
    case = good(SQUARE + "expect: mismatch\nreason: bug 12\n")
    assert (case.expect, case.reason) == (Verdict.MISMATCH, "bug 12")
    assert good(SQUARE + "expect: {x: disconnected}\n").expect == {"x": Verdict.DISCONNECTED}


def test_tolerance(good: Good) -> None:
    assert good(SQUARE + "tolerance: {rtol: 1e-4}\n").tolerance == Tolerance(rtol=1e-4)


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("gradient: {x: [1, 2]}", 15, "has the shape [2], and `x` itself [2, 2]"),
        ("gradient: {x: 3}", 15, "has the shape []"),
        ("gradient: {y: G}", 12, "no differentiated input"),
        ("gradient: {x: 2 * G * X}", 23, "`X` is not known"),
        ("gradient: {x: '2 * ''a'' * X'}", 16, "cannot be used with *"),
        ('gradient: {x: "np.sum(x)"}', 16, "not a function of the formula language"),
        ("gradient: {x: x.T}", 15, "transpose"),
        ("gradient: {x: true + 1}", 15, "`true` is not known"),
        ("gradient: 3", 11, "must be a mapping"),
        ("upstream: twos", 11, "`upstream` must be one of random, ones"),
        ("upstream: onse", 11, "did you mean `ones`?"),
        ("upstream: [1, 2]", 11, "has the shape [2], and the output [2, 2]"),
        ("upstream: [[1, 2], [3]]", 20, "ragged"),
        ("upstream: {values: [1]}", 11, "write the values themselves"),
        ("upstream: {outputs: 3}", 21, "list of `outputs`"),
        ("expect: misatch", 9, "did you mean `mismatch`?"),
        ("expect: skipped", 9, "must be one of"),
        ("expect: mismatch", 9, "needs a `reason`"),
        ("expect: {x: nonfinite}", 9, "needs a `reason`"),
        ("expect: {y: pass}", 10, "no differentiated input"),
        ("expect: {}", 9, "empty"),
        ("expect: [pass]", 9, "not a list"),
        ("tolerance: {rtol: 1}", 19, "could not fail"),
        ("tolerance: {rtol: -1}", 19, "cannot be negative"),
        ("tolerance: {atol: .inf}", 19, "must be a number"),
        ("tolerance: {rtol: 1e-4x}", 19, "must be a number, not `1e-4x`"),
        ("tolerance: {rtol: 0, atol: 0}", 1, "nothing computed could pass"),
        ("tolerance: {}", 1, "is zero"),
        ("tolerance: {rtl: 1e-3}", 13, "did you mean `rtol`?"),
        ("tolerance: 1e-3", 12, "must be a mapping"),
    ],
)
def test_claims_that_cannot_be(problem: Problem, line: str, column: int, words: str) -> None:
    problem(f"{SQUARE}{line}\n", (3, column), words)


def test_an_unquoted_comma_in_a_formula_is_explained(load_text: Load) -> None:
    first, second = load_text(SQUARE + "gradient: {x: sum(x, axis=0)}\n").problems
    assert "never closed" in first.message
    assert "it ends before the `,`" in first.hint
    assert "quote a formula that holds a comma" in second.hint


def test_a_formula_over_several_lines_is_shown_at_its_start(problem: Problem) -> None:
    problem(f"{SQUARE}gradient:\n  x: >\n    2 * G\n    * zzz\n", (4, 6), "`zzz`")
