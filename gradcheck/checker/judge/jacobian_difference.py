"""Two Jacobians element by element, and whether one is that of a map of the leading axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import tolerances
from gradcheck.checker.judge.figures import place
from gradcheck.checker.numerics.vectors import epsilon_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.model import Array, Scalar, Shape

    Blocks = Sequence[Sequence[Array | None]]


@dataclass(frozen=True)
class Differing:
    """Where a Jacobian differs most from the one that was assembled row by row."""

    output: int
    """Which output."""
    position: int
    """Which input."""
    row: tuple[int, ...]
    """The index in the output."""
    index: tuple[int, ...]
    """The index in the input."""
    made: Scalar
    by_row: Scalar
    elements: int
    """How many of the block differ."""

    def told(self, name: str, *, only_output: bool) -> str:
        """The element and what it is, in words."""
        output = "the output" if only_output else f"output {self.output}"
        which = f"{output} at {place(self.row)}" if self.row else output
        return (
            f"the derivative of {which} by {name} at {place(self.index)} is {self.made:.6g}, and "
            f"{self.by_row:.6g} row by row ({self.elements} "
            f"{'element differs' if self.elements == 1 else 'elements differ'})"
        )


def misshapen(made: Blocks, rows: Blocks) -> dict[int, str]:
    """By the position of an input: that its block is of another shape or dtype than row by row.

    What is compiled without pfor has rows of the input's dtype in an array of the output's, and
    numbers that are made of their bytes and of what lies behind them. Without it
    `test_a_jacobian_with_rows_that_the_output_has_not` and
    `test_a_jacobian_whose_bytes_are_taken_for_others` fail.
    """
    return {
        i: _unlike(block, by_row)
        for ours, theirs in zip(made, rows, strict=True)
        for i, (block, by_row) in enumerate(zip(ours, theirs, strict=True))
        if block is not None and by_row is not None and _unlike(block, by_row)
    }


def _unlike(block: Array, by_row: Array) -> str:
    if block.shape != by_row.shape:
        return f"the Jacobian has shape {list(block.shape)}, and {list(by_row.shape)} row by row"
    if block.dtype != by_row.dtype:
        return (
            f"its rows are {by_row.dtype} and stand in an array of {block.dtype}, the dtype of the "
            "output: their bytes are taken for other numbers"
        )
    return ""


def largest_difference(made: Blocks, rows: Blocks, shapes: Sequence[Shape]) -> Differing | None:
    """Where two Jacobians differ by more than rounding, and most; None if nowhere.

    Rounding is relative to the largest derivative by the same element of the input. It decides
    nothing but whether to look closer.

    Args:
        made: by output and input.
        rows: the one that was assembled row by row.
        shapes: of the outputs.
    """
    worst: Differing | None = None
    most = 0.0
    for k, (ours, theirs) in enumerate(zip(made, rows, strict=True)):
        for i, (block, by_row) in enumerate(zip(ours, theirs, strict=True)):
            if block is None and by_row is None:
                continue
            found = _difference(block, by_row, len(shapes[k]), (k, i))
            if found is not None and found[0] > most:
                most, worst = found
    return worst


def _difference(
    block: Array | None, by_row: Array | None, rank: int, which: tuple[int, int]
) -> tuple[float, Differing] | None:
    """The largest difference of two blocks against rounding, and where; None if there is none."""
    one, other = _filled(block, by_row), _filled(by_row, block)
    if one.shape != other.shape:
        # (That is told by itself: see `misshapen`.)
        return None
    epsilon = max(epsilon_of(each.real.dtype) for each in (one, other))
    left, right = (a.astype(np.complex128) for a in (one, other))
    with np.errstate(all="ignore"):
        same = (left == right) | (np.isnan(left) & np.isnan(right))
        off = np.where(same, 0.0, np.nan_to_num(np.abs(left - right), nan=np.inf))
        sizes = np.maximum(np.abs(left), np.abs(right))
        sizes = np.where(np.isfinite(sizes), sizes, 0.0)
        column = sizes.max(axis=tuple(range(rank)), keepdims=True, initial=0.0)
        # (Of a column of zeros whatever is none differs.)
        rounding = tolerances.ARITHMETIC * epsilon / epsilon_of(np.dtype(np.float64)) * column
        share = np.where(off > rounding, off / np.where(rounding > 0, rounding, 1.0), 0.0)
    if not share.any():
        return None
    at = tuple(int(n) for n in np.unravel_index(int(np.argmax(off * (share > 0))), off.shape))
    told = one[at].item(), other[at].item()
    return float(share[at]), Differing(
        *which, at[:rank], at[rank:], *told, int(np.count_nonzero(share))
    )


def _filled(block: Array | None, like: Array | None) -> Array:
    """A block; zeros like the other one where it is missing."""
    return np.zeros_like(like) if block is None else block


def why_no_map(shape: Shape, block: Array | None) -> str:
    """Why a block is not that of a map of the leading axis; empty if it is.

    Args:
        shape: of the output.
        block: its derivatives by one input.
    """
    if block is None:
        return "the output does not depend on it"
    inner = block.shape[len(shape) :]
    if len(shape) < 2 or len(inner) < 2:
        return "it takes an input and an output of two axes or more"
    if shape[0] != inner[0] or not block.size:
        return f"the output has {shape[0]} rows, and the input {inner[0]}"
    by_rows = np.moveaxis(block, len(shape), 1).reshape(shape[0], inner[0], -1)
    # (What is NaN is not zero.)
    depends = (by_rows != 0).any(axis=2) & ~np.eye(shape[0], dtype=bool)
    if not depends.any():
        return ""
    row, other = (int(n) for n in np.argwhere(depends)[0])
    return f"row {row} of the output depends on row {other} of the input"
