"""einsum, as formulas write it."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from gradcheck.ops.language.matrix_functions import einsum


def test_einsum_needs_text_and_an_arrow() -> None:
    with pytest.raises(TypeError, match="equation first"):
        einsum(cast(str, np.eye(2)), "ii->")
    with pytest.raises(ValueError, match="needs an arrow"):
        einsum("ii", np.eye(2))


def test_einsum_with_an_ellipsis_is_numpys() -> None:
    a, b = np.arange(12.0).reshape(2, 2, 3), np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(einsum("...ij,jk->...ik", a, b), a @ b)
