"""A Keras layer, model or loss once more, in double precision.

A layer that was made in float32 casts what it is given to float32 and has float32 weights. Whether
its formulas are right is asked of the same layer made in float64, with the same weights; whether
its arithmetic is good, of the layer itself. A layer that cannot be made again is checked in its own
precision.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.numerics.vectors import epsilon_of
from gradcheck.checker.subject.callee import Callee
from gradcheck.checker.subject.operand import Captured, Operand
from gradcheck.checker.subject.reachable import handle_of
from gradcheck.checker.subject.tensors import differentiable_outputs, is_floating, widen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradcheck.checker.subject.tensors import Function


@dataclass(frozen=True, slots=True, eq=False)
class Twin:
    """The function in double precision, and the captured variables with their twins."""

    function: Function
    variables: tuple[Operand, ...]


def as_the_layer_casts(target: Any, operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """The operands in the dtype to which a Keras layer or loss would cast them.

    Without it `test_a_loss_in_its_own_precision` fails.
    """
    dtype = _compute_dtype(target)
    if dtype is None or not casts(target):
        return tuple(operands)
    return tuple(
        replace(operand, value=operand.value.astype(dtype))
        if _is_less(dtype, operand.value.dtype)
        else operand
        for operand in operands
    )


def casts(target: Any) -> bool:
    """Whether this is a Keras object that casts what it is given."""
    return _compute_dtype(target) is not None and bool(getattr(target, "autocast", True))


def _compute_dtype(target: Any) -> np.dtype[Any] | None:
    """What a Keras object computes in; None where this is none."""
    import tensorflow as tf

    keras = sys.modules.get("keras")
    if keras is None:
        return None
    if isinstance(target, keras.layers.Layer):
        name = target.compute_dtype
    elif isinstance(target, keras.losses.Loss):
        name = target.dtype
    else:
        return None
    dtype: np.dtype[Any] = np.dtype(tf.as_dtype(name).as_numpy_dtype)
    return dtype


def in_double(
    function: Function, kept: Function, operands: Sequence[Operand], variables: Sequence[Operand]
) -> Twin | None:
    """The twin of a function that calls a Keras object; None if there is none, or no need of it.

    Without it `test_a_float32_layer_is_judged_in_float64` fails.

    Args:
        function: what is called.
        kept: the same, but leaving no traces.
        operands: the inputs.
        variables: those that it captures.
    """
    if not isinstance(function, Callee) or _compute_dtype(function.target) is None:
        return None
    everything = [*operands, *variables]
    low = [o.value for o in everything if widen(o.value).dtype != o.value.dtype]
    if not low:
        return None
    try:
        return _twin(function, kept, operands, variables)
    except Exception:  # it cannot be made again from what it says of itself
        return None


def _twin(
    function: Callee, kept: Function, operands: Sequence[Operand], variables: Sequence[Operand]
) -> Twin | None:
    import tensorflow as tf

    target, lower = function.target, _compute_dtype(function.target)
    twin = replace(function, target=_made_again(target))
    inputs = [tf.constant(operand.value) for operand in operands]
    wide = [tf.constant(widen(operand.value)) for operand in operands]
    twin(*wide)
    pairs = list(zip(_variables(target), _variables(twin.target), strict=True))
    _hand_over(pairs)
    partner = {id(handle_of(mine)): getattr(other, "_value", other) for mine, other in pairs}
    if lower is None or not _alike(kept(*inputs), twin(*wide), lower):
        return None
    # That call has moved its averages and seeds on.
    _hand_over(pairs)
    held = [
        replace(
            v,
            captured=Captured(v.captured.own, partner[id(v.captured.own.handle)]),
            computed_in=lower if _is_less(lower, v.value.dtype) else None,
        )
        for v in variables
        if v.captured is not None
    ]
    return Twin(twin, tuple(held))


def _hand_over(pairs: Sequence[tuple[Any, Any]]) -> None:
    """Give every variable of the twin the value of its partner.

    Without it `test_a_twin_begins_where_its_layer_does` fails.
    """
    import tensorflow as tf

    for mine, other in pairs:
        other.assign(tf.cast(tf.convert_to_tensor(mine), other.dtype))


def _is_less(dtype: np.dtype[Any], other: np.dtype[Any]) -> bool:
    return is_floating(other) and dtype.itemsize < other.itemsize


def _alike(own: Any, double: Any, dtype: np.dtype[Any]) -> bool:
    """Whether two results are the same but for rounding: else the layer draws, and other numbers.

    Without it `test_a_layer_that_draws_other_numbers_has_no_twin` fails.
    """
    rounding = tolerances.TWIN_ROUNDING * epsilon_of(dtype)
    ours, theirs = differentiable_outputs(own), differentiable_outputs(double)
    if len(ours) != len(theirs):
        return False
    for mine, other in zip(ours, theirs, strict=True):
        a, b = widen(np.asarray(mine.numpy())), np.asarray(other.numpy())
        if a.shape != b.shape or widen(b).dtype != b.dtype:
            return False
        most = min(rounding, tolerances.ANOTHER_FUNCTION) * np.abs(b).max(initial=0.0)
        if not np.abs(a - b).max(initial=0.0) <= most:
            return False
    return True


def _variables(target: Any) -> list[Any]:
    return list(getattr(target, "variables", ()))


def _made_again(target: Any) -> Any:
    """The object as its configuration says, in float64."""
    import keras

    layers = getattr(target, "_flatten_layers", lambda: ())()
    kinds = {type(layer).__name__: type(layer) for layer in layers}
    with _double_by_default(), keras.saving.custom_object_scope(kinds):
        config = _in_float64(target.get_config())
        return type(target).from_config(config)


@contextmanager
def _double_by_default() -> Iterator[None]:
    """Within this, layers that are made without a dtype are float64."""
    import keras

    floatx, policy = keras.config.floatx(), keras.config.dtype_policy()
    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    try:
        yield
    finally:
        keras.config.set_floatx(floatx)
        keras.config.set_dtype_policy(policy)


def _in_float64(config: Any) -> Any:
    """A configuration in which every dtype is float64."""
    if isinstance(config, dict):
        if config.get("class_name") in ("DTypePolicy", "FloatDTypePolicy"):
            return "float64"
        return {
            key: "float64" if key == "dtype" and isinstance(value, str) else _in_float64(value)
            for key, value in config.items()
        }
    if isinstance(config, list | tuple):
        return type(config)(_in_float64(item) for item in config)
    return config
