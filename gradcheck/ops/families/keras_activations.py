"""Activations that Keras has besides those of TensorFlow, and dropout with its mask given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Example, Kind, Op, Parameter, Step
from gradcheck.ops.domains import BEND_AT_ZERO
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.rules import broadcast, one_axis, only
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas

_WIDE = Sample("uniform", (-5.0, 5.0))
_GATE = "minimum(maximum(x / 6 + 0.5, 0), 1)"
_T = "tanh(softplus(x))"


def _halves(call: Call, name: str = "x") -> tuple[str, str]:
    """What is let through, and the gates."""
    axis = call.args["axis"]
    half = only(call)[one_axis(axis, len(only(call)))] // 2
    return f"part({name}, {axis}, 0, {half})", f"part({name}, {axis}, {half}, {half})"


def _glu_shape(call: Call) -> Shape:
    shape = only(call)
    along = one_axis(call.args["axis"], len(shape))
    if shape[along] % 2:
        raise ShapeError(f"axis {along} of {list(shape)} cannot be halved")
    return (*shape[:along], shape[along] // 2, *shape[along + 1 :])


def _glu_formula(call: Call) -> Formulas:
    a, b = _halves(call)
    gate = f"sigmoid({b})"
    return {"x": f"concatenate([G * {gate}, G * {a} * {gate} * (1 - {gate})], axis)"}


def _glu_tangent(call: Call) -> str:
    (a, b), (da, db) = _halves(call), _halves(call, "dx")
    return f"{da} * sigmoid({b}) + {a} * sigmoid({b}) * (1 - sigmoid({b})) * {db}"


def _glu_derivation(call: Call) -> Derivation:
    (a, b), (da, db) = _halves(call), _halves(call, "dx")
    return (
        Step("Let a be the first half of x, and s the sigmoid of the second.", f"a := {a}"),
        Step("", f"s := sigmoid({b})"),
        Step("", "out == a * s"),
        Step(
            "By the product rule, with the slope s·(1 - s) of a sigmoid,",
            f"dout == s * {da} + a * s * (1 - s) * {db}",
        ),
        Step(
            "The loss changes by the inner product of G with dy. What stands beside both halves "
            "of dx is put together as they are.",
            "sum(G * dout) == sum(concatenate([G * s, G * a * s * (1 - s)], axis) * dx)",
        ),
    )


def _dropped(tf: Any, tensors: list[Any], args: Any) -> Any:
    x, mask = tensors
    return tf.where(mask, x / (1 - args["rate"]), tf.zeros_like(x))


OPS = (
    elementwise(
        "mish",
        "tf.keras.activations.mish",
        "y = x·tanh(log(1 + eˣ))",
        forward=f"x * {_T}",
        family="nn",
        x=f"G * ({_T} + x * (1 - square({_T})) * sigmoid(x))",
        slope=(
            Step(
                "By the product rule: tanh has the slope one less its square, and log(1 + eˣ) the "
                "slope σ(x).",
                f"dout == ({_T} + x * (1 - square({_T})) * sigmoid(x)) * dx",
            ),
        ),
        related=("silu", "gelu", "softplus"),
        pitfalls=("A product: both the factor x and the tanh contribute.",),
    ),
    elementwise(
        "hard_sigmoid",
        "tf.keras.activations.hard_sigmoid",
        "y = x/6 + 1/2, held between 0 and 1",
        forward=_GATE,
        family="nn",
        domains={"x": Domain(sample=_WIDE, kinks=(-3.0, 3.0))},
        x="where(abs(x) < 3, G / 6, 0)",
        slope=(
            Step(
                "Between -3 and 3 y is a straight line with the slope 1/6, beyond it is still.",
                "dout == where(abs(x) < 3, dx / 6, 0)",
            ),
        ),
        related=("sigmoid", "relu6", "hard_silu"),
        pitfalls=("Beyond ±3 the gradient is exactly 0, unlike that of a sigmoid.",),
    ),
    elementwise(
        "hard_silu",
        "tf.keras.activations.hard_silu",
        "y = x·(x/6 + 1/2), the factor held between 0 and 1",
        forward=f"x * {_GATE}",
        family="nn",
        domains={"x": Domain(sample=_WIDE, kinks=(-3.0, 3.0))},
        x=f"G * ({_GATE} + x * where(abs(x) < 3, 1 / 6, 0))",
        slope=(
            Step(
                "By the product rule; the held factor has the slope 1/6 between -3 and 3, else 0.",
                f"dout == ({_GATE} + x * where(abs(x) < 3, 1 / 6, 0)) * dx",
            ),
        ),
        related=("silu", "hard_sigmoid", "relu6"),
        pitfalls=("Its slope is 0 at -3/2: between -3 and there it falls.",),
    ),
    elementwise(
        "celu",
        "tf.keras.activations.celu",
        "y = x where x > 0, else alpha·(exp(x/alpha) - 1)",
        forward="where(x > 0, x, alpha * (exp(x / alpha) - 1))",
        family="nn",
        args={"alpha": 1.0},
        domains={"x": BEND_AT_ZERO},
        x="where(x > 0, G, G * exp(x / alpha))",
        slope=(
            Step(
                "Above 0 the slope is 1. Below it is exp(x/alpha): the alpha in front cancels.",
                "dout == where(x > 0, 1, exp(x / alpha)) * dx",
            ),
        ),
        undefined=("Differentiable everywhere; at 0 the second derivative jumps.",),
        related=("elu", "selu", "expm1"),
        pitfalls=(
            "Its slope has no jump at 0 whatever alpha is, as that of elu has unless it is 1.",
        ),
    ),
    elementwise(
        "hard_tanh",
        "tf.keras.activations.hard_tanh",
        "y = x, held between -1 and 1",
        forward="minimum(maximum(x, -1), 1)",
        family="nn",
        domains={"x": Domain(sample=Sample("uniform", (-2.0, 2.0)), kinks=(-1.0, 1.0))},
        x="where(abs(x) < 1, G, 0)",
        slope=(
            Step(
                "Between -1 and 1 y is x, outside it does not move: the slope is 1 or 0.",
                "dout == where(abs(x) < 1, dx, 0)",
            ),
        ),
        related=("tanh", "clip_by_value", "relu6"),
        pitfalls=("Beyond ±1 the gradient is exactly 0, unlike that of tanh.",),
    ),
    elementwise(
        "soft_shrink",
        "tf.keras.activations.soft_shrink",
        "y = x moved towards 0 by threshold, and 0 within it",
        forward="where(abs(x) > threshold, x - threshold * sign(x), 0)",
        family="nn",
        args={"threshold": 0.5},
        domains={"x": Domain(sample=Sample("uniform", (-2.0, 2.0)), kinks=(-0.5, 0.5))},
        x="where(abs(x) > threshold, G, 0)",
        slope=(
            Step(
                "Beyond the threshold y is x less a number, within it 0: the slope is 1 or 0.",
                "dout == where(abs(x) > threshold, dx, 0)",
            ),
        ),
        undefined=("At x = ±threshold there is a kink.",),
        related=("relu", "abs", "tanh_shrink"),
        pitfalls=("What is within the threshold gets no gradient, and cannot leave it by itself.",),
    ),
    elementwise(
        "tanh_shrink",
        "tf.keras.activations.tanh_shrink",
        "y = x - tanh x",
        forward="x - tanh(x)",
        family="nn",
        x="G * conj(square(tanh(x)))",
        slope=(
            Step(
                "The slope is one less that of tanh, which is one less its square.",
                "dout == square(tanh(x)) * dx",
            ),
        ),
        related=("tanh", "soft_shrink"),
        pitfalls=("The slope is 0 at 0, where most values of a small network are.",),
    ),
    elementwise(
        "squareplus",
        "tf.keras.activations.squareplus",
        "y = (x + √(x² + b))/2",
        forward="(x + sqrt(square(x) + b)) / 2",
        family="nn",
        args={"b": 4},
        x="G * conj(1 + x / sqrt(square(x) + b)) / 2",
        slope=(
            Step(
                "The root of x² + b has the slope x over it.",
                "dout == (1 + x / sqrt(square(x) + b)) / 2 * dx",
            ),
        ),
        related=("softplus", "relu"),
        pitfalls=("It behaves as softplus does, without an exponential.",),
    ),
    Op(
        name="glu",
        tf="tf.keras.activations.glu",
        family="nn",
        summary="y = a·σ(b), a and b the two halves of x along an axis",
        inputs=(Parameter("x"),),
        formula=_glu_formula,
        forward=lambda call: "{} * sigmoid({})".format(*_halves(call)),
        tangent=_glu_tangent,
        derivation=_glu_derivation,
        shape=_glu_shape,
        real_only=True,
        args={"axis": -1},
        batches="Every axis but the one that is halved is a batch axis.",
        example=Example({"x": (2, 4)}),
        related=("sigmoid", "silu", "split"),
        pitfalls=("The gates get a gradient too: half of x is there for them alone.",),
    ),
    Op(
        name="dropout",
        tf="tf.nn.dropout",
        is_part=True,
        family="nn",
        summary="y = x/(1 - rate) where the mask holds, else 0",
        inputs=(Parameter("x"), Parameter("mask", Domain(sample=Sample("boolean")), Kind.BOOLEAN)),
        formula={"x": "where(mask, G / (1 - rate), 0)"},
        forward="where(mask, x / (1 - rate), 0)",
        tangent="where(mask, dx / (1 - rate), 0)",
        shape=lambda call: broadcast([call.shapes["x"], call.shapes["mask"]]),
        real_only=True,
        args={"rate": 0.5},
        build=_dropped,
        derivation=(
            Step(
                "The mask was drawn, without regard to x: a change of x does not change it.",
                "dout == where(mask, dx / (1 - rate), 0)",
            ),
            Step(
                "The loss changes by the inner product of G with dy: where the mask holds, dx has "
                "G over 1 - rate beside it, elsewhere nothing.",
                "sum(G * dout) == sum(where(mask, G / (1 - rate), 0) * dx)",
            ),
        ),
        axes=lambda call: {
            "x": "ijkl"[: len(call.shapes["x"])],
            "mask": "ijkl"[: len(call.shapes["x"])],
            "out": "ijkl"[: len(call.shapes["x"])],
        },
        batches="Any number of axes: the formula holds element by element.",
        example=Example({"x": (4,), "mask": (4,)}),
        related=("where", "multiply", "boolean_mask"),
        pitfalls=(
            "The gradient must meet the mask of the way forward: one that is drawn anew is another "
            "function's.",
            "The factor 1/(1 - rate) is in the gradient too, so that its mean over all masks is G.",
            Seen(
                "In evaluation, or at a rate of 0, it is the identity.",
                {"x": [1.0, 2.0]},
                {"x": [1.0, 1.0]},
                expr="tf.nn.dropout(x, 0.0)",
            ),
        ),
    ),
)
