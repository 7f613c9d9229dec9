"""A Keras layer, model or loss once more, in double precision.

A layer that was made in float32 casts what it is given to float32 and has float32 weights. Whether
its formulas are right is asked of the same layer in float64, with the same weights: mostly that is
the layer itself (`keras_widened.py`), else it is made again. Whether its arithmetic is good, of the
layer as it is. A layer that cannot be made again is checked in its own precision.
"""

from __future__ import annotations

import random
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.numerics.vectors import epsilon_of
from gradcheck.checker.subject.callee import Callee
from gradcheck.checker.subject.keras_names import counted_apart
from gradcheck.checker.subject.keras_widened import widened
from gradcheck.checker.subject.operand import Captured, Operand
from gradcheck.checker.subject.reachable import handle_of
from gradcheck.checker.subject.tensors import is_floating, is_low_precision, widen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from gradcheck.checker.subject.recording import Resource
    from gradcheck.checker.subject.tensors import Function


@dataclass(frozen=True, slots=True, eq=False)
class Twin:
    """The function in double precision, and the captured variables with their twins."""

    function: Function
    variables: tuple[Operand, ...]
    lower: np.dtype[Any]
    """What the function itself computes in."""
    within: AbstractContextManager[None] = field(default_factory=nullcontext)
    """Within this, its gradient is taken."""


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


def _lowest_dtype(target: Any) -> np.dtype[Any] | None:
    """The least precise dtype that a Keras object, or a layer inside of it, computes in.

    Without it `test_mixed_layers_inside_of_a_model` fails.
    """
    found = [_compute_dtype(each) for each in (target, *_layers(target))]
    floating = [dtype for dtype in found if dtype is not None and is_floating(dtype)]
    return min(floating, key=lambda dtype: -epsilon_of(dtype), default=None)


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
    function: Function, operands: Sequence[Operand], variables: Sequence[Operand]
) -> Twin | None:
    """The twin of a function that calls a Keras object; None if there is none, or no need of it.

    Whoever asks has still to see whether it gives the same. Without it
    `test_a_float32_layer_is_judged_in_float64` fails.

    Args:
        function: what is called.
        operands: the inputs.
        variables: those that it captures.
    """
    if not isinstance(function, Callee) or not _needs_twin(function, (*operands, *variables)):
        return None
    try:
        return _twin(function, operands, variables)
    except Exception:  # it cannot be made again from what it says of itself
        return None


def in_place(
    function: Function,
    operands: Sequence[Operand],
    variables: Sequence[Operand],
    objects: Iterable[Any],
    touched: Mapping[int, Resource],
) -> Twin | None:
    """A twin that is the object itself; None where there is none, or no need of it.

    Args:
        function: what is called.
        operands: the inputs.
        variables: those that it captures.
        objects: what it can reach that has attributes.
        touched: by the identity of its handle, each variable that a call touches.
    """
    if not isinstance(function, Callee) or not _needs_twin(function, (*operands, *variables)):
        return None
    lower = _lowest_dtype(function.target)
    double = None if lower is None else widened(function.target, objects, touched)
    if lower is None or double is None:
        return None
    held = _with_partners(variables, double.doubles, lower)
    return Twin(replace(function, target=double), held, lower, double.within)


def _needs_twin(function: Callee, operands: Sequence[Operand]) -> bool:
    if _compute_dtype(function.target) is None:
        return False
    return any(is_low_precision(operand.value.dtype) for operand in operands)


def _twin(
    function: Callee, operands: Sequence[Operand], variables: Sequence[Operand]
) -> Twin | None:
    import tensorflow as tf

    target, lower = function.target, _lowest_dtype(function.target)
    if lower is None:
        return None
    twin = replace(function, target=_made_again(target))
    _build_as(target, twin.target)
    if _made_of(twin.target) != _made_of(target):
        with _double_by_default():
            # (Weights, and layers inside, may be made only now.)
            twin(*(tf.constant(widen(operand.value)) for operand in operands))
    theirs = _variables(twin.target)
    _copy(_variables(target), theirs)
    partner = {
        id(handle_of(mine)): getattr(other, "_value", other)
        for mine, other in zip(_variables(target), theirs, strict=True)
    }
    return Twin(twin, _with_partners(variables, partner, lower), lower)


