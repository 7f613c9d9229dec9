"""A Keras object that computes in double precision for the time of a call, without another one.

What it computes in is what it, and the objects inside of it, declare: their dtype policies, the
dtypes of a model's inputs, and those of the variables. Within a call the checker's thread is told
others; nothing is written into the object. That costs less than to make the object again, and takes
no configuration. What has less than double precision
in another way, as a constant that was made when it was built, shows in the ops that it runs: who
asks has to look.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.reachable import handle_of
from gradcheck.checker.subject.seen_here import Seen, looked_up
from gradcheck.checker.subject.tensors import widen, wider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from gradcheck.checker.subject.recording import Resource


@dataclass(frozen=True, slots=True, eq=False)
class InDouble:
    """What stands for a Keras object in double precision: the object itself."""

    target: Callable[..., Any]
    within: Seen
    doubles: dict[int, Any] = field(default_factory=dict)
    """By the identity of a variable's handle: what takes its place."""

    def __call__(self, *positional: Any, **named: Any) -> Any:
        """What the object returns."""
        # (A trace that a tf.function of the user's kept would hold the variables of this check.
        # Without it `test_a_trace_that_is_kept_holds_no_other_variables` fails.)
        with self.within, as_python():
            return self.target(*positional, **named)


def widened(
    target: Callable[..., Any], objects: Iterable[Any], touched: Mapping[int, Resource]
) -> InDouble | None:
    """The object in double precision; None where that cannot be declared.

    Without it `test_a_layer_is_not_made_again_where_it_need_not_be` fails.

    Args:
        target: a layer, model or loss.
        objects: what it can reach that has attributes, itself included.
        touched: by the identity of its handle, each variable that a call touches.
    """
    low = {key: r for key, r in touched.items() if r.before is not None and _is_low(r.before.dtype)}
    doubles: dict[int, Any] = {}
    declared: list[tuple[Any, dict[str, Any]]] = []
    for thing in objects:
        own: dict[str, Any] = vars(thing)
        wide = _wide_declarations(thing)
        if wide is None:
            return None
        if "_value" in own and (key := id(handle_of(thing))) in low:
            doubles[key] = wide["_value"] = _double(own["_value"], low[key])
        if wide:
            declared.append((thing, wide))
    if low.keys() != doubles.keys():
        return None
    return InDouble(target, Seen(declared), doubles)


def declaring() -> AbstractContextManager[None]:
    """Within this, what is declared otherwise for a thread is what that is told."""
    return looked_up(_kinds(), ("_dtype_policy", "_dtype", "_value"))


def _kinds() -> tuple[Any, ...]:
    """Those of Keras' classes whose objects declare what they compute in."""
    import keras

    return keras.Operation, keras.Variable, keras.KerasTensor, keras.Loss


def _wide_declarations(thing: Any) -> dict[str, Any] | None:
    """The attributes that say what an object computes in, in double precision; None if quantized.

    Args:
        thing: an object of Keras', or any other, which has none.
    """
    import keras

    wide: dict[str, Any] = {}
    if not isinstance(thing, _kinds()):
        return wide
    own = vars(thing)
    if "_dtype_policy" in own:
        if getattr(own["_dtype_policy"], "quantization_mode", None) is not None:
            return None
        if _is_low(getattr(thing, "compute_dtype", None) or thing.dtype):
            wide["_dtype_policy"] = keras.DTypePolicy("float64")
    if isinstance(own.get("_dtype"), str) and _is_low(own["_dtype"]):
        wide["_dtype"] = "float64"
    return wide


def _double(variable: Any, seen: Resource) -> Any:
    """What takes the place of a variable."""
    import tensorflow as tf

    return tf.Variable(widen(seen.before.numpy()), trainable=variable.trainable)


def _is_low(dtype: Any) -> bool:
    import tensorflow as tf

    try:
        return tf.as_dtype(dtype) in wider()
    except TypeError:  # a dtype of Keras' own
        return False
