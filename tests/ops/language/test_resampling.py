"""The weights of resized images."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.ops.language.resampling import linear_weights, nearest_weights


@pytest.mark.parametrize(("size", "n"), [(4, 2), (2, 5), (3, 3), (1, 4), (7, 1)])
def test_every_place_takes_one_in_all(size: int, n: int) -> None:
    for found in (linear_weights(size, n), nearest_weights(size, n)):
        assert found.shape == (size, n)
        np.testing.assert_allclose(found.sum(1), 1)
    assert set(np.unique(nearest_weights(size, n))) <= {0.0, 1.0}
    np.testing.assert_array_equal(linear_weights(n, n), np.eye(n))
