"""Gradients that are right except in some region: a slice, a border, a mask, one element.

Without it `test_it_is_named` fails.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.diagnose.fit import Suspects, arrays, how_well

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.judge.evidence import Evidence
    from gradcheck.model import Array, Comparison


def right_in_part(comparison: Comparison, evidence: Evidence) -> Suspects:
    """Right, except in a region that has a name."""
    analytic, numeric = arrays(comparison)
    bound = np.nan_to_num(comparison.bound) if comparison.bound is not None else 0.0
    wrong = np.abs(
        analytic - numeric
    ) > tolerances.BOUND_SAFETY * bound + tolerances.FIT * np.nanmax(np.abs(numeric))
    count, size = int(wrong.sum()), wrong.size
    if not 0 < count < size:
        return
    name = comparison.name
    rest = np.abs(analytic - numeric)[~wrong & np.isfinite(numeric)].max(initial=0.0)
    others = f"; the others agree {how_well(float(rest / np.nanmax(np.abs(numeric))))}"
    zero = " (it is zero there)" if not np.any(analytic[wrong]) else ""
    places = np.argwhere(wrong)
    if count == 1:
        yield (
            "element",
            f"only the element {places[0].tolist()} of {name} is wrong{zero}{others}",
            None,
        )
        return
    for axis in range(wrong.ndim):
        at = np.unique(places[:, axis])
        if len(at) == 1 and count <= size // 2:
            whole = count == size // wrong.shape[axis]
            text = (
                f"the gradient of {name} is right except {'' if whole else 'for parts '}"
                f"{'at' if whole else 'of'} index {at[0]} of axis {axis}{zero}{others}"
            )
            yield "slice", text, None
            return
    axes = _border(wrong)
    if axes:
        which = "axis" if len(axes) == 1 else "axes"
        listed = " and ".join(map(str, axes))
        where = f"at the border, along {which} {listed}"
        text = f"the gradient of {name} is right except {where}{zero}{others}"
        yield "border", text, None
        return
    for axis in range(wrong.ndim):
        at = np.unique(places[:, axis])
        if count == len(at) * (size // wrong.shape[axis]) and len(at) <= limits.NAMED_SLICES:
            listed = ", ".join(map(str, at[:-1])) + f" and {at[-1]}"
            text = (
                f"the gradient of {name} is right except at indices {listed} of axis {axis}"
                f"{zero}{others}"
            )
            yield "slice", text, None
            return
    condition = _condition(wrong, _value(comparison, evidence))
    if condition:
        text = f"the gradient of {name} is right except where {name} {condition}{zero}{others}"
        yield "condition", text, None
    elif zero:
        text = f"{count} elements of the gradient of {name} are zero and should not be{others}"
        yield "masked", text, None


def _value(comparison: Comparison, evidence: Evidence) -> Array:
    names = [operand.name for operand in evidence.point.moved]
    inputs = evidence.point.inputs.unflatten(evidence.point.at)
    return inputs[names.index(comparison.name)]


def _border(wrong: Array) -> Sequence[int]:
    """The axes at whose ends everything is wrong, and nothing else is."""
    candidates = [axis for axis, size in enumerate(wrong.shape) if size > 2]
    for count in range(1, len(candidates) + 1):
        for axes in combinations(candidates, count):
            border = np.zeros(wrong.shape, dtype=bool)
            for axis in axes:
                ends = np.moveaxis(border, axis, 0)
                ends[0], ends[-1] = True, True
            if (border == wrong).all():
                return axes
    return ()


def _condition(wrong: Array, value: Array) -> str:
    """What the input is where the gradient is wrong, and only there."""
    if np.iscomplexobj(value):
        return ""
    for text, holds in (("< 0", value < 0), ("> 0", value > 0)):
        enough = limits.SEVERAL <= int(holds.sum()) <= wrong.size - limits.SEVERAL
        if enough and (holds == wrong).all():
            return text
    return ""
