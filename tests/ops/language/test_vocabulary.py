"""The functions of formulas, by their names."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from gradcheck.ops.language.vocabulary import CONSTANTS, FUNCTIONS, lookup


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_says_what_it_does_in_one_line(name: str) -> None:
    function = FUNCTIONS[name]
    text = inspect.getdoc(function)
    assert text
    assert "\n" not in text
    assert text.endswith(".")
    assert function.__name__ == name


@pytest.mark.parametrize(
    "name",
    [
        "exp",
        "log",
        "log1p",
        "expm1",
        "sqrt",
        "square",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "arcsinh",
        "arctan",
        "sum",
        "mean",
        "prod",
        "max",
        "min",
        "abs",
        "conj",
        "real",
        "imag",
        "cumsum",
        "flip",
        "transpose",
        "tril",
        "triu",
        "trace",
        "det",
        "inv",
        "diag",
        "squeeze",
    ],
)
def test_values_are_those_of_numpy(name: str) -> None:
    x = np.array([[1.0, 0.5], [0.25, 2.0]])
    reference = getattr(np, name, None) or getattr(np.linalg, name)
    expected = reference(x, 0) if name == "cumsum" else reference(x)
    np.testing.assert_array_equal(FUNCTIONS[name](x), expected)


def test_constants() -> None:
    assert CONSTANTS["pi"] == np.pi
    assert CONSTANTS["newaxis"] is None


def test_sign_of_a_complex_number_is_its_direction() -> None:
    np.testing.assert_allclose(
        FUNCTIONS["sign"](np.array([3 + 4j, 0, -2])), np.array([0.6 + 0.8j, 0, -1])
    )


def test_whole_numbers_take_negative_powers() -> None:
    assert FUNCTIONS["power"](2, -1) == 0.5


def test_float32_rounds() -> None:
    assert FUNCTIONS["float32"](0.2) == float(np.float32(0.2)) != 0.2


def test_functions_and_constants_are_looked_up_by_name() -> None:
    assert lookup("exp") is FUNCTIONS["exp"]
    assert lookup("pi") == np.pi
    with pytest.raises(KeyError):
        lookup("open")
