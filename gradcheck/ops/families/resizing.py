"""Images made larger and smaller: every place takes from others with fixed weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.declaration import Example, Op, Parameter, Step
from gradcheck.ops.rules import counts, only
from gradcheck.ops.seen import Seen

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Derivation, Formulas

_EACH = "The first of four axes is the batch, the last the channels: neither mixes."


def _size(call: Call) -> tuple[int, int]:
    size = counts(call.args["size"], "size")
    if len(size) != 2 or not all(size):
        raise ShapeError(f"size is a list of a height and a width, not {call.args['size']!r}")
    return size[0], size[1]


def _resized(call: Call) -> Shape:
    shape = only(call)
    if len(shape) not in (3, 4) or not all(shape):
        raise ShapeError(f"images {list(shape)} need rank 3 or 4: height, width, channels")
    return (*shape[:-3], *_size(call), shape[-1])


def _weights(call: Call, kind: str) -> tuple[str, str]:
    """Those of the rows and those of the columns."""
    (height, width), (rows, columns) = _size(call), only(call)[-3:-1]
    return f"{kind}_weights({height}, {rows})", f"{kind}_weights({width}, {columns})"


def _summed(call: Call, x: str, rows: str, columns: str) -> str:
    n = "n" * (len(only(call)) == 4)
    return f"einsum('ip,jq,{n}pqc->{n}ijc', {rows}, {columns}, {x})"


def _back(call: Call, x: str, rows: str, columns: str) -> str:
    n = "n" * (len(only(call)) == 4)
    return f"einsum('ip,jq,{n}ijc->{n}pqc', {rows}, {columns}, {x})"


def _axes(call: Call) -> dict[str, str]:
    n = "n" * (len(only(call)) == 4)
    return {"images": f"{n}pqc", "out": f"{n}ijc"}


def _declare(
    name: str, kind: str, summary: str, mistakes: tuple[str, ...], told: str, **more: Any
) -> Op:
    def formula(call: Call) -> Formulas:
        return {"images": _back(call, "G", *_weights(call, kind))}

    def derivation(call: Call) -> Derivation:
        rows, columns = _weights(call, kind)
        return (
            Step(told, f"R := {rows}"),
            Step("", f"C := {columns}"),
            Step("", f"out == {_summed(call, 'images', 'R', 'C')}"),
            Step(
                "R and C depend on the sizes alone, so",
                f"dout == {_summed(call, 'dimages', 'R', 'C')}",
            ),
            Step(
                "The loss changes by the inner product of G with dy. Beside the change of a place "
                "of x stands the G of every place that took from it, with the same weights.",
                f"sum(G * dout) == sum({_back(call, 'G', 'R', 'C')} * dimages)",
            ),
        )

    return Op(
        name=name,
        tf="tf.image.resize",
        family="image",
        summary=summary,
        inputs=(Parameter("images"),),
        formula=formula,
        forward=lambda call: _summed(call, "images", *_weights(call, kind)),
        tangent=lambda call: _summed(call, "dimages", *_weights(call, kind)),
        derivation=derivation,
        shape=_resized,
        real_only=True,
        required=("size",),
        axes=_axes,
        batches=_EACH,
        example=Example({"images": (1, 2, 3, 1)}, {"size": [4, 3]}),
        related=("resize_nearest" if kind == "linear" else "resize", "avg_pool2d", "matmul"),
        pitfalls=mistakes,
        **more,
    )


def _nearest(tf: Any, tensors: list[Any], args: Any) -> Any:
    return tf.image.resize(tensors[0], args["size"], method="nearest")


def _linear_code(call: Call) -> dict[str, str]:
    x, upstream, tail = _as_four(call)
    return {
        "images": f"tf.raw_ops.ResizeBilinearGrad(grads={upstream}, original_image={x}, "
        f"half_pixel_centers=True){tail}"
    }


def _nearest_code(call: Call) -> dict[str, str]:
    _, upstream, tail = _as_four(call)
    return {
        "images": f"tf.raw_ops.ResizeNearestNeighborGrad(grads={upstream}, "
        f"size={list(only(call)[-3:-1])}, half_pixel_centers=True){tail}"
    }


def _as_four(call: Call) -> tuple[str, str, str]:
    if len(only(call)) == 4:
        return "images", "G", ""
    return "images[None]", "G[None]", "[0]"


_EXAMPLE_IMAGE = [[[1.0], [2.0]]]

OPS = (
    _declare(
        "resize",
        "linear",
        "y = x in another size, by straight lines between its places",
        (
            "Made larger, x gets more gradient than one G for each place: where the image doubles "
            "in both directions each gets that of four places.",
            "Made smaller without antialiasing, only the places next to the sampled ones are "
            "looked at; all others get 0.",
            Seen(
                "Whatever the dtype of the image, TensorFlow gives float32.",
                {"images": _EXAMPLE_IMAGE},
                out=[[[1.0], [1.25], [1.75], [2.0]]],
                args={"size": [1, 4]},
            ),
        ),
        "Row i of R holds the weights with which row i of y takes from the rows of x: place i lies "
        "at (i + 1/2)·n/m - 1/2 among n rows, if y has m of them, and takes from the two rows "
        "around it, from the nearer one more. At the edge both are one. C does the same for the "
        "columns.",
        code=_linear_code,
        float32_only=True,
    ),
    _declare(
        "resize_nearest",
        "nearest",
        "y = x in another size, each place a copy of the nearest one",
        (
            "Each element of y is a copy, so G is summed over all copies of an element, and an "
            "element that was not copied gets 0.",
            "By the size there is no gradient: it moves places in jumps.",
        ),
        "Row i of R holds a 1 at the one row of x from which row i of y takes, the one in which "
        "(i + 1/2)·n/m lies among n rows, if y has m of them; C does the same for the columns.",
        code=_nearest_code,
        build=_nearest,
        is_part=True,
    ),
)