def _with_partners(
    variables: Sequence[Operand], partner: Mapping[int, Any], lower: np.dtype[Any]
) -> tuple[Operand, ...]:
    """The captured variables, each with that of the twin: itself if it has double precision."""
    return tuple(
        replace(
            v,
            captured=Captured(
                v.captured.own, partner.get(id(v.captured.own.handle), v.captured.own)
            ),
            computed_in=lower if _is_less(lower, v.value.dtype) else None,
        )
        for v in variables
        if v.captured is not None
    )


def _copy(own: Sequence[Any], twins: Sequence[Any]) -> None:
    """Give the variables of the twin the values of the others."""
    import tensorflow as tf

    for mine, other in zip(own, twins, strict=True):
        other.assign(tf.cast(tf.convert_to_tensor(mine), other.dtype))


def _is_less(dtype: np.dtype[Any], other: np.dtype[Any]) -> bool:
    return is_floating(other) and dtype.itemsize < other.itemsize


def _variables(target: Any) -> list[Any]:
    """All that it keeps; what a recurrent layer remembers is not among its variables.

    Without it `test_what_a_recurrent_layer_remembers_is_the_same` fails.
    """
    import tensorflow as tf

    remembered = [tf.nest.flatten(getattr(each, "states", None)) for each in _layers(target)]
    states = {id(state): state for flat in remembered for state in flat if hasattr(state, "assign")}
    return [*getattr(target, "variables", ()), *states.values()]


def _made_of(target: Any) -> tuple[int, int]:
    """How many variables and layers it has by now."""
    return len(_variables(target)), len(_layers(target))


def _layers(target: Any) -> list[Any]:
    return list(getattr(target, "_flatten_layers", lambda: ())())


def _made_again(target: Any) -> Any:
    """The object as its configuration says, in float64."""
    import keras

    kinds = {type(layer).__name__: type(layer) for layer in _layers(target)}
    with _double_by_default(), keras.saving.custom_object_scope(kinds):
        config = _in_float64(target.get_config())
        return type(target).from_config(config)


def _build_as(target: Any, twin: Any) -> None:
    """Build the twin of a layer for the shapes for which that was built, without a call.

    (What is built in other ways, or by a call alone, is called.) Without it
    `test_a_layer_is_called_no_more_than_it_takes` fails.
    """
    config = getattr(target, "get_build_config", lambda: None)()
    if config and not twin.built:
        with _double_by_default():
            twin.build_from_config(config)


@contextmanager
def _double_by_default() -> Iterator[None]:
    """Within this, layers that are made without a dtype are float64, and nobody counts them."""
    import keras

    floatx, policy = keras.config.floatx(), keras.config.dtype_policy()
    # Initial values are drawn, though nobody will see them.
    drawn, drawn_by_numpy = random.getstate(), np.random.get_state()
    keras.config.set_floatx("float64")
    keras.config.set_dtype_policy("float64")
    try:
        with counted_apart():
            yield
    finally:
        keras.config.set_floatx(floatx)
        keras.config.set_dtype_policy(policy)
        random.setstate(drawn)
        np.random.set_state(drawn_by_numpy)


_DRAWING = frozenset(
    (
        *("GlorotNormal", "GlorotUniform", "HeNormal", "HeUniform", "LecunNormal", "LecunUniform"),
        *("Orthogonal", "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling"),
    )
)
"""Keras' initializers that draw, which takes longer than all else that makes a weight."""


def _in_float64(config: Any) -> Any:
    """A configuration in which every dtype is float64."""
    if isinstance(config, dict):
        if config.get("class_name") in ("DTypePolicy", "FloatDTypePolicy"):
            return "float64"
        if config.get("module") == "keras.initializers" and config["class_name"] in _DRAWING:
            # (What is drawn nobody sees: the weights are those of the other.)
            return {**config, "class_name": "Zeros", "config": {}}
        return {
            key: "float64" if key == "dtype" and isinstance(value, str) else _in_float64(value)
            for key, value in config.items()
        }
    if isinstance(config, list | tuple):
        return type(config)(_in_float64(item) for item in config)
    return config
