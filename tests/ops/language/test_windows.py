"""Windows that slide over arrays, and the way back."""

from __future__ import annotations

import numpy as np
import pytest

from gradcheck.ops.language.windows import output_sizes, unwindows, windows


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("size", "strides"), [(2, 1), ([2, 3], 2), (3, [1, 2])])
def test_unwindows_is_the_transpose_of_windows(size: object, strides: object, padding: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 4, 5, 3))
    seen = windows(x, size, strides, padding)
    v = rng.standard_normal(seen.shape)
    back = unwindows(v, x, size, strides, padding)
    assert back.shape == x.shape
    np.testing.assert_allclose(np.sum(seen * v), np.sum(x * back))


def test_windows_by_hand() -> None:
    x = np.array([1.0, 2, 3]).reshape(1, 3, 1)
    np.testing.assert_array_equal(windows(x, 2, 1, "VALID")[0, :, :, 0], [[1, 2], [2, 3]])
    np.testing.assert_array_equal(windows(x, 2, 1, "SAME", -1)[0, 2, :, 0], [3, -1])


def test_an_odd_padding_goes_to_the_end() -> None:
    assert output_sizes((3,), (2,), (1,), "SAME") == ((3,), (0,), (1,))


def test_any_other_padding_is_refused() -> None:
    with pytest.raises(ValueError, match="'SAME' or 'VALID'"):
        output_sizes((3,), (2,), (1,), "same")
