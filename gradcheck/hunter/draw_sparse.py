"""Sparse tensors as kernels take them: places, values and a shape that belong together.

Drawn one by one they never fit, and no call of a sparse kernel would work: without this
`test_sparse_kernels_are_called` fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.hunter.drafts import tensor
from gradcheck.hunter.draw_values import values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gradcheck.hunter.promised import Triple
    from gradcheck.hunter.signatures import Slot
    from gradcheck.model import Shape

_SHAPES: tuple[Shape, ...] = ((3,), (2, 2), (3, 3), (2, 3), (3, 2), (1, 3), (2, 3, 2))
_WHOLE = ("int8", "uint8", "int16", "int32", "int64")
_LIKE_IT = 0.7
"""How often another tensor of the call has the shape of the sparse one."""


def sparse_inputs(
    found: Sequence[Triple],
    slots: Mapping[str, Slot],
    sizes: dict[str, Shape],
    dtype: str,
    rng: np.random.Generator,
    *,
    special: bool,
    length: int,
) -> dict[str, Any]:
    """The entries of all their parameters; as a rule others, in `sizes`, get their shape."""
    shape = _SHAPES[int(rng.integers(len(_SHAPES)))]
    inputs: dict[str, Any] = {}
    for triple in found:
        listed = bool(slots[triple.places].number)
        own_dtype = slots[triple.values].dtype or dtype
        count = length if listed else 1
        drawn = [_drawn(shape, own_dtype, rng, special=special) for _ in range(count)]
        for name, entries in zip(
            (triple.places, triple.values, triple.shape), zip(*drawn, strict=True), strict=True
        ):
            own = slots[name].dtype
            each = [entry if own is None else {**entry, "dtype": own} for entry in entries]
            inputs[name] = {"list": each} if listed else each[0]
    for name in _others(sizes, inputs):
        if rng.random() < _LIKE_IT:
            sizes[name] = shape
    return inputs


def _others(sizes: Mapping[str, Shape], taken: Mapping[str, Any]) -> Iterator[str]:
    return (name for name in list(sizes) if name not in taken)


def _drawn(
    shape: Shape, dtype: str, rng: np.random.Generator, *, special: bool
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Places in their order, each once, values for them, and the shape."""
    size = int(np.prod(shape))
    count = int(rng.integers(0 if special else 1, min(size, 4) + 1))
    chosen = np.sort(rng.permutation(size)[:count])
    places = np.stack(np.unravel_index(chosen, shape), axis=-1).astype(np.int64)
    if dtype in _WHOLE:
        drawn = rng.integers(0, 3, size=count)
    else:
        _, drawn = values(rng, (count,), dtype, special=special)
    return tensor(places), tensor(drawn), tensor(np.array(shape, dtype=np.int64))
