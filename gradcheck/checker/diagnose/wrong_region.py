"""Gradients that are right except in some region: a slice, a border, a mask, one element.

A region is believed if the gradient is wrong just there at other points too: at the point itself
an element may be right by accident, as many are where the input is zero.

Without it `test_it_is_named` fails.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.diagnose.fit import Suspect, Suspects
from gradcheck.checker.diagnose.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model import Array

Region = Callable[[View], bool]
"""Whether the gradient is wrong in the region, and nowhere else."""


def right_in_part(view: View) -> Suspects:
    """Right, except in a region that has a name."""
    wrong, name = view.wrong, view.name
    count, size = int(wrong.sum()), wrong.size
    if not 0 < count < size:
        return
    zero = " (it is zero there)" if not np.any(view.analytic[wrong]) else ""
    except_ = f"the gradient of {name} is right except"
    if count == 1:
        where = np.argwhere(wrong)[0].tolist()
        text = f"only the element {where} of {name} is wrong{zero}"
        yield _suspect("element", text, _just(wrong))
    else:
        for cause, where in (*_one_slice(wrong), *_border(wrong), *_slices(wrong)):
            yield _suspect(cause, f"{except_} {where}{zero}", _just(wrong))
    for condition, holds in _CONDITIONS.items():
        text = f"{except_} where {name} {condition}{zero}"
        yield _suspect("condition", text, _where(holds))
    if zero and count > 1:
        text = f"{count} elements of the gradient of {name} are zero and should not be"
        yield _suspect("masked", text, _is_masked)


def _suspect(cause: str, text: str, region: Region) -> Suspect:
    def fit(view: View) -> float | None:
        if not region(view):
            return None
        right = ~view.wrong & view.known
        rest = np.abs(view.analytic - view.numeric)[right].max(initial=0.0)
        return float(rest / view.largest) if view.largest else 0.0

    return Suspect(cause, text, fit, "; the others agree {}")


def _just(wrong: Array) -> Region:
    return lambda view: bool((view.wrong == wrong)[view.known].all())


def _is_masked(view: View) -> bool:
    wrong = view.wrong
    return bool(0 < wrong.sum() < wrong.size and not np.any(view.analytic[wrong]))


def _one_slice(wrong: Array) -> Iterator[tuple[str, str]]:
    """One index of an axis at which everything is wrong, or some of it."""
    places, count = np.argwhere(wrong), int(wrong.sum())
    for axis in range(wrong.ndim):
        at = np.unique(places[:, axis])
        if len(at) == 1 and 2 * count <= wrong.size:
            which = "at" if count == wrong.size // wrong.shape[axis] else "for parts of"
            yield "slice", f"{which} index {at[0]} of axis {axis}"


def _slices(wrong: Array) -> Iterator[tuple[str, str]]:
    """Several indices of an axis, if they are few: else what is right has to be explained."""
    places, count = np.argwhere(wrong), int(wrong.sum())
    for axis in range(wrong.ndim):
        at = np.unique(places[:, axis])
        whole = count == len(at) * (wrong.size // wrong.shape[axis])
        if whole and 1 < len(at) <= limits.NAMED_SLICES and 2 * count <= wrong.size:
            listed = ", ".join(map(str, at[:-1])) + f" and {at[-1]}"
            yield "slice", f"at indices {listed} of axis {axis}"


def _border(wrong: Array) -> Iterator[tuple[str, str]]:
    """The axes at whose ends everything is wrong, and nothing else is."""
    candidates = [axis for axis, size in enumerate(wrong.shape) if size > 2]
    for count in range(1, len(candidates) + 1):
        for axes in combinations(candidates, count):
            border = np.zeros(wrong.shape, dtype=bool)
            for axis in axes:
                ends = np.moveaxis(border, axis, 0)
                ends[0], ends[-1] = True, True
            if (border == wrong).all():
                which = "axis" if len(axes) == 1 else "axes"
                yield "border", f"at the border, along {which} {' and '.join(map(str, axes))}"
                return


_CONDITIONS: dict[str, Callable[[Array], Array]] = {"< 0": lambda x: x < 0, "> 0": lambda x: x > 0}


def _where(condition: Callable[[Array], Array]) -> Region:
    """Wrong where the input is so, and only there."""

    def region(view: View) -> bool:
        if np.iscomplexobj(view.value):
            return False
        holds = condition(view.value)
        return bool(0 < holds.sum() < holds.size and (holds == view.wrong)[view.known].all())

    return region
