"""Convolutions: filters that slide over signals and images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter
from gradcheck.ops.rules import per_axis, window_places

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


@dataclass(frozen=True, slots=True)
class _Convolution:
    """What a declaration says of a convolution over so many axes of space."""

    rank: int
    places: str
    """The letters of the output's axes of space in an einsum."""
    inner: str
    """The letters of the filter's axes of space."""
    stride: str
    """TensorFlow's name of the argument."""

    def steps(self, call: Call) -> Shape:
        """The stride along each axis of space."""
        given = call.args[self.stride]
        if self.rank == 3:
            # TensorFlow wants five numbers here, and ones at both ends.
            given = per_axis(given, 5, self.stride)
            if given[0] != 1 or given[-1] != 1:
                raise ShapeError(f"{self.stride} begins and ends with 1, got {list(given)}")
            given = list(given[1:-1])
        return per_axis(given, self.rank, self.stride)

    def shape(self, call: Call) -> Shape:
        x, filters = call.shapes["input"], call.shapes["filters"]
        rank = self.rank
        if len(x) != rank + 2 or len(filters) != rank + 2:
            raise ShapeError(f"input {list(x)} and filters {list(filters)} need rank {rank + 2}")
        if x[-1] != filters[-2]:
            raise ShapeError(f"input has {x[-1]} channels, but filters take {filters[-2]}")
        steps = list(self.steps(call))
        places = window_places(call, "input", filters[:rank], steps, self.stride)
        return (x[0], *places, filters[-1])

    def forward(self, call: Call) -> str:
        place, inner = self.places, self.inner
        windows = f"windows(input, {self._window(call)})"
        return f"einsum('n{place}{inner}c,{inner}cd->n{place}d', {windows}, filters)"

    def formula(self, call: Call) -> dict[str, str]:
        place, inner, window = self.places, self.inner, self._window(call)
        back = f"einsum('n{place}d,{inner}cd->n{place}{inner}c', G, filters)"
        windows = f"windows(input, {window})"
        return {
            "input": f"unwindows({back}, input, {window})",
            "filters": f"einsum('n{place}{inner}c,n{place}d->{inner}cd', {windows}, G)",
        }

    def _window(self, call: Call) -> str:
        """The arguments of `windows` after the array: its size, the strides, the padding."""
        stride = str(list(self.steps(call))) if self.rank == 3 else self.stride
        return f"{list(call.shapes['filters'][: self.rank])}, {stride}, padding"

    def code(self, call: Call) -> dict[str, str]:
        padding = call.args["padding"]
        steps = [1, *self.steps(call), 1]
        x, upstream, filters = "input", "G", "filters"
        if self.rank == 1:
            # TensorFlow itself takes a signal for an image of height one.
            x, upstream, filters = "input[:, None]", "G[:, None]", "filters[None]"
            steps.insert(1, 1)
        tail = f"out_backprop={upstream}, strides={steps}, padding={padding!r})"
        kind, version = (f"{max(self.rank, 2)}D", "V2" if self.rank == 3 else "")
        back = (
            f"tf.raw_ops.Conv{kind}BackpropInput{version}(input_sizes=tf.shape({x}), "
            f"filter={filters}, {tail}"
        )
        kernel = (
            f"tf.raw_ops.Conv{kind}BackpropFilter{version}(input={x}, "
            f"filter_sizes=tf.shape({filters}), {tail}"
        )
        if self.rank == 1:
            back, kernel = f"{back}[:, 0]", f"{kernel}[0]"
        return {"input": back, "filters": kernel}


def _declare(convolution: _Convolution, example: Example) -> Op:
    rank = convolution.rank
    return Op(
        name=f"conv{rank}d",
        tf=f"tf.nn.conv{rank}d",
        family="nn",
        summary="y = the filters' answer at each place of x",
        inputs=(Parameter("input"), Parameter("filters")),
        formula=convolution.formula,
        forward=convolution.forward,
        code=convolution.code,
        shape=convolution.shape,
        required=(convolution.stride, "padding"),
        symbols={"input": "x", "filters": "K"},
        batches="The first axis is the batch: examples do not mix. What they share, the filters, "
        "gets the sum over all of them.",
        example=example,
        related=(
            "conv1d" if rank == 2 else "conv2d",
            "matmul",
            f"avg_pool{min(rank, 2)}d",
            "bias_add",
        ),
        pitfalls=(
            "The gradient of x is a convolution with the filters flipped, since it adds up "
            "overlaps.",
            "The filters are not flipped on the way forward: strictly it is a correlation.",
            "With a stride, places that no window meets get 0; with SAME the padding differs at "
            "the two ends.",
        ),
    )


OPS = (
    _declare(
        _Convolution(1, places="w", inner="a", stride="stride"),
        Example({"input": (2, 4, 2), "filters": (2, 2, 3)}, {"stride": 1, "padding": "VALID"}),
    ),
    _declare(
        _Convolution(2, places="hw", inner="ab", stride="strides"),
        Example(
            {"input": (2, 4, 4, 2), "filters": (2, 2, 2, 3)}, {"strides": 1, "padding": "VALID"}
        ),
    ),
    _declare(
        _Convolution(3, places="uhw", inner="abe", stride="strides"),
        Example(
            {"input": (1, 3, 3, 3, 1), "filters": (2, 2, 2, 1, 2)},
            {"strides": [1, 1, 1, 1, 1], "padding": "VALID"},
        ),
    ),
)
