"""Functions that take and give complex numbers are derived by their parts."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.explainer.compose import Question, answer

if TYPE_CHECKING:
    from pathlib import Path

    from gradcheck.model import Shape

MODULE = "complex_functions_of_mine"
CODE = """
    import tensorflow as tf

    def transformed(z):
        return tf.signal.fft(z)

    def mixed(z, w):
        z = tf.convert_to_tensor(z, tf.complex128)
        return tf.abs(tf.linalg.matvec(z, tf.cast(w, tf.complex128))) ** 2

    def given(x):
        return tf.exp(tf.complex(x, x * x))

    def several(z):
        return tf.signal.ifft(z) * tf.math.conj(z), tf.math.real(z)

    @tf.custom_gradient
    def conjugate_forgotten(z):
        def grad(g):
            return 2.0 * g * z
        return z * z, grad

    def wrong(z):
        return conjugate_forgotten(tf.signal.fft(z))
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{MODULE}.py").write_text(textwrap.dedent(CODE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "shapes", "parts"),
    [
        ("transformed", {"z": (4,)}, {"z_re", "z_im"}),
        ("mixed", {"z": (2, 3), "w": (3,)}, {"z_re", "z_im", "w_re", "w_im"}),
        ("given", {"x": (3,)}, {"x"}),
        ("several", {"z": (3,)}, {"z_re", "z_im"}),
    ],
)
def test_the_parts_are_derived_and_proved(
    name: str, shapes: dict[str, Shape], parts: set[str]
) -> None:
    at = {"z": np.full((2, 3), 1 + 2j), "w": np.full(3, 2 - 1j)} if name == "mixed" else {}
    question = Question(function=f"{MODULE}:{name}", shapes=shapes, at=at, verify=True)
    page, proofs = answer(question)
    assert {proof.name for proof in proofs} == parts
    assert all(proof.holds for proof in proofs)
    assert {"chain rule", "code, float64"} <= {proof.formula for proof in proofs}
    for part in parts - {"x"}:
        assert f"∂L/∂{part}" in page.lead


def test_a_conjugate_that_was_forgotten_fails() -> None:
    page, proofs = answer(Question(function=f"{MODULE}:wrong", shapes={"z": (3,)}, verify=True))
    assert "DIFFERS" in page.lead
    assert proofs
    assert not all(proof.holds for proof in proofs if proof.formula == "chain rule")


def test_an_expression_that_takes_complex_numbers_alone() -> None:
    question = Question(expr="tf.signal.fft(z) * 2.0", shapes={"z": (4,)}, verify=True)
    _, proofs = answer(question)
    assert {proof.name for proof in proofs} == {"z_re", "z_im"}
    assert all(proof.holds for proof in proofs)
