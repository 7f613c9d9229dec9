"""Convolutions that go the other way, from few places to many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.language.windows import output_sizes
from gradcheck.ops.rules import counts, per_axis

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation


_BATCHES = (
    "The first axis is the batch: examples do not mix. What they share, the filters, gets the sum "
    "over all of them."
)


_SYMBOLS = {"input": "x", "filters": "K", "filter": "K"}


def _padded(call: Call) -> str:
    padding = call.args["padding"]
    if padding not in ("SAME", "VALID"):
        raise ShapeError(f"padding is 'SAME' or 'VALID', not {padding!r}")
    return str(padding)


@dataclass(frozen=True, slots=True)
class _Transposed:
    """A transposed convolution over so many axes of space."""

    rank: int
    places: str
    inner: str

    def steps(self, call: Call) -> Shape:
        return per_axis(call.args["strides"], self.rank, "strides")

    def shape(self, call: Call) -> Shape:
        x, filters, rank = call.shapes["input"], call.shapes["filters"], self.rank
        target = tuple(counts(call.args["output_shape"], "output_shape"))
        if not len(x) == len(filters) == len(target) == rank + 2:
            raise ShapeError(
                f"input {list(x)}, filters {list(filters)} and output_shape {list(target)} need "
                f"rank {rank + 2}"
            )
        if x[-1] != filters[-1] or target[-1] != filters[-2] or target[0] != x[0]:
            raise ShapeError(
                f"filters {list(filters)} take {filters[-1]} channels and give {filters[-2]}: "
                f"input {list(x)} or output_shape {list(target)} does not fit"
            )
        window, steps = filters[:rank], self.steps(call)
        places = output_sizes(target[1:-1], window, steps, _padded(call))[0]
        if places != x[1:-1]:
            raise ShapeError(
                f"a convolution of output_shape {list(target)} gives {list(places)} places, but "
                f"input has {list(x[1:-1])}"
            )
        return target

    def forward(self, call: Call) -> str:
        return f"unwindows({self._spread('input', 'filters')}, {self._window(call)})"

    def tangent(self, call: Call) -> str:
        moved = f"{self._spread('dinput', 'filters')} + {self._spread('input', 'dfilters')}"
        return f"unwindows({moved}, {self._window(call)})"

    def formula(self, call: Call) -> dict[str, str]:
        place, inner = self.places, self.inner
        seen = self._seen(call)
        return {
            "input": f"einsum('n{place}{inner}d,{inner}dc->n{place}c', {seen}, filters)",
            "filters": f"einsum('n{place}{inner}d,n{place}c->{inner}dc', {seen}, input)",
        }

    def _spread(self, x: str, filters: str) -> str:
        place, inner = self.places, self.inner
        return f"einsum('n{place}c,{inner}dc->n{place}{inner}d', {x}, {filters})"

    def _sizes(self, call: Call) -> str:
        size = list(call.shapes["filters"][: self.rank])
        return f"{size}, {list(self.steps(call))}, padding"

    def _window(self, call: Call) -> str:
        return f"zeros({list(call.args['output_shape'])}), {self._sizes(call)}"

    def _seen(self, call: Call) -> str:
        return f"windows(G, {self._sizes(call)})"

    def derivation(self, call: Call) -> Derivation:
        formulas = self.formula(call)
        return (
            Step(
                "Each element of x is multiplied by a whole filter, which gives a window of "
                "values; unwindows lays the windows down where they belong and adds up what "
                "overlaps.",
                f"V := {self._spread('input', 'filters')}",
            ),
            Step("", f"out == unwindows(V, {self._window(call)})"),
            Step(
                "Both are linear: by the product rule",
                f"dV := {self._spread('dinput', 'filters')} + {self._spread('input', 'dfilters')}",
            ),
            Step("", f"dout == unwindows(dV, {self._window(call)})"),
            Step(
                "The loss changes by the inner product of G with dy. What was laid down at a place "
                "of y is multiplied by the G there: beside each window of dV stands the window of "
                "G at the same place.",
                f"W := {self._seen(call)}",
            ),
            Step("", "sum(G * dout) == sum(W * dV)"),
            Step(
                "Gather what stands beside dx and beside dK: by x it is a convolution of G with "
                "the filters, without the transposition.",
                f"sum(G * dout) == sum({formulas['input']} * dinput) + "
                f"sum({formulas['filters']} * dfilters)",
            ),
        )

    def code(self, call: Call) -> dict[str, str]:
        steps, padding = list(self.steps(call)), _padded(call)
        full = [1, *steps, 1]
        if self.rank == 1:
            back = (
                "tf.raw_ops.Conv2DBackpropFilter(input=G[:, None], filter_sizes="
                f"tf.shape(filters[None]), out_backprop=input[:, None], strides={[1, *full]}, "
                f"padding={padding!r})[0]"
            )
            return {
                "input": f"tf.nn.conv1d(G, filters, {steps[0]}, {padding!r})",
                "filters": back,
            }
        kind, version = (f"{self.rank}D", "V2" if self.rank == 3 else "")
        return {
            "input": f"tf.nn.conv{self.rank}d(G, filters, {full}, {padding!r})",
            "filters": f"tf.raw_ops.Conv{kind}BackpropFilter{version}(input=G, "
            "filter_sizes=tf.shape(filters), out_backprop=input, "
            f"strides={full}, padding={padding!r})",
        }


def _declare(transposed: _Transposed, example: Example) -> Op:
    rank = transposed.rank
    return Op(
        name=f"conv{rank}d_transpose",
        tf=f"tf.nn.conv{rank}d_transpose",
        family="nn",
        summary="y = each x times a whole filter, laid down and added up",
        inputs=(Parameter("input"), Parameter("filters")),
        formula=transposed.formula,
        forward=transposed.forward,
        tangent=transposed.tangent,
        code=transposed.code,
        derivation=transposed.derivation,
        shape=transposed.shape,
        required=("output_shape", "strides"),
        args={"padding": "SAME"},
        symbols=_SYMBOLS,
        axes={
            "input": f"n{transposed.places}c",
            "filters": f"{transposed.inner}dc",
            "out": f"n{'pqr'[:rank]}d",
        },
        batches=_BATCHES,
        example=example,
        related=(f"conv{rank}d", "matmul", "bias_add"),
        pitfalls=(
            "Its gradient by x is the plain convolution, and its forward the gradient of one.",
            "The filters have the channels of the output before those of the input, the other way "
            "round than in a convolution.",
        ),
    )


OPS = (
    _declare(
        _Transposed(1, places="w", inner="a"),
        Example(
            {"input": (2, 3, 2), "filters": (2, 3, 2)}, {"output_shape": [2, 6, 3], "strides": 2}
        ),
    ),
    _declare(
        _Transposed(2, places="hw", inner="ab"),
        Example(
            {"input": (1, 2, 2, 2), "filters": (2, 2, 3, 2)},
            {"output_shape": [1, 4, 4, 3], "strides": 2},
        ),
    ),
    _declare(
        _Transposed(3, places="uhw", inner="abe"),
        Example(
            {"input": (1, 2, 2, 2, 1), "filters": (2, 2, 2, 2, 1)},
            {"output_shape": [1, 3, 3, 3, 2], "strides": 1, "padding": "VALID"},
        ),
    ),
)
