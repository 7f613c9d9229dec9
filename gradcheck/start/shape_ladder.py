"""The shapes that are tried for the tensors of a call, the likeliest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.start.guesses import WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator

Shapes = tuple[list[int], ...]

_OF_A_FUNCTION: Shapes = ([3, 4], [2, 3, 4], [2, 5, 5, 3], [4], [], [4, 4], [1, 4, 4, 4, 2])
_OF_A_LAYER: Shapes = (
    [2, WIDTH],
    [2, 3, WIDTH],
    [2, 6, 6, WIDTH],
    [WIDTH],
    [WIDTH, WIDTH],
    [1, 4, 4, 4, WIDTH],
)
_IMAGE = [2, 6, 6, 3]

_TWO: tuple[Shapes, ...] = (
    ([3, 4], [4, 5]),
    ([3, 4], [4]),
    ([1, 5, 5, 2], [2, 2, 2, 3]),
    ([1, 5, 2], [2, 2, 3]),
    ([3, 4], []),
    ([3, 4], [3]),
    ([2, 3, 4], [2, 4, 5]),
    ([2, 3, 4], [4]),
    ([2, 3, 4], [2, 3]),
    ([4, 4], [4]),
    ([2, 4], [3, 4]),
    ([4], []),
)
_THREE: tuple[Shapes, ...] = (
    ([2, 3, 4], [2, 5, 4], [2, 5, 4]),
    ([3, 4], [4, 5], [5]),
    ([3, 4], [4], [4]),
    ([1, 5, 5, 2], [2, 2, 2, 3], [3]),
    ([3, 4], [4, 5], [4, 5]),
    ([3, 4], [], []),
    ([2, 6, 6, 3], [3], [3]),
    ([4], [], []),
)
"""Products with weights and biases, attention, scales and offsets: what people write."""


def shape_sets(count: int, *, layer: bool, image: bool) -> Iterator[Shapes]:
    """Shapes for so many tensors; all the same ones first, then those that belong together."""
    singles = list(_OF_A_LAYER if layer else _OF_A_FUNCTION)
    if image:
        singles.insert(0, _IMAGE)
    if count == 1:
        yield from ((shape,) for shape in singles)
        return
    yield from ((shape,) * count for shape in singles[:3])
    if count == 2:
        yield from _TWO
    elif count == 3:
        yield from _THREE
    else:
        for first in singles[:3]:
            yield (first, *[first[-1:]] * (count - 1))
            yield (first, *[[]] * (count - 1))
    yield from ((shape,) * count for shape in singles[3:])
