"""What the declarations of recurrent cells share: the sizes of their kernels, names in formulas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError

if TYPE_CHECKING:
    from gradcheck.ops.declaration import Call

__all__ = ["CELLS_SHARE", "state_size", "with_name"]

CELLS_SHARE = (
    "The first axis is the batch: examples do not mix. What they share, kernels and bias, gets the "
    "sum over all of them."
)


def state_size(call: Call, gates: int) -> int:
    """The size of the state; ShapeError where one of the arrays does not fit."""
    x, h, kernel = call.shapes["inputs"], call.shapes["h"], call.shapes["kernel"]
    recurrent, bias = call.shapes["recurrent_kernel"], call.shapes["bias"]
    if not len(x) == len(h) == len(kernel) == len(recurrent) == 2 or len(bias) != 1:
        raise ShapeError("inputs, states and kernels need rank 2, the bias rank 1")
    units = h[1]
    wide = gates * units
    wanted = {"kernel": (x[1], wide), "recurrent_kernel": (units, wide), "bias": (wide,)}
    wanted["h"] = (x[0], units)
    if "c" in call.shapes:
        wanted["c"] = (x[0], units)
    for name, shape in wanted.items():
        if call.shapes[name] != shape:
            raise ShapeError(
                f"{name} has shape {list(call.shapes[name])}, but inputs {list(x)} and "
                f"{units} units need {list(shape)}"
            )
    return units


def with_name(text: str, name: str, value: str) -> str:
    """The text with a value in the place of a name."""
    return re.sub(rf"\b{name}\b", lambda _: value, text)
