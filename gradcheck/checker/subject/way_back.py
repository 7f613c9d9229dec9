"""What a tape watches, and the way back of a pass that it recorded, as tensors."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from gradcheck.checker.subject.private_names import Absent, Private, private

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.left_by_calls import Left
    from gradcheck.model import Array


class Forward(NamedTuple):
    """A pass forward that was recorded."""

    tape: Any
    sources: list[Any]
    outputs: list[Any]
    arguments: Sequence[Any]
    left: Sequence[Left] = ()
    """What it changed, and was put back."""


def watch(tape: Any, sources: Sequence[Any]) -> None:
    """Have a tape watch these.

    `tape.watch` takes as long as an op, for structures, of which there are none here: where it can
    be, what it calls is called.
    """
    import tensorflow as tf

    recorded, look = getattr(tape, "_tape", None), None
    with suppress(Absent):
        look = private(Private.WATCH)
    if look is None or recorded is None or not all(isinstance(s, tf.Tensor) for s in sources):
        tape.watch(sources)
        return
    for source in sources:
        look(recorded, source)


def as_cotangents(upstream: Sequence[Array], outputs: Sequence[Any]) -> list[Any]:
    """An upstream as tensors of the outputs' dtypes (numpy casts for less than TensorFlow)."""
    import tensorflow as tf

    def cast(ct: Array, dtype: Any) -> Array:
        drops = ct.dtype.kind == "c" and not dtype.is_complex
        return ct if drops else ct.astype(dtype.as_numpy_dtype, copy=False)

    pairs = zip(upstream, outputs, strict=True)
    return [tf.constant(cast(ct, output.dtype)) for ct, output in pairs]


def go_back(forward: Forward, upstream: Sequence[Any]) -> list[Any]:
    """The gradients (or None) of what is differentiated, as tensors."""
    import tensorflow as tf

    cotangents = [
        ct if ct.dtype == output.dtype else tf.cast(ct, output.dtype)
        for ct, output in zip(upstream, forward.outputs, strict=True)
    ]
    return [_dense(gradient) for gradient in _gradients(forward, cotangents)]


def _gradients(forward: Forward, cotangents: list[Any]) -> Sequence[Any]:
    """What the tape has to say.

    `tape.gradient` spends more time on structures, of which there are none here, than most
    gradients take: where it can be, what it calls is called.
    """
    import tensorflow as tf

    recorded = getattr(forward.tape, "_tape", None)
    plain = all(isinstance(each, tf.Tensor) for each in (*forward.outputs, *forward.sources))
    go = None
    with suppress(Absent):
        go = private(Private.GRADIENT)
    if go is None or recorded is None or not plain or not tf.executing_eagerly():
        given: Sequence[Any] = forward.tape.gradient(
            forward.outputs, forward.sources, output_gradients=cotangents
        )
        return given
    found: Sequence[Any] = go(
        recorded, forward.outputs, forward.sources, output_gradients=cotangents
    )
    return found


def _dense(gradient: Any) -> Any:
    """A gradient as one tensor: the tape may give slices that stand for one."""
    import tensorflow as tf

    if gradient is None or isinstance(gradient, tf.Tensor):
        return gradient
    return tf.convert_to_tensor(gradient)
