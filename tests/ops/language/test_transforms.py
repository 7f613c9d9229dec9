"""Transforms and their matrices against SciPy's transforms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import fft

from gradcheck.ops.language import transforms
from gradcheck.ops.language.vocabulary import FUNCTIONS


@pytest.mark.parametrize("n", [1, 2, 5])
def test_rows_times_the_matrix_are_transformed(n: int) -> None:
    x = np.random.default_rng(n).standard_normal((3, n))
    np.testing.assert_allclose(x @ FUNCTIONS["dct_matrix"](x), fft.dct(x), atol=1e-13)
    np.testing.assert_allclose(
        x @ FUNCTIONS["dct_matrix"](x, True), fft.dct(x, norm="ortho"), atol=1e-13
    )
    np.testing.assert_allclose(x @ FUNCTIONS["idct_matrix"](x), fft.dct(x, type=3), atol=1e-13)
    np.testing.assert_allclose(
        x @ FUNCTIONS["idct_matrix"](x, True), fft.idct(x, norm="ortho"), atol=1e-13
    )


@pytest.mark.parametrize("name", ["dct_matrix", "idct_matrix"])
def test_what_would_be_too_large_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="too large"):
        FUNCTIONS[name](np.broadcast_to(0.0, (2**15,)))


@pytest.mark.parametrize("n", [1, 4, 5])
def test_transforms_are_products_with_roots_of_unity(n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.standard_normal((2, n)) + 1j * rng.standard_normal((2, n))
    np.testing.assert_allclose(x @ transforms.fft_matrix(n), fft.fft(x), atol=1e-13)
    np.testing.assert_allclose(transforms.ifft(fft.fft(x)), x, atol=1e-13)
    assert transforms.occurrences(n).sum() == n


def test_a_number_is_no_signal() -> None:
    with pytest.raises(ValueError, match="a signal has an axis"):
        transforms.fft(1.0)
