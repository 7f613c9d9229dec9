"""Loops from step to step: what each step hands on comes back through all that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.sentences import MOVE

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas


def _loop_shape(call: Call) -> Shape:
    a, x, start = (call.shapes[name] for name in ("a", "x", "start"))
    if not x or a != x or start != x[1:] or not x[0]:
        raise ShapeError(
            f"a {list(a)} and x {list(x)} must have the same shape, with an axis of steps first, "
            f"and start {list(start)} that of one step"
        )
    return x


def _shifted(name: str, filling: str, steps: int) -> str:
    """What stood one step earlier."""
    return f"concatenate([expand_dims({filling}, 0), part({name}, 0, 0, {steps - 1})], 0)"


def _later(steps: int) -> str:
    """The factors by which each step reaches the next one; the last reaches none."""
    return f"concatenate([part(a, 0, 1, {steps - 1}), part(zeros_like(a), 0, 0, 1)], 0)"


def _carried(call: Call) -> str:
    """What comes back to each step: G, and what the next step brings."""
    steps = call.shapes["x"][0]
    return f"flip(recurrence(flip({_later(steps)}, 0), flip(G, 0), zeros_like(start)), 0)"


def _loop_formula(call: Call) -> Formulas:
    steps, carried = call.shapes["x"][0], _carried(call)
    return {
        "a": f"{carried} * {_shifted('out', 'start', steps)}",
        "x": carried,
        "start": f"pick(a * {carried}, '0')",
    }


def _loop_derivation(call: Call) -> Derivation:
    steps = call.shapes["x"][0]
    return (
        Step(
            "Let b hold, step by step, what y was one step earlier.",
            f"b := {_shifted('out', 'start', steps)}",
        ),
        Step("", "out == a * b + x"),
        Step(
            "By the product rule each step changes by what comes in and by what it was handed: "
            "the same loop, over the changes.",
            f"db := {_shifted('dout', 'dstart', steps)}",
        ),
        Step("", "dout == da * b + a * db + dx"),
        Step("", "dout == recurrence(a, da * b + dx, dstart)"),
        Step(
            "Back, a step gets its own G and what the next one brings, which it entered with the "
            "factor of that next step: the loop from the end, with the factors moved on by one.",
            f"c := {_later(steps)}",
        ),
        Step("", "D := flip(recurrence(flip(c, 0), flip(G, 0), zeros_like(start)), 0)"),
        Step(
            "D stands beside what comes in at each step, and the first step takes from the start.",
            "sum(G * dout) == sum(D * (da * b + dx)) + sum(pick(a * D, '0') * dstart)",
        ),
    )


def _loop_build(tf: Any, tensors: list[Any], _: Any) -> Any:
    a, x, start = tensors
    return tf.scan(lambda before, now: now[0] * before + now[1], (a, x), start)


_STATES = "tanh_recurrence(INTO, recurrent_kernel, h)"
_INTO = "(matmul(inputs, kernel) + bias)"
_BACK = "flip(matrix_recurrence(flip(G, -2), mT(recurrent_kernel), flip(1 - square(out), -2)), -2)"


def _before(call: Call, name: str, start: str) -> str:
    steps = call.shapes["inputs"][1]
    return f"concatenate([expand_dims({start}, 1), part({name}, 1, 0, {steps - 1})], 1)"


def _rnn_shape(call: Call) -> Shape:
    x, h, kernel, recurrent, bias = (
        call.shapes[n] for n in ("inputs", "h", "kernel", "recurrent_kernel", "bias")
    )
    units = h[-1] if h else 0
    fits = len(x) == 3 and x[1] > 0 and h == (x[0], units) and bias == (units,)
    if not fits or kernel != (x[-1], units) or recurrent != (units, units):
        raise ShapeError(
            f"inputs {list(x)} needs axes for the batch, the steps and the features, and h "
            f"{list(h)}, kernel {list(kernel)}, recurrent_kernel {list(recurrent)} and bias "
            f"{list(bias)} must fit to it"
        )
    return (x[0], x[1], units)


def _rnn_formula(call: Call) -> Formulas:
    earlier = _before(call, "out", "h")
    return {
        "inputs": f"matmul({_BACK}, mT(kernel))",
        "h": f"matmul(pick({_BACK}, ':, 0'), mT(recurrent_kernel))",
        "kernel": f"sum(matmul(mT(inputs), {_BACK}), 0)",
        "recurrent_kernel": f"sum(matmul(mT({earlier}), {_BACK}), 0)",
        "bias": f"sum({_BACK}, [0, 1])",
    }


def _rnn_moved(call: Call, earlier: str) -> str:
    """How what goes into the steps changes, but for the change of the states."""
    first = "concatenate([expand_dims(matmul(dh, recurrent_kernel), 1), ZEROS], 1)".replace(
        "ZEROS", f"part(zeros_like(out), 1, 0, {call.shapes['inputs'][1] - 1})"
    )
    return (
        f"(matmul(dinputs, kernel) + matmul(inputs, dkernel) + "
        f"matmul({earlier}, drecurrent_kernel) + dbias + {first})"
    )


def _rnn_tangent(call: Call) -> str:
    moved = _rnn_moved(call, _before(call, "out", "h"))
    return f"matrix_recurrence({moved}, recurrent_kernel, 1 - square(out))"


def _rnn_derivation(call: Call) -> Derivation:
    return (
        Step(
            "Let E hold, step by step, the state before it: each state is made of the input of its "
            "step and of the one before.",
            f"E := {_before(call, 'out', 'h')}",
        ),
        Step("", "out == tanh(matmul(inputs, kernel) + matmul(E, recurrent_kernel) + bias)"),
        Step(
            "tanh has the slope one less its square. With the change of the state before in it, "
            "the change of a state is",
            f"dE := {_before(call, 'dout', 'dh')}",
        ),
        Step("", "s := 1 - square(out)"),
        Step(
            "",
            "dout == s * (matmul(dinputs, kernel) + matmul(inputs, dkernel) + "
            "matmul(dE, recurrent_kernel) + matmul(E, drecurrent_kernel) + dbias)",
        ),
        Step(
            "Back, a state gets its own G and what the next step brings, through U; then it goes "
            "through tanh. That is the same kind of loop, from the last step to the first:",
            "Z := flip(matrix_recurrence(flip(G, -2), mT(recurrent_kernel), flip(s, -2)), -2)",
        ),
        Step(
            f"Z stands beside what goes into tanh. {MOVE} What every step and every example "
            "shares, the kernels and the bias, is summed over them.",
            "sum(G * dout) == sum(matmul(Z, mT(kernel)) * dinputs) + "
            "sum(sum(matmul(mT(inputs), Z), 0) * dkernel) + "
            "sum(sum(matmul(mT(E), Z), 0) * drecurrent_kernel) + sum(sum(Z, [0, 1]) * dbias) + "
            "sum(matmul(pick(Z, ':, 0'), mT(recurrent_kernel)) * dh)",
        ),
    )


def _rnn_build(tf: Any, tensors: list[Any], _: Any) -> Any:
    x, h, kernel, recurrent, bias = tensors
    states = []
    for step in tf.unstack(tf.matmul(x, kernel) + bias, axis=1):
        h = tf.tanh(step + tf.matmul(h, recurrent))
        states.append(h)
    return tf.stack(states, axis=1)


OPS = (
    Op(
        name="linear_recurrence",
        tf="tf.scan",
        is_part=True,
        family="loop",
        summary="y = the states of the loop yₜ = aₜ·yₜ₋₁ + xₜ",
        inputs=(Parameter("a"), Parameter("x"), Parameter("start")),
        formula=_loop_formula,
        forward="recurrence(a, x, start)",
        tangent=lambda call: (
            f"recurrence(a, da * {_shifted('out', 'start', call.shapes['x'][0])} + dx, dstart)"
        ),
        derivation=_loop_derivation,
        shape=_loop_shape,
        real_only=True,
        build=_loop_build,
        axes=lambda call: {
            "a": "tijk"[: len(call.shapes["x"])],
            "x": "tijk"[: len(call.shapes["x"])],
            "start": "ijk"[: len(call.shapes["start"])],
            "out": "tijk"[: len(call.shapes["x"])],
        },
        symbols={"start": "s"},
        batches="Every axis but the first, that of the steps, is a batch axis.",
        example=Example({"a": (4,), "x": (4,), "start": ()}),
        related=("cumsum", "simple_rnn", "lstm_cell"),
        pitfalls=(
            "With all a = 1 this is a running sum, and its gradient the running sum from the end.",
            "Products of many a stand in the gradients of early steps: they vanish where |a| < 1 "
            "and explode where |a| > 1.",
            "A loop of any kind is derived in this way, as the steps that ran: every step needs "
            "what it was given on the way forward, so all of it is kept.",
        ),
    ),
    Op(
        name="simple_rnn",
        tf="tf.keras.layers.SimpleRNN",
        is_part=True,
        family="loop",
        summary="y = all the states of a recurrent network, yₜ = tanh(xₜ·W + yₜ₋₁·U + b)",
        inputs=(
            Parameter("inputs"),
            Parameter("h"),
            Parameter("kernel"),
            Parameter("recurrent_kernel"),
            Parameter("bias"),
        ),
        formula=_rnn_formula,
        forward=_STATES.replace("INTO", _INTO),
        tangent=_rnn_tangent,
        derivation=_rnn_derivation,
        shape=_rnn_shape,
        real_only=True,
        build=_rnn_build,
        axes={
            "inputs": "btn",
            "h": "bu",
            "kernel": "nu",
            "recurrent_kernel": "uv",
            "bias": "u",
            "out": "btu",
        },
        symbols={"inputs": "x", "kernel": "W", "recurrent_kernel": "U", "bias": "b", "h": "h"},
        batches="The first axis is the batch: the examples share the kernels and the bias, whose "
        "gradients are summed over it and over the steps.",
        example=Example(
            {
                "inputs": (2, 3, 2),
                "h": (2, 2),
                "kernel": (2, 2),
                "recurrent_kernel": (2, 2),
                "bias": (2,),
            }
        ),
        related=("linear_recurrence", "lstm_cell", "gru_cell", "tanh"),
        pitfalls=(
            "The kernels are used in every step: their gradient is the sum over all steps, not "
            "that of the last one.",
            "On the way back U stands transposed, once for each step that lies between.",
            "Who stops after some steps back (truncated backpropagation) gets another gradient, "
            "not an estimate of this one without error.",
        ),
    ),
)
