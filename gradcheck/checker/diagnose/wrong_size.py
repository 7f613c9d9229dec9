"""Where a factor comes from: a sum in place of an average, or an average in place of a sum.

A factor of three and an axis of three elements may be an accident. The axis is made longer: if the
factor follows, it is none.

Without it `test_a_factor_that_is_no_size` fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import causes
from gradcheck.checker.diagnose.fit import repairs
from gradcheck.checker.diagnose.wrong_numbers import common_factor, times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.checker.diagnose.elsewhere import Elsewhere
    from gradcheck.checker.diagnose.view import View


def explained_by_size(elsewhere: Elsewhere) -> str:
    """What the factor is that the gradient is off by, as the end of a sentence; empty if nothing.

    Only what follows when the axes become longer counts.
    """
    here = elsewhere.here
    factor = common_factor(here)
    if factor is None:
        return ""
    fitting = [what for what, size in _sizes(here).items() if _is(size, factor) and size > 1]
    followed: set[str] = set()
    for longer in _longer(elsewhere) if fitting else ():
        new = common_factor(longer)
        if new is None or repairs(new * longer.analytic, longer) is None:
            continue
        sizes = _sizes(longer)
        fitting = [what for what in fitting if _is(sizes.get(what, 0), new)]
        followed |= {what for what in fitting if not _is(sizes[what], factor)}
    for what in fitting:
        if what in followed:
            wrongly = (
                "summed where it should be averaged"
                if abs(factor) < 1
                else "averaged where it should be summed"
            )
            return f": that is {what}, so perhaps something is {wrongly}"
    return ""


def _longer(elsewhere: Elsewhere) -> Iterator[View]:
    """The input where an axis is longer; or all of one length, where it cannot be alone."""
    point = elsewhere.here.evidence.point
    axes: dict[int, list[tuple[str, int]]] = {}
    for operand in point.moved:
        for axis, length in enumerate(operand.value.shape):
            axes.setdefault(length, []).append((operand.name, axis))
    for length, same in axes.items():
        if not length > 1 or len(same) > causes.LONGER_AXES:
            continue
        alone = [view for axis in same if (view := elsewhere.resized([axis])) is not None]
        together = None if alone or len(same) == 1 else elsewhere.resized(same)
        yield from alone or ([] if together is None else [together])


def _is(size: int, factor: float) -> bool:
    return bool(np.isclose(times(factor), size, rtol=causes.FIT, atol=0))


def _sizes(view: View) -> dict[str, int]:
    """The numbers of elements that a sum or an average may run over."""
    point = view.evidence.point
    sizes = {
        "the number of elements of the input": view.analytic.size,
        "the number of elements of the output": len(point.weights),
    }
    shapes = [*zip((o.name for o in point.moved), point.inputs.shapes, strict=True)]
    shapes += [("the output", shape) for shape in point.outputs.shapes]
    for name, shape in shapes:
        sizes |= {f"the length of axis {axis} of {name}": n for axis, n in enumerate(shape)}
    return sizes
