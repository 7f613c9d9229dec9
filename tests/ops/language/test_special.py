"""Special functions: the names are TensorFlow's, the values SciPy's."""

from __future__ import annotations

import math

from gradcheck.ops.language.vocabulary import FUNCTIONS


def test_names_are_tensorflows_and_values_scipys() -> None:
    assert math.isclose(FUNCTIONS["lgamma"](5.0), math.log(24))
    assert math.isclose(FUNCTIONS["polygamma"](1, 1.0), math.pi**2 / 6)
    assert math.isclose(FUNCTIONS["bessel_i0"](0.0), 1.0)
