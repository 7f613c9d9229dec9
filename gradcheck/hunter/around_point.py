"""What a program in plain TensorFlow says close by its point: is it smooth there, does it round?

A program has what it differentiates as a tensor of its module, or as a weight of a layer, which is
moved by assigning to it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.model import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from gradcheck.model import Array

SMOOTH = 0.05
"""By which part a derivative may change close by, of a function that is called smooth there."""
AT_LEAST = 1e-3
"""And by which part of the largest element: less may be rounding."""
LEAST_SIZE = 1e-3
"""What a step beside the point goes with, where the number is smaller."""
NOT_FAR = 0.1
"""How far from the point a function is called twice, beside its numbers; no further, for a domain
may end there."""
MADE_ANEW = {Mode.EAGER: 1, Mode.GRAPH: 4, Mode.XLA: 1}
"""How often a function is made and called in a mode: what draws when it is made may draw the same
once. (To compile it takes a second, and what is compiled draws at each call.)"""
SAME_FINE, SAME_COARSE = 1e-6, 1e-2
"""How far apart two calls are by rounding, in one mode and in another."""
LOOKED_AT = 6
"""Elements along which a function is looked at for steps."""


def as_array(tensor: Any) -> Array:
    """What TensorFlow gave, dense."""
    if hasattr(tensor, "values") and hasattr(tensor, "dense_shape"):
        dense = np.zeros(tuple(tensor.dense_shape.numpy()), tensor.values.dtype.as_numpy_dtype)
        np.add.at(dense, tensor.indices.numpy(), tensor.values.numpy())
        return dense
    return np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)


def wide(array: Array) -> Array:
    """The same in double precision."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


@contextlib.contextmanager
def moved(module: ModuleType, wrong: str, values: Array) -> Iterator[None]:
    """Within this, what the program differentiates has other values."""
    held = getattr(module, wrong)
    if hasattr(held, "assign"):
        before = held.numpy()
        held.assign(values)
    else:
        before = held
        setattr(module, wrong, module.tf.constant(values))
    try:
        yield
    finally:
        if hasattr(held, "assign"):
            held.assign(before)
        else:
            setattr(module, wrong, before)


def value_of(module: ModuleType, mode: Mode = Mode.EAGER, *, of_itself: bool = False) -> complex:
    """What the function that the program differentiates gives, made anew for this mode.

    Of a second derivative that is the slope, or the function itself.
    """
    function = module.value if of_itself else getattr(module, "slope", module.value)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if mode is not Mode.EAGER:
        compiled = mode is Mode.XLA
        function = module.tf.function(function, autograph=False, jit_compile=compiled)
    return complex(function(*(getattr(module, name) for name in names)).numpy())


def repeats_itself(module: ModuleType, wrong: str, mode: Mode) -> bool:
    """Whether the function gives the same again, and in the mode that the gradient is taken in.

    One that draws its numbers does not; at its point that need not show, as where the average of
    whatever is drawn is the same. Without it `test_what_draws_and_does_not_show_it` fails.
    """
    base = np.array(getattr(module, wrong).numpy())
    rng = np.random.default_rng(0)
    size = np.where(base == 0, 1.0, np.abs(base)).real
    away = base + NOT_FAR * size * rng.uniform(-1.0, 1.0, base.shape)
    with moved(module, wrong, away.astype(base.dtype)):
        modes = (Mode.EAGER, Mode.EAGER, *[mode] * MADE_ANEW[mode])
        first, *others = (value_of(module, each) for each in modes)
    fine = base.dtype.itemsize // (2 if base.dtype.kind == "c" else 1) >= 8
    near = SAME_FINE if fine else SAME_COARSE
    return all(np.isclose(each, first, rtol=near, atol=near, equal_nan=True) for each in others)


def is_smooth(
    module: ModuleType, wrong: str, numeric: Array, bar: Array, steps: tuple[float, ...]
) -> bool:
    """Whether the derivative is nearly the same close by: at a kink, a tie or a jump it is not."""
    base = np.array(getattr(module, wrong).numpy())
    rng = np.random.default_rng(0)
    largest = float(np.max(np.abs(numeric), initial=0.0))
    # (Beside a tiny number lies one that is less so: what a step of the tiny one does may be lost
    # inside. Without it `test_what_a_tiny_step_does_not_show` fails.)
    size = np.where(base == 0, 1.0, np.maximum(np.abs(base), LEAST_SIZE)).real
    for _ in range(3):
        away = rng.choice([-1.0, 1.0], size=base.shape) * rng.uniform(0.5, 1.0, base.shape)
        with moved(module, wrong, (base + 3 * steps[1] * away * size).astype(base.dtype)):
            near = wide(as_array(module.differences(steps[2])))
        if not (np.abs(near - numeric) <= 2 * bar + SMOOTH * (largest + AT_LEAST)).all():
            return False
    return True


def moves_in_steps(module: ModuleType, wrong: str) -> bool:
    """Whether the function is flat along an element wherever one looks, with several levels.

    Then it rounds on purpose: what is told as its gradient is that of the function before rounding.
    """
    base = np.array(getattr(module, wrong).numpy())
    rng = np.random.default_rng(0)
    for index in list(np.ndindex(*base.shape))[:LOOKED_AT]:
        levels = set()
        for _ in range(12):
            far, near = base.copy(), base.copy()
            far[index] += rng.uniform(-1.0, 1.0)
            near[index] = far[index] + 1e-4
            here = _value_at(module, wrong, far)
            levels.add(here)
            if here != _value_at(module, wrong, near):
                levels.clear()
                break
        if len(levels) > 2:
            return True
    return False


def _value_at(module: ModuleType, wrong: str, values: Array) -> complex:
    with moved(module, wrong, values):
        return value_of(module)
