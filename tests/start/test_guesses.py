from __future__ import annotations

from typing import Any

import pytest

from gradcheck.model.findings import Taken
from gradcheck.start.guesses import UNKNOWN, WIDTH, data_for, is_image, is_tensor, special_input


@pytest.mark.parametrize(
    ("parameter", "tensor"),
    [
        (Taken("x"), True),
        (Taken("axis"), False),
        (Taken("axis", annotation="tf.Tensor"), True),
        (Taken("x", annotation="int"), False),
        (Taken("x", annotation="Any"), True),
        (Taken("num_heads"), False),
        (Taken("weights", annotation="np.ndarray | None"), True),
    ],
)
def test_an_annotation_tells_more_than_a_name(parameter: Taken, tensor: bool) -> None:
    assert is_tensor(parameter) is tensor


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        (Taken("units"), WIDTH),
        (Taken("num_heads"), 2),
        (Taken("rate"), 0.3),
        (Taken("padding"), "same"),
        (Taken("padding", annotation="int"), WIDTH),
        (Taken("what", annotation="float"), 0.5),
        (Taken("what", annotation="bool"), False),
        (Taken("activation"), "tanh"),
        (Taken("config", annotation="dict[str, Config]"), UNKNOWN),
        (Taken("path", annotation="str"), UNKNOWN),
    ],
)
def test_plain_data_is_of_the_kind_that_is_wanted(parameter: Taken, value: Any) -> None:
    guessed = data_for(parameter)
    assert guessed is value if value is UNKNOWN else guessed == value
    assert value is UNKNOWN or type(guessed) is type(value)


def test_what_holds_no_real_numbers_is_drawn_so() -> None:
    assert special_input(Taken("token_ids"), [3]) == {
        "shape": [3],
        "sample": "integers(0, 3)",
        "dtype": "int32",
    }
    assert (special_input(Taken("mask"), [3]) or {})["dtype"] == "bool"
    assert special_input(Taken("x"), [3]) is None
    assert is_image(Taken("input_images"))
    assert not is_image(Taken("imagined"))
