"""Eigenvectors and singular vectors, whose phase is an accident of the algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker import remarks
from gradcheck.checker.subject.phases import (
    FREE_PHASE,
    depends_on_the_phase,
    shows_a_phase,
    with_fixed_phase,
)
from gradcheck.model import Stage
from tests.checker.planted import planted


def matrix(kind: str, *, is_complex: bool) -> Any:
    rng = np.random.default_rng(5)
    found = rng.standard_normal((4, 4)) + (1j * rng.standard_normal((4, 4)) if is_complex else 0)
    return found + found.conj().T if kind == "symmetric" else found


@pytest.mark.parametrize("is_complex", [False, True])
def test_eigenvectors_pass_and_a_wrong_gradient_does_not(tf: Any, is_complex: bool) -> None:
    function = with_fixed_phase("tf.linalg.eigh", tf.linalg.eigh)
    options: Any = {"structure": {"tensor": "symmetric", "input0": "symmetric"}}
    x = matrix("symmetric", is_complex=is_complex)

    def vectors(tensor: Any) -> Any:
        return function(tensor)[1]

    assert gradcheck.check(vectors, x, **options).verdict == "pass"
    wrong = planted(vectors, lambda gs: [gs[0] * (1 + 1e-6)])
    assert gradcheck.check(wrong, x, **options).verdict == "mismatch"


@pytest.mark.parametrize("is_complex", [False, True])
def test_singular_vectors(tf: Any, is_complex: bool) -> None:
    function = with_fixed_phase("tf.linalg.svd", tf.linalg.svd)
    assert gradcheck.check(function, matrix("general", is_complex=is_complex)).verdict == "pass"


def test_the_phase_is_fixed(tf: Any) -> None:
    x = matrix("symmetric", is_complex=True)
    values, vectors = with_fixed_phase("tf.linalg.eigh", tf.linalg.eigh)(tf.constant(x))
    turned = vectors.numpy()
    largest = turned[np.abs(turned).argmax(axis=0), np.arange(4)]
    np.testing.assert_allclose(largest.imag, 0, atol=1e-15)
    assert (largest.real > 0).all()
    np.testing.assert_allclose(x @ turned, turned * values.numpy(), atol=1e-12)


def test_other_functions_are_left_alone(tf: Any) -> None:
    assert with_fixed_phase("tf.linalg.svd", lambda x: tf.linalg.svd(x, compute_uv=False))(
        tf.eye(3)
    ).shape == (3,)


class TestFunctionsOfVectors:
    """A function of the user's own, which nobody can turn."""

    options: Any = {"structure": {"a": "symmetric"}}  # noqa: RUF012

    def test_a_phase_that_shows_is_named(self, tf: Any) -> None:
        def vectors(a: Any) -> Any:
            return tf.linalg.eigh(a)[1]

        result = gradcheck.check(vectors, matrix("symmetric", is_complex=True), **self.options)
        assert result.verdict == "inconclusive"
        assert FREE_PHASE in result.comparisons[0].note
        assert result.decided_by is Stage.PHASE
        assert result.comparisons[0].judged == 10, "of a Hermitian matrix one triangle is moved"

    def test_a_gradient_of_another_shape_is_wrong_all_the_same(self, tf: Any) -> None:
        vectors = planted(lambda a: tf.linalg.eigh(a)[1], lambda gs: [gs[0][None]])
        result = gradcheck.check(vectors, matrix("symmetric", is_complex=True), **self.options)
        assert (result.verdict, result.decided_by) == ("mismatch", Stage.SHAPE)

    def test_what_does_not_depend_on_it_passes(self, tf: Any) -> None:
        def sizes(a: Any) -> Any:
            return tf.abs(tf.linalg.eigh(a)[1])

        def projector(a: Any) -> Any:
            vectors = tf.linalg.eigh(a)[1][:, :2]
            return tf.matmul(vectors, vectors, adjoint_b=True)

        x = matrix("symmetric", is_complex=True)
        assert gradcheck.check(sizes, x, **self.options).verdict == "pass"
        assert gradcheck.check(projector, x, **self.options).verdict == "pass"

    @pytest.mark.parametrize("mode", ["eager", "graph"])
    def test_a_phase_that_shows_is_never_a_mismatch(self, tf: Any, mode: str) -> None:
        for seed in range(3):
            x = np.random.default_rng(seed).standard_normal((4, 4))
            for function in (lambda a: tf.linalg.eig(a)[1], lambda a: tf.linalg.svd(a)[1]):
                found = gradcheck.check(function, x + 1j * x.T, mode=mode, seed=seed)
                assert found.verdict in ("pass", "inconclusive"), found

    def test_a_wrong_gradient_is_found_where_no_phase_shows(self, tf: Any) -> None:
        def projector(a: Any) -> Any:
            vectors = tf.linalg.eigh(a)[1][:, :2]
            return tf.matmul(vectors, vectors, adjoint_b=True)

        x = matrix("symmetric", is_complex=True)
        assert shows_a_phase(projector, [x])
        assert not depends_on_the_phase(projector, [x])
        assert depends_on_the_phase(lambda a: tf.linalg.eigh(a)[1], [x])
        wrong = planted(projector, lambda gs: [gs[0] * 1.01])
        assert gradcheck.check(wrong, x).verdict == "mismatch"

    def test_nothing_is_said_of_a_wrong_gradient_without_vectors(self, tf: Any) -> None:
        wrong = planted(tf.linalg.inv, lambda gs: [2 * gs[0]])
        result = gradcheck.check(wrong, matrix("general", is_complex=True))
        assert result.verdict == "mismatch"
        assert result.comparisons[0].note == ""

    def test_nothing_is_traced_for_phases_that_no_op_has(
        self, tf: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[Any] = []

        def noted(function: Any, values: Any) -> bool:
            asked.append((function, values))
            return False

        monkeypatch.setattr(remarks, "shows_a_phase", noted)
        x = np.array([0.3, 0.7])
        for function in (tf.sin, tf.function(tf.sin)):
            wrong = planted(function, lambda gs: [2 * gs[0]])
            assert gradcheck.check(wrong, x).verdict == "mismatch"
        assert not asked
        for function in (tf.linalg.svd, tf.function(tf.linalg.svd)):
            wrong = planted(lambda a, f=function: f(a)[0], lambda gs: [2 * gs[0]])
            assert gradcheck.check(wrong, matrix("general", is_complex=False)).verdict == "mismatch"
        assert len(asked) == 2

    def test_which_functions_have_vectors(self, tf: Any) -> None:
        x = [matrix("symmetric", is_complex=True)]
        assert shows_a_phase(tf.linalg.svd, x)
        assert shows_a_phase(tf.linalg.eig, x)
        assert not shows_a_phase(tf.linalg.eigvalsh, x)
        assert not shows_a_phase(lambda a: tf.linalg.svd(a, compute_uv=False), x)
        assert not shows_a_phase(tf.linalg.eigh, [matrix("symmetric", is_complex=False)])
        assert not shows_a_phase(lambda a: tf.constant(a.numpy()), x), "it cannot be traced"
