"""Pooling: the largest element or the mean of windows over signals, images and volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Domain, Example, Op, Parameter, Step
from gradcheck.ops.rules import per_axis, window_places
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation


_LETTERS = "pqr"
"""Of the input's axes of space."""
_PLACES = {1: "w", 2: "hw", 3: "dhw"}
"""By rank: the letters of the output's axes of space."""
_EXAMPLES: dict[int, Shape] = {1: (2, 4, 3), 2: (2, 4, 4, 3), 3: (1, 2, 4, 4, 2)}
_RUN = {1: "axis 2 runs", 2: "axes 3 and 4 run", 3: "axes 4, 5 and 6 run"}
"""By rank: which axes of what is seen run over a window."""
_WINDOWED = "windows(VALUE, ksize, strides, padding)"
_SEEN = "windows(input, ksize, strides, padding, -inf)"
_COUNTS = "windows(ones_like(input), ksize, strides, padding)"


def _pool_code(call: Call, largest: bool, rank: int) -> dict[str, str]:
    size, steps = ([1, *per_axis(call.args[name], rank, name), 1] for name in ("ksize", "strides"))
    x, out, upstream, tail = "input", "out", "G", ""
    if rank == 1:
        # TensorFlow itself takes a signal for an image of height one.
        x, out, upstream, tail = "input[:, None]", "out[:, None]", "G[:, None]", "[:, 0]"
        size.insert(1, 1)
        steps.insert(1, 1)
    op = f"{'Max' if largest else 'Avg'}Pool{'3D' * (rank == 3)}Grad"
    given = f"orig_input={x}, orig_output={out}" if largest else f"orig_input_shape=tf.shape({x})"
    rest = f"ksize={size}, strides={steps}, padding={call.args['padding']!r}"
    return {"input": f"tf.raw_ops.{op}({given}, grad={upstream}, {rest}){tail}"}


def _pool_shape(call: Call, rank: int) -> Shape:
    x = call.shapes["input"]
    if len(x) != rank + 2:
        raise ShapeError(f"input {list(x)} needs rank {rank + 2}: batch, space, channels")
    window = per_axis(call.args["ksize"], rank, "ksize")
    places = window_places(call, "input", window, call.args["strides"], "strides")
    return (x[0], *places, x[-1])


def _inner(rank: int) -> list[int]:
    """The axes that run over a window."""
    return list(range(rank + 1, 2 * rank + 1))


def _max_pool(rank: int) -> Derivation:
    inner = _inner(rank)
    return (
        Step(
            f"Let w be 1 at the largest element of each window and 0 elsewhere; {_RUN[rank]} over "
            "the window.",
            f"w := one_hot_max({_SEEN}, {inner})",
        ),
        Step(
            "A small change of x moves the elements of a window, but it does not change which of "
            "them is the largest: w stays. With dx seen through the same windows",
            f"V := {_WINDOWED.replace('VALUE', 'dinput')}",
        ),
        Step("", f"dout == sum(w * V, {inner})"),
        Step(
            "The loss changes by the inner product of G with dy: G, repeated over its window, "
            "times w stands beside the windows of dx.",
            f"U := w * expand_dims(G, {inner})",
        ),
        Step("", "sum(G * dout) == sum(U * V)"),
        Step(
            "An element of x may lie in several windows, so what stands beside it is the sum over "
            "all the places where it was seen.",
            "sum(G * dout) == sum(unwindows(U, input, ksize, strides, padding) * dinput)",
        ),
    )


def _tied(rank: int) -> Seen:
    value: Any = [[1.0], [1.0]]
    tape: Any = [[1.0], [0.0]]
    for _ in range(rank - 1):
        # The same once more, at the end of every axis of space.
        value, tape = [value, value], [tape, np.zeros_like(tape).tolist()]
    told = "At ties TensorFlow chooses the first."
    if rank == 3:
        told, tape = "At ties TensorFlow gives each of them the whole G, not a share of it.", value
    args = {"ksize": 2, "strides": 2, "padding": "VALID"}
    return Seen(told, {"input": [value]}, {"input": [tape]}, args=args)


def _declare(rank: int, *, largest: bool) -> Op:
    inner = _inner(rank)
    total = f"sum({_COUNTS}, {inner})"
    chosen = f"one_hot_max({_SEEN}, {inner})"
    moved = _WINDOWED.replace("VALUE", "dinput")
    values = (
        f"{chosen} * expand_dims(G, {inner})"
        if largest
        else f"{_COUNTS} * expand_dims(G / {total}, {inner})"
    )
    name = f"{'max' if largest else 'avg'}_pool{rank}d"
    other = f"{'avg' if largest else 'max'}_pool{rank}d"
    return Op(
        name=name,
        tf=f"tf.nn.{name}",
        family="nn",
        summary="y = the largest x of each window"
        if largest
        else "y = the mean of each window of x",
        inputs=(Parameter("input", Domain(sample=Sample("distinct")) if largest else ANYWHERE),),
        formula={"input": f"unwindows({values}, input, ksize, strides, padding)"},
        forward=f"max({_SEEN}, {inner})"
        if largest
        else f"sum({_WINDOWED.replace('VALUE', 'input')}, {inner}) / {total}",
        # (The kernels for volumes have no float64.)
        float32_only=rank == 3,
        code=lambda call: _pool_code(call, largest, rank),
        tangent=f"sum({chosen} * {moved}, {inner})"
        if largest
        else f"sum({moved}, {inner}) / {total}",
        shape=lambda call: _pool_shape(call, rank),
        required=("ksize", "strides", "padding"),
        undefined=("Where two elements of a window tie for the largest.",) if largest else (),
        derivation=_max_pool(rank) if largest else (),
        axes={"input": f"n{_LETTERS[:rank]}c", "out": f"n{_PLACES[rank]}c"},
        batches="The first axis is the batch, the last the channels: neither mixes.",
        example=Example({"input": _EXAMPLES[rank]}, {"ksize": 2, "strides": 2, "padding": "VALID"}),
        related=(
            (other, "reduce_max", f"conv{rank}d")
            if largest
            else (other, "reduce_mean", f"conv{rank}d")
        ),
        pitfalls=(
            (
                "Only the winner of each window gets a gradient, so most of the input gets 0.",
                _tied(rank),
            )
            if largest
            else (
                "At a padded edge the divisor is the number of real elements, not the window's "
                "size.",
            )
        ),
    )


OPS = tuple(_declare(rank, largest=largest) for rank in (2, 1, 3) for largest in (True, False))
