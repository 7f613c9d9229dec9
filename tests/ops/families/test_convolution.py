"""The TensorFlow lines of convolutions."""

from __future__ import annotations

from typing import Any

import pytest

from gradcheck.ops import find


@pytest.mark.parametrize("stride", [2, [2]])
def test_a_stride_is_a_number_or_a_list(stride: Any) -> None:
    op = find("conv1d")
    assert op is not None
    call = op.call(
        {"input": (2, 5, 1), "filters": (3, 1, 2)}, {"stride": stride, "padding": "SAME"}
    )
    assert op.shape(call) == (2, 3, 2)
    for line in op.codes(call).values():
        assert "strides=[1, 1, 2, 1]" in line
