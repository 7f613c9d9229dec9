"""What an index, a reduction or a change of shape says of each axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.explainer.calculus.indices import Form, form
from gradcheck.ops.language.index_text import parse_index

if TYPE_CHECKING:
    from gradcheck.explainer.calculus.indices import Index
    from gradcheck.model import Shape

__all__ = ["axis_groups", "counted_axes", "flat_place", "index_parts", "shape_without"]


def index_parts(text: str, shape: Shape) -> list[range | int | None]:
    """What an index says of each axis: the elements it takes, the one, or None for a new axis."""
    given: Any = parse_index(text)
    listed = list(given) if isinstance(given, tuple) else [given]
    named = sum(part is not None and part is not Ellipsis for part in listed)
    if Ellipsis not in listed:
        listed.append(Ellipsis)
    found: list[range | int | None] = []
    axis = 0
    for part in listed:
        if part is Ellipsis:
            rest = len(shape) - named
            found += [range(n) for n in shape[axis : axis + rest]]
            axis += rest
        elif part is None:
            found.append(None)
        else:
            chosen = range(shape[axis])[part]
            found.append(chosen)
            axis += 1
    return found


def counted_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from the front; None means all."""
    if axis is None:
        return tuple(range(rank))
    return tuple(one % rank for one in ([axis] if isinstance(axis, int) else axis))


def shape_without(shape: Shape, gone: tuple[int, ...], keepdims: bool) -> Shape:
    """What a reduction over some axes leaves of a shape."""
    if keepdims:
        return tuple(1 if i in gone else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in gone)


def axis_groups(old: Shape, new: Shape) -> list[tuple[list[int], list[int]]]:
    """The axes of both shapes in the smallest groups that hold equally many elements."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        left: list[int] = []
        right: list[int] = []
        have, want = 1, 1
        while True:
            if have <= want and i < len(old) and (have < want or not left):
                have, i = have * old[i], i + 1
                left.append(i - 1)
            elif j < len(new) and (want < have or not right):
                want, j = want * new[j], j + 1
                right.append(j - 1)
            else:
                break
        groups.append((left, right))
    return groups


def flat_place(indices: list[Index], shape: Shape, axes: list[int]) -> Form:
    """The number of an element within a group of axes."""
    total = form(0)
    for axis in axes:
        total = total * shape[axis] + form(indices[axis])
    return total
