"""The shape rules that several families share; each raises ShapeError in a user's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.errors import ShapeError
from gradcheck.ops.language.windows import output_sizes

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def broadcast(shapes: list[Shape]) -> Shape:
    """The shape that all of them broadcast to."""
    result: Shape = ()
    for shape in shapes:
        result = _broadcast_two(result, shape)
    return result


def _broadcast_two(left: Shape, right: Shape) -> Shape:
    rank = max(len(left), len(right))
    sizes = []
    for axis in range(-rank, 0):
        a = left[axis] if -axis <= len(left) else 1
        b = right[axis] if -axis <= len(right) else 1
        if a != b and 1 not in (a, b):
            raise ShapeError(
                f"shapes {list(left)} and {list(right)} do not broadcast: "
                f"axis {axis} is {a} against {b}"
            )
        sizes.append(b if a == 1 else a)
    return tuple(sizes)


def broadcast_call(call: Call) -> Shape:
    """The rule of every elementwise op: all inputs broadcast."""
    return broadcast(list(call.shapes.values()))


def equal_call(call: Call) -> Shape:
    """The rule of an elementwise op that does not broadcast: all inputs have one shape."""
    (first, shape), *others = call.shapes.items()
    for name, other in others:
        if other != shape:
            raise ShapeError(
                f"{first} {list(shape)} and {name} {list(other)} must have the same shape: this op "
                "does not broadcast"
            )
    return shape


def whole(value: Any, name: str) -> int:
    """The argument as a whole number."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ShapeError(f"{name} is a whole number, not {value!r}")
    return value


def wholes(value: Any, name: str) -> list[int]:
    """The argument as a list of whole numbers."""
    if not isinstance(value, list | tuple):
        raise ShapeError(f"{name} is a list of whole numbers, not {value!r}")
    return [whole(item, name) for item in value]


def counts(value: Any, name: str) -> list[int]:
    """The argument as a list of whole numbers of which none is negative."""
    found = wholes(value, name)
    if any(item < 0 for item in found):
        raise ShapeError(f"{name} is a list of numbers that are not negative, not {value!r}")
    return found


def flag(call: Call, name: str) -> bool:
    """The argument as a boolean."""
    value = call.args[name]
    if not isinstance(value, bool):
        raise ShapeError(f"{name} is true or false, not {value!r}")
    return value


def one_axis(value: Any, rank: int, name: str = "axis") -> int:
    """The axis counted from the front."""
    axis = whole(value, name)
    if rank == 0:
        raise ShapeError(f"{name} is {axis}, but a scalar has no axes")
    if not -rank <= axis < rank:
        raise ShapeError(
            f"{name} {axis} is out of range: rank {rank} has axes {-rank} to {rank - 1}"
        )
    return axis % rank


def several_axes(value: Any, rank: int) -> tuple[int, ...]:
    """The axes that a reduction names, counted from the front; None means all."""
    if value is None:
        return tuple(range(rank))
    listed = value if isinstance(value, list | tuple) else [value]
    found = tuple(one_axis(item, rank) for item in listed)
    if len(set(found)) != len(found):
        raise ShapeError(f"axis {value!r} names an axis twice")
    return found


def only(call: Call) -> Shape:
    """The shape of the first input."""
    return next(iter(call.shapes.values()))


def matrix(call: Call) -> Shape:
    """The shape of the first input, which holds matrices in its last two axes."""
    shape = only(call)
    if len(shape) < 2:
        raise ShapeError(f"shape {list(shape)} is not one of matrices: rank 2 or more is needed")
    return shape


def square(call: Call) -> Shape:
    """The shape of the first input, which holds square matrices in its last two axes."""
    shape = only(call)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(f"shape {list(shape)} is not one of square matrices")
    return shape


def all_but_last(call: Call) -> list[int]:
    """The axes of the first input but its last one."""
    return list(range(len(only(call)) - 1))


def per_axis(value: Any, rank: int, name: str) -> Shape:
    """A size or a stride for each of so many axes, all above 0; one number stands for all."""
    listed = value if isinstance(value, list) else [value] * rank
    wanted = f"{name} is a whole number above 0 or a list of {rank}, not {value!r}"
    if len(listed) != rank:
        raise ShapeError(wanted)
    for item in listed:
        if isinstance(item, bool) or not isinstance(item, int) or item < 1:
            raise ShapeError(wanted)
    return tuple(listed)


def window_places(call: Call, name: str, window: Shape, strides: Any, strides_name: str) -> Shape:
    """How many places a window has along each axis of space of an input."""
    space = call.shapes[name][1:-1]
    steps = per_axis(strides, len(space), strides_name)
    if call.args["padding"] not in ("SAME", "VALID"):
        raise ShapeError(f"padding is 'SAME' or 'VALID', not {call.args['padding']!r}")
    places = output_sizes(space, window, steps, call.args["padding"])[0]
    if any(n < 1 for n in places):
        raise ShapeError(f"a window of {list(window)} does not fit into {list(space)}")
    return places


def signal(call: Call, rank: int = 1) -> Shape:
    """The shape of the first input, whose last axes, so many, are transformed."""
    shape = only(call)
    if len(shape) < rank or not all(shape[-rank:]):
        told = "an axis" if rank == 1 else f"{rank} axes"
        raise ShapeError(f"input {list(shape)} needs {told} with elements to transform")
    return shape
