"""A printed formula holds where it agrees with a gradient that was judged right."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcheck.explainer.proof import proof_of
from gradcheck.model import Comparison, Verdict

GRADIENT = np.array([[1.0, 2.0], [2.0, 5.0]])


def comparison(verdict: Verdict = Verdict.PASS, **fields: Any) -> Comparison:
    given = {"analytic": GRADIENT, "numeric": GRADIENT} | fields
    return Comparison("x", verdict, GRADIENT.shape, "float64", **given)


def test_a_formula_that_agrees_holds() -> None:
    assert proof_of(comparison(), "formula", GRADIENT, "general").holds


def test_a_formula_that_is_off_fails() -> None:
    proof = proof_of(comparison(), "formula", GRADIENT + 1e-9, "general")
    assert not proof.holds
    np.testing.assert_allclose(proof.against_tape, 1e-9 / 5, rtol=1e-4)


def test_a_gradient_that_was_judged_wrong_proves_nothing() -> None:
    assert not proof_of(comparison(Verdict.MISMATCH), "formula", GRADIENT, "general").holds


def test_another_shape_or_no_gradient_fails() -> None:
    assert not proof_of(comparison(), "formula", GRADIENT[0], "general").holds
    assert not proof_of(comparison(analytic=None), "formula", GRADIENT, "general").holds


def test_in_a_symmetric_matrix_two_elements_move_together() -> None:
    moved = np.array([[1.0, 0.0], [4.0, 5.0]])
    found = comparison(analytic=moved, numeric=moved)
    assert proof_of(found, "formula", GRADIENT, "symmetric").holds
    assert not proof_of(found, "formula", GRADIENT, "general").holds
