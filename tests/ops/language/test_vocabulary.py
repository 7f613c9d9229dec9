"""The functions of formulas: numpy's values, and the harm they refuse."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.ops.language.vocabulary import CONSTANTS, FUNCTIONS, unbroadcast

HUGE = 2**14  # its square is 2**28 elements, twice the limit


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


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("ones", ([HUGE, HUGE],)),
        ("zeros", ([HUGE, HUGE],)),
        ("ones", ([1] * 33,)),
        ("zeros", ([-1],)),
        ("eye", (HUGE,)),
        ("broadcast_to", (1.0, [HUGE, HUGE])),
        ("unreduce", (1.0, [HUGE, HUGE])),
        ("outer", (np.zeros(HUGE), np.zeros(HUGE))),
        ("diag", (np.zeros(HUGE),)),
        ("matmul", (np.zeros((HUGE, 1)), np.zeros((1, HUGE)))),
        ("maximum", (np.zeros((HUGE, 1)), np.zeros(HUGE))),
        ("where", (np.zeros((HUGE, 1)), np.zeros(HUGE), 0)),
        ("power", (np.zeros((HUGE, 1)), np.zeros(HUGE))),
        ("take", (np.zeros((1, HUGE)), np.zeros(HUGE, int))),
        ("einsum", ("i,j->ij", np.zeros(HUGE), np.zeros(HUGE))),
        ("einsum", ("...i,j->...ij", np.zeros(HUGE), np.zeros(HUGE))),
        ("einsum", ("...,i->i...", np.zeros(HUGE), np.zeros(HUGE))),
        ("concatenate", ([np.broadcast_to(0.0, (HUGE, HUGE // 2))] * 2,)),
        ("stack", ([np.broadcast_to(0.0, (HUGE, HUGE // 2))] * 2,)),
    ],
)
def test_sizes_are_bounded_before_anything_is_allocated(name: str, arguments: Any) -> None:
    with pytest.raises(ValueError, match=r"too large|not negative"):
        FUNCTIONS[name](*arguments)


@pytest.mark.parametrize("value", ["text", None, [{}], object(), 2**70, len])
def test_only_numbers_are_taken(value: Any) -> None:
    with pytest.raises(TypeError, match="expected numbers"):
        FUNCTIONS["exp"](value)


def test_einsum_needs_text_and_an_arrow() -> None:
    with pytest.raises(TypeError, match="equation first"):
        FUNCTIONS["einsum"](np.eye(2), "ii->")
    with pytest.raises(ValueError, match="needs an arrow"):
        FUNCTIONS["einsum"]("ii", np.eye(2))


def test_einsum_with_an_ellipsis_is_numpys() -> None:
    a, b = np.arange(12.0).reshape(2, 2, 3), np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(FUNCTIONS["einsum"]("...ij,jk->...ik", a, b), a @ b)


def test_sign_of_a_complex_number_is_its_direction() -> None:
    np.testing.assert_allclose(
        FUNCTIONS["sign"](np.array([3 + 4j, 0, -2])), np.array([0.6 + 0.8j, 0, -1])
    )


def test_whole_numbers_take_negative_powers() -> None:
    assert FUNCTIONS["power"](2, -1) == 0.5


def test_the_mean_of_nothing_is_nan_and_does_not_raise() -> None:
    with np.errstate(all="ignore"):
        assert np.isnan(FUNCTIONS["size"](np.zeros(0)) / FUNCTIONS["size"](np.zeros(0)))


def test_float32_rounds() -> None:
    assert FUNCTIONS["float32"](0.2) == float(np.float32(0.2)) != 0.2


def test_one_hot_max_shares_among_ties() -> None:
    x = np.array([[1, 3, 3], [2, 0, 1]])
    np.testing.assert_array_equal(FUNCTIONS["one_hot_max"](x, 1), [[0, 0.5, 0.5], [1, 0, 0]])


def test_scatter_add_adds_at_repeated_indices() -> None:
    result = FUNCTIONS["scatter_add"](np.zeros(3), np.array([2, 0, 2]), np.array([1.0, 10, 100]))
    np.testing.assert_array_equal(result, [10, 0, 101])


def test_put_slice_leaves_zeros_outside() -> None:
    result = FUNCTIONS["put_slice"](np.ones((2, 3)), "0, 1:", np.array([5.0, 6.0]))
    np.testing.assert_array_equal(result, [[0, 5, 6], [0, 0, 0]])


def test_prod_others_by_hand() -> None:
    x = np.array([[2.0, 0, 3], [1, 4, 5]])
    np.testing.assert_array_equal(FUNCTIONS["prod_others"](x, 1), [[0, 6, 0], [20, 5, 4]])
    np.testing.assert_array_equal(FUNCTIONS["prod_others"](x, []), np.ones((2, 3)))


def test_take_along_picks_one_per_row() -> None:
    result = FUNCTIONS["take_along"](np.array([[1, 2], [3, 4]]), np.array([[1], [0]]))
    np.testing.assert_array_equal(result, [[2], [3]])


def test_an_axis_out_of_range_is_named() -> None:
    with pytest.raises(ValueError, match="axis 2 is out of range for rank 1"):
        FUNCTIONS["part"](np.zeros(3), 2, 0, 1)


small = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@given(small, st.data())
def test_unbroadcast_is_the_transpose_of_broadcasting(shape: Any, data: Any) -> None:
    lead = data.draw(st.lists(st.integers(0, 3), max_size=2))
    wide = tuple(data.draw(st.integers(0, 3)) if size == 1 else size for size in shape)
    rng = np.random.default_rng(0)
    x, g = rng.standard_normal(shape), rng.standard_normal((*lead, *wide))
    back = unbroadcast(g, shape)
    assert back.shape == shape
    np.testing.assert_allclose(np.sum(back * x), np.sum(g * np.broadcast_to(x, g.shape)), atol=1e-9)


@pytest.mark.parametrize(("have", "want"), [((3,), (2,)), ((), (2,)), ((3,), (1, 3)), ((1,), (3,))])
def test_unbroadcast_refuses_a_shape_that_did_not_broadcast(have: Any, want: Any) -> None:
    with pytest.raises(ValueError, match="is not one that"):
        unbroadcast(np.zeros(have), want)
