"""Activations of neural networks, each element by itself."""

from __future__ import annotations

from gradcheck.model import Sample
from gradcheck.ops.declaration import Domain, Step
from gradcheck.ops.domains import BEND_AT_ZERO
from gradcheck.ops.factories.elementwise import elementwise
from gradcheck.ops.seen import Seen

_BENDS = {"features": BEND_AT_ZERO}

_SCALE, _ALPHA = 1.0507009873554805, 1.6732632423543772
"""The λ and the α of selu, to all digits of float64, as TensorFlow's kernel has them."""

OPS = (
    elementwise(
        "sigmoid",
        "tf.sigmoid",
        "y = 1/(1 + e⁻ˣ)",
        "tf.math.sigmoid",
        "tf.nn.sigmoid",
        forward="sigmoid(x)",
        family="nn",
        x="G * conj(out * (1 - out))",
        slope=(
            Step(
                "1/y = 1 + e⁻ˣ; differentiate both sides.", "-dout / square(out) == -exp(-x) * dx"
            ),
            Step(
                "From the same equation e⁻ˣ is 1/y − 1, and y²·(1/y − 1) is y·(1 − y).",
                "exp(-x) == 1 / out - 1",
            ),
        ),
        related=("log_sigmoid", "tanh", "softplus"),
        pitfalls=(
            "y·(1 - y) with the output y, not with x.",
            Seen(
                "At most 1/4, and 0 in floating point for large |x|: deep stacks of it stop "
                "learning.",
                {"x": [0.0, 40.0, -800.0]},
                {"x": [0.25, 0.0, 0.0]},
            ),
        ),
    ),
    elementwise(
        "log_sigmoid",
        "tf.math.log_sigmoid",
        "y = log(1/(1 + e⁻ˣ))",
        forward="log(sigmoid(x))",
        family="nn",
        x="G * sigmoid(-x)",
        slope=(
            Step(
                "By the chain rule: the slope of log σ is 1/σ, that of σ is σ·(1 − σ).",
                "dout == (1 - sigmoid(x)) * dx",
            ),
            Step("And 1 − σ(x) is σ(−x).", "1 - sigmoid(x) == sigmoid(-x)"),
        ),
        related=("sigmoid", "softplus"),
        pitfalls=(
            Seen(
                "log(sigmoid(x)) by hand is infinite at x = -800, and its gradient NaN.",
                {"x": [-800.0]},
                {"x": ["nan"]},
                out=["-inf"],
                expr="tf.math.log(tf.sigmoid(x))",
            ),
            Seen("This op is right there.", {"x": [-800.0]}, {"x": [1.0]}, out=[-800.0]),
        ),
    ),
    elementwise(
        "softplus",
        "tf.math.softplus",
        "y = log(1 + eˣ)",
        "tf.nn.softplus",
        forward="log(1 + exp(features))",
        family="nn",
        features="G * sigmoid(features)",
        slope=(
            Step(
                "By the chain rule the slope is eˣ/(1 + eˣ); divided by eˣ above and below that "
                "is σ(x).",
                "exp(features) / (1 + exp(features)) == sigmoid(features)",
            ),
        ),
        related=("sigmoid", "log_sigmoid", "relu"),
        pitfalls=("The derivative is the sigmoid, not the output.",),
    ),
    elementwise(
        "softsign",
        "tf.nn.softsign",
        "y = x/(1 + |x|)",
        "tf.math.softsign",
        forward="features / (1 + abs(features))",
        family="nn",
        domains=_BENDS,
        features="G / square(1 + abs(features))",
        slope=(
            Step(
                "By the quotient rule the slope is (1 + |x| − x·sign(x))/(1 + |x|)², and "
                "x·sign(x) is |x|.",
                "dout == dfeatures / square(1 + abs(features))",
            ),
        ),
        undefined=("Differentiable everywhere; at 0 the second derivative jumps.",),
        related=("tanh", "abs"),
        pitfalls=("Smooth at 0, but its second derivative jumps there.",),
    ),
    elementwise(
        "relu",
        "tf.nn.relu",
        "y = max(x, 0)",
        forward="maximum(features, 0)",
        family="nn",
        domains=_BENDS,
        features="where(features > 0, G, 0)",
        slope=(
            Step(
                "Above 0 y is x, below it does not move: the slope is 1 or 0.",
                "dout == where(features > 0, dfeatures, 0)",
            ),
        ),
        related=("leaky_relu", "relu6", "maximum"),
        pitfalls=(
            Seen(
                "There is no derivative at 0; TensorFlow gives 0.",
                {"features": [0.0]},
                {"features": [0.0]},
            ),
            "A unit whose input is negative for every example gets no gradient at all.",
        ),
    ),
    elementwise(
        "relu6",
        "tf.nn.relu6",
        "y = min(max(x, 0), 6)",
        forward="minimum(maximum(features, 0), 6)",
        family="nn",
        domains={"features": Domain(sample=Sample("uniform", (-3.0, 9.0)), kinks=(0.0, 6.0))},
        features="where(logical_and(features > 0, features < 6), G, 0)",
        slope=(
            Step(
                "Between 0 and 6 y is x, outside it does not move: the slope is 1 or 0.",
                "dout == where(logical_and(features > 0, features < 6), dfeatures, 0)",
            ),
        ),
        related=("relu", "clip_by_value"),
        pitfalls=("The gradient is 0 above 6 as well as below 0.",),
    ),
    elementwise(
        "leaky_relu",
        "tf.nn.leaky_relu",
        "y = x where x > 0, else alpha·x",
        forward="where(features > 0, features, float32(alpha) * features)",
        family="nn",
        args={"alpha": 0.2},
        domains=_BENDS,
        features="where(features > 0, G, float32(alpha) * G)",
        slope=(
            Step(
                "Two straight lines: the slope is 1 above 0 and alpha below.",
                "dout == where(features > 0, dfeatures, float32(alpha) * dfeatures)",
            ),
        ),
        related=("relu", "elu"),
        pitfalls=(
            "The slope below 0 is 0.2 unless `alpha` says otherwise.",
            Seen(
                "TensorFlow keeps alpha in float32, so the slope 0.2 is off by 3e-9 also in "
                "float64.",
                {"features": [-1.0]},
                {"features": [0.20000000298023224]},
            ),
        ),
    ),
    elementwise(
        "elu",
        "tf.nn.elu",
        "y = x where x > 0, else eˣ - 1",
        forward="where(features > 0, features, exp(features) - 1)",
        family="nn",
        domains=_BENDS,
        features="where(features < 0, G * (out + 1), G)",
        slope=(
            Step(
                "Above 0 the slope is 1. Below it is eˣ, which is y + 1.",
                "dout == where(features < 0, exp(features), 1) * dfeatures",
            ),
        ),
        undefined=("Differentiable everywhere; at 0 the second derivative jumps.",),
        related=("selu", "relu", "expm1"),
        pitfalls=("Below 0 the derivative is y + 1 = eˣ, not y.",),
    ),
    elementwise(
        "selu",
        "tf.nn.selu",
        "y = λ·x where x > 0, else λα·(eˣ - 1)",
        forward=f"{_SCALE} * where(features > 0, features, {_ALPHA} * (exp(features) - 1))",
        family="nn",
        domains=_BENDS,
        features=f"where(features < 0, G * (out + {_SCALE} * {_ALPHA}), {_SCALE} * G)",
        slope=(
            Step(
                "Above 0 the slope is λ. Below it is λα·eˣ, which is y + λα.",
                f"dout == where(features < 0, out + {_SCALE} * {_ALPHA}, {_SCALE}) * dfeatures",
            ),
        ),
        related=("elu", "relu"),
        pitfalls=("λ = 1.0507… and α = 1.6733… are fixed; rounding them shows in the gradient.",),
    ),
    elementwise(
        "silu",
        "tf.nn.silu",
        "y = x·sigmoid(beta·x)",
        "tf.nn.swish",
        forward="features * sigmoid(beta * features)",
        family="nn",
        args={"beta": 1.0},
        features=(
            "G * conj(sigmoid(beta * features) + beta * out * (1 - sigmoid(beta * features)))"
        ),
        slope=(
            Step(
                "By the product rule, with σ′ = σ·(1 − σ), and x·σ being y again:",
                "dout == (sigmoid(beta * features) + beta * out * (1 - sigmoid(beta * "
                "features))) * dfeatures",
            ),
        ),
        complex_finding="TensorFlow does not conjugate the derivative",
        related=("sigmoid", "gelu", "relu"),
        pitfalls=("A product: both the factor x and the sigmoid contribute.",),
    ),
)
