"""An LSTM cell: a step in time as one op, its gradient by all that goes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.factories.cells import CELLS_SHARE, state_size, with_name
from gradcheck.ops.sentences import MOVE

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas


_ALL = "matmul(inputs, kernel) + matmul(h, recurrent_kernel) + bias"


def _gate(call: Call, place: int, gates: int = 4) -> str:
    units = state_size(call, gates)
    return f"part({_ALL}, -1, {place * units}, {units})"


class _Lstm:
    """The parts of an LSTM cell as text, written out for one call."""

    def __init__(self, call: Call) -> None:
        self.i, self.f, self.o = (f"sigmoid({_gate(call, k)})" for k in (0, 1, 3))
        self.g = f"tanh({_gate(call, 2)})"
        self.c = f"({self.f} * c + {self.i} * {self.g})"
        self.t = f"tanh({self.c})"
        self.d = f"(G[1] + G[0] * {self.o} * (1 - square({self.t})))"
        self.z = self.back(self.d, self.i, self.f, self.g, self.o, self.t)

    @staticmethod
    def back(d: str, i: str, f: str, g: str, o: str, t: str) -> str:
        parts = (
            f"{d} * {g} * {i} * (1 - {i})",
            f"{d} * c * {f} * (1 - {f})",
            f"{d} * {i} * (1 - square({g}))",
            f"G[0] * {t} * {o} * (1 - {o})",
        )
        return f"concatenate([{', '.join(parts)}], -1)"


def _lstm_formula(call: Call) -> Formulas:
    cell = _Lstm(call)
    return {
        "inputs": f"matmul({cell.z}, mT(kernel))",
        "h": f"matmul({cell.z}, mT(recurrent_kernel))",
        "c": f"{cell.d} * {cell.f}",
        "kernel": f"matmul(mT(inputs), {cell.z})",
        "recurrent_kernel": f"matmul(mT(h), {cell.z})",
        "bias": f"sum({cell.z}, 0)",
    }


def _lstm_moved(call: Call) -> tuple[str, str]:
    """How the new h and c change, as text over the names of the derivation."""
    units = state_size(call, 4)
    a = [f"part(dz, -1, {k * units}, {units})" for k in range(4)]
    dc = (
        f"f * dc + c * f * (1 - f) * {a[1]} + g * i * (1 - i) * {a[0]} + "
        f"i * (1 - square(g)) * {a[2]}"
    )
    return f"t * o * (1 - o) * {a[3]} + o * (1 - square(t)) * ({dc})", dc


def _lstm_tangent(call: Call) -> str:
    cell = _Lstm(call)
    h, c = _lstm_moved(call)
    moved = (
        "(matmul(dinputs, kernel) + matmul(inputs, dkernel) + matmul(dh, recurrent_kernel) + "
        "matmul(h, drecurrent_kernel) + dbias)"
    )
    found = f"[{h}, {c}]"
    for name in ("i", "f", "o", "g", "t"):
        found = with_name(found, name, getattr(cell, name))
    return found.replace("dz", moved)


def _lstm_derivation(call: Call) -> Derivation:
    h, c = _lstm_moved(call)
    gates = [f"part(z, -1, {k * state_size(call, 4)}, {state_size(call, 4)})" for k in range(4)]
    loss = "sum(G[0] * dout[0]) + sum(G[1] * dout[1])"
    return (
        Step("All four gates are parts of one sum.", f"z := {_ALL}"),
        Step(
            "What is let in, what is kept, what is new, what is let out:",
            f"i := sigmoid({gates[0]})",
        ),
        Step("", f"f := sigmoid({gates[1]})"),
        Step("", f"g := tanh({gates[2]})"),
        Step("", f"o := sigmoid({gates[3]})"),
        Step(
            "The new c is what is kept of the old and what is let in of the new.",
            "out[1] == f * c + i * g",
        ),
        Step("", "t := tanh(f * c + i * g)"),
        Step("", "out[0] == o * t"),
        Step(
            "z moves by the product rule. A sigmoid s has the slope s·(1 - s), tanh the slope one "
            "less its square.",
            "dz := matmul(dinputs, kernel) + matmul(inputs, dkernel) + "
            "matmul(dh, recurrent_kernel) + matmul(h, drecurrent_kernel) + dbias",
        ),
        Step("", f"dout[1] == {c}"),
        Step("", f"dout[0] == {h}"),
        Step(
            "The new c goes on by itself and through the new h: its gradient is the sum of both.",
            "D := G[1] + G[0] * o * (1 - square(t))",
        ),
        Step(
            "Beside each part of dz stands D or the upstream of H, times what dz is multiplied by.",
            f"Z := {_Lstm.back('D', 'i', 'f', 'g', 'o', 't')}",
        ),
        Step("", f"{loss} == sum(D * f * dc) + sum(Z * dz)"),
        Step(
            f"{MOVE} The bias was repeated for every example, so its gradient is summed.",
            "sum(Z * dz) == sum(matmul(Z, mT(kernel)) * dinputs) + "
            "sum(matmul(mT(inputs), Z) * dkernel) + sum(matmul(Z, mT(recurrent_kernel)) * dh) + "
            "sum(matmul(mT(h), Z) * drecurrent_kernel) + sum(sum(Z, 0) * dbias)",
        ),
    )


def _lstm_build(tf: Any, tensors: list[Any], _: Any) -> Any:
    x, h, c, kernel, recurrent, bias = tensors
    i, f, g, o = tf.split(tf.matmul(x, kernel) + tf.matmul(h, recurrent) + bias, 4, -1)
    new = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(new), new


def _lstm_forward(call: Call) -> str:
    cell = _Lstm(call)
    return f"[{cell.o} * {cell.t}, {cell.c}]"


def _state(call: Call) -> Shape:
    state_size(call, 4)
    return call.shapes["h"]


OPS = (
    Op(
        name="lstm_cell",
        tf="tf.keras.layers.LSTMCell",
        is_part=True,
        family="nn",
        summary="H, C = the next state of an LSTM, from h and c",
        inputs=(
            Parameter("inputs"),
            Parameter("h"),
            Parameter("c"),
            Parameter("kernel"),
            Parameter("recurrent_kernel"),
            Parameter("bias"),
        ),
        formula=_lstm_formula,
        forward=_lstm_forward,
        tangent=_lstm_tangent,
        derivation=_lstm_derivation,
        shape=_state,
        shapes=lambda call: [_state(call)] * 2,
        outputs=("H", "C"),
        real_only=True,
        build=_lstm_build,
        axes={
            "inputs": "bn",
            "h": "bu",
            "c": "bu",
            "kernel": "nk",
            "recurrent_kernel": "uk",
            "bias": "k",
            "out[0]": "bu",
            "out[1]": "bu",
        },
        symbols={
            "inputs": "x",
            "h": "h",
            "c": "c",
            "kernel": "W",
            "recurrent_kernel": "U",
            "bias": "b",
        },
        batches=CELLS_SHARE,
        example=Example(
            {
                "inputs": (2, 3),
                "h": (2, 2),
                "c": (2, 2),
                "kernel": (3, 8),
                "recurrent_kernel": (2, 8),
                "bias": (8,),
            }
        ),
        related=("gru_cell", "sigmoid", "tanh", "matmul"),
        pitfalls=(
            "The new c goes into the new h as well: its gradient has two parts.",
            "The order of the gates in the kernels is a convention: here it is let in, kept, "
            "new, let out.",
        ),
    ),
)
