"""A GRU cell: a step in time as one op, its gradient by all that goes in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.factories.cells import CELLS_SHARE, state_size, with_name
from gradcheck.ops.sentences import MOVE

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas


def _units(call: Call) -> int:
    """The size of the state; ShapeError where one of the arrays does not fit."""
    return state_size(call, 3)


class _Gru:
    """The parts of a GRU cell as text, written out for one call."""

    def __init__(self, call: Call) -> None:
        n = _units(call)
        self.both = f"part(recurrent_kernel, -1, 0, {2 * n})"
        self.last = f"part(recurrent_kernel, -1, {2 * n}, {n})"
        self.a = "(matmul(inputs, kernel) + bias)"
        self.s = f"sigmoid(part({self.a}, -1, 0, {2 * n}) + matmul(h, {self.both}))"
        self.z, self.r = (f"part({self.s}, -1, {k * n}, {n})" for k in (0, 1))
        self.g = f"tanh(part({self.a}, -1, {2 * n}, {n}) + matmul({self.r} * h, {self.last}))"
        self.e = f"(G * (1 - {self.z}) * (1 - square({self.g})))"
        self.f = f"matmul({self.e}, mT({self.last}))"
        self.s_back = self.back(self.s, self.g, self.f)

    @staticmethod
    def back(s: str, g: str, f: str) -> str:
        return f"(concatenate([G * (h - {g}), {f} * h], -1) * {s} * (1 - {s}))"


def _formula(call: Call) -> Formulas:
    cell = _Gru(call)
    total = f"concatenate([{cell.s_back}, {cell.e}], -1)"
    return {
        "inputs": f"matmul({total}, mT(kernel))",
        "h": f"G * {cell.z} + {cell.f} * {cell.r} + matmul({cell.s_back}, mT({cell.both}))",
        "kernel": f"matmul(mT(inputs), {total})",
        "recurrent_kernel": f"concatenate([matmul(mT(h), {cell.s_back}), "
        f"matmul(mT({cell.r} * h), {cell.e})], -1)",
        "bias": f"sum({total}, 0)",
    }


def _moved(call: Call) -> tuple[str, str, str, str]:
    """How a, s, g and H change, as text over the names of the derivation."""
    n = _units(call)
    da = "matmul(dinputs, kernel) + matmul(inputs, dkernel) + dbias"
    ds = (
        f"s * (1 - s) * (part(da, -1, 0, {2 * n}) + matmul(dh, P) + "
        f"matmul(h, part(drecurrent_kernel, -1, 0, {2 * n})))"
    )
    dg = (
        f"(1 - square(g)) * (part(da, -1, {2 * n}, {n}) + "
        f"matmul(part(ds, -1, {n}, {n}) * h + r * dh, Q) + "
        f"matmul(r * h, part(drecurrent_kernel, -1, {2 * n}, {n})))"
    )
    return da, ds, dg, f"part(ds, -1, 0, {n}) * (h - g) + z * dh + (1 - z) * dg"


def _tangent(call: Call) -> str:
    cell = _Gru(call)
    da, ds, dg, found = _moved(call)
    for name, value in (("dg", f"({dg})"), ("ds", f"({ds})"), ("da", f"({da})")):
        found = with_name(found, name, value)
    for name, value in (("P", cell.both), ("Q", cell.last), ("z", cell.z), ("r", cell.r)):
        found = with_name(found, name, value)
    return with_name(with_name(found, "g", cell.g), "s", cell.s)


def _derivation(call: Call) -> Derivation:
    n = _units(call)
    da, ds, dg, dh = _moved(call)
    cell = _Gru(call)
    return (
        Step(
            "Two gates see the state as it is, and the new values see it gated.",
            f"P := {cell.both}",
        ),
        Step("", f"Q := {cell.last}"),
        Step("", "a := matmul(inputs, kernel) + bias"),
        Step("", f"s := sigmoid(part(a, -1, 0, {2 * n}) + matmul(h, P))"),
        Step("What is kept, and what the new values see:", f"z := part(s, -1, 0, {n})"),
        Step("", f"r := part(s, -1, {n}, {n})"),
        Step("", f"g := tanh(part(a, -1, {2 * n}, {n}) + matmul(r * h, Q))"),
        Step("The next state is a mixture of the old and the new.", "out == z * h + (1 - z) * g"),
        Step(
            "All of it moves by the product rule; a sigmoid s has the slope s·(1 - s), tanh the "
            "slope one less its square.",
            f"da := {da}",
        ),
        Step("", f"ds := {ds}"),
        Step("", f"dg := {dg}"),
        Step("", f"dout == {dh}"),
        Step(
            "The loss changes by the inner product of G with dH. Beside what tanh is taken of "
            "stands E; it goes on through Q to the gated state, as F.",
            "E := G * (1 - z) * (1 - square(g))",
        ),
        Step("", "F := matmul(E, mT(Q))"),
        Step(
            "Beside what the sigmoid is taken of stands, for both gates, B: the first moves the "
            "mixture, the second the gated state.",
            f"B := {_Gru.back('s', 'g', 'F')}",
        ),
        Step("", "Z := concatenate([B, E], -1)"),
        Step(
            f"{MOVE} The old state is reached in three ways: it is kept, it is gated, and the "
            "gates see it.",
            "sum(G * dout) == sum(Z * da) + sum((G * z + F * r + matmul(B, mT(P))) * dh) + "
            "sum(concatenate([matmul(mT(h), B), matmul(mT(r * h), E)], -1) * drecurrent_kernel)",
        ),
        Step(
            "",
            "sum(Z * da) == sum(matmul(Z, mT(kernel)) * dinputs) + "
            "sum(matmul(mT(inputs), Z) * dkernel) + sum(sum(Z, 0) * dbias)",
        ),
    )


def _build(tf: Any, tensors: list[Any], _: Any) -> Any:
    x, h, kernel, recurrent, bias = tensors
    n = h.shape[1]
    a = tf.matmul(x, kernel) + bias
    s = tf.sigmoid(a[:, : 2 * n] + tf.matmul(h, recurrent[:, : 2 * n]))
    z, r = s[:, :n], s[:, n:]
    g = tf.tanh(a[:, 2 * n :] + tf.matmul(r * h, recurrent[:, 2 * n :]))
    return z * h + (1 - z) * g


def _shape(call: Call) -> Shape:
    _units(call)
    return call.shapes["h"]


OPS = (
    Op(
        name="gru_cell",
        tf="tf.keras.layers.GRUCell",
        is_part=True,
        family="nn",
        summary="H = the next state of a GRU, from h",
        inputs=(
            Parameter("inputs"),
            Parameter("h"),
            Parameter("kernel"),
            Parameter("recurrent_kernel"),
            Parameter("bias"),
        ),
        formula=_formula,
        forward=lambda call: f"{_Gru(call).z} * h + (1 - {_Gru(call).z}) * {_Gru(call).g}",
        tangent=_tangent,
        derivation=_derivation,
        shape=_shape,
        real_only=True,
        build=_build,
        axes={
            "inputs": "bn",
            "h": "bu",
            "kernel": "nk",
            "recurrent_kernel": "uk",
            "bias": "k",
            "out": "bu",
        },
        symbols={
            "inputs": "x",
            "h": "h",
            "kernel": "W",
            "recurrent_kernel": "U",
            "bias": "b",
            "out": "H",
        },
        batches=CELLS_SHARE,
        example=Example(
            {
                "inputs": (2, 3),
                "h": (2, 2),
                "kernel": (3, 6),
                "recurrent_kernel": (2, 6),
                "bias": (6,),
            }
        ),
        related=("lstm_cell", "sigmoid", "tanh", "matmul"),
        pitfalls=(
            "The old state has three ways to the new one, and its gradient three terms.",
            "The gate r acts before the product with U here; cells that gate after it have another "
            "gradient.",
        ),
    ),
)
