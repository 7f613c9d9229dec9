"""What the gradient is off by, as a formula, and what it should read.

For functions that work element by element, where no named cause fits. A formula is printed if it
holds to within the error bars at points too at which it was not looked for.

Without it `test_the_error_is_a_formula` fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import causes
from gradcheck.checker.diagnose.factors import place_of, scene_of
from gradcheck.checker.diagnose.fit import broadcast_axes
from gradcheck.checker.diagnose.formula_search import Search
from gradcheck.model import Diagnosis

if TYPE_CHECKING:
    from gradcheck.checker.diagnose.elsewhere import Elsewhere
    from gradcheck.checker.diagnose.factors import Scene
    from gradcheck.checker.diagnose.formula_search import Formula, Target
    from gradcheck.checker.diagnose.view import View
    from gradcheck.model import Array


def as_formula(elsewhere: Elsewhere) -> Diagnosis | None:
    """The error as a formula, or what the gradient reads and what it should; None if neither.

    Nor if both read the same, as where what is wrong is small beside what the formula is of:
    without it `test_no_formula_in_place_of_itself` fails.
    """
    # (What is on the way takes a call, in which each op is watched.)
    place = place_of(elsewhere.here)
    if place is None or not _is_elementwise(elsewhere.here, place.owner):
        return None
    others = list(elsewhere.views())
    if not others:
        return None
    views = [elsewhere.here, *elsewhere.with_other_signs, *others]
    scenes = [scene for view in views if (scene := scene_of(view)) is not None]
    search, name = Search(scenes), elsewhere.here.name

    def shortest(target: Target) -> Formula | None:
        return search.product(target) or search.sum(target)

    error = search.product(_error)
    right = shortest(_right) if error is not None else None
    wrong = shortest(_wrong) if error is None else None
    if wrong is not None:
        right = shortest(_right)
    if error is None and (wrong is None or right is None):
        error = search.sum(_error)
    over = _summed_over(elsewhere.here)
    if error is not None:
        text = f"the gradient of {name} is off by {error}{over}"
        text += f"; it should read {right}{over}" if right is not None else ""
    elif wrong is not None and right is not None and str(wrong) != str(right):
        text = f"the gradient of {name} reads {wrong}{over}; it should read {right}{over}"
    else:
        return None
    return Diagnosis("formula", f"{text} (G is the upstream gradient)")


def _is_elementwise(view: View, owner: Array) -> bool:
    """Whether each output moves with its own element alone, as far as that is known."""
    jacobian = view.jacobian
    if jacobian is None or len(jacobian) != len(owner):
        return True
    others = owner[:, np.newaxis] != np.arange(jacobian.shape[1])
    size = np.abs(jacobian)
    return bool((size[others] <= causes.FIT * size.max(initial=0.0)).all())


def _summed_over(view: View) -> str:
    axes = broadcast_axes(view.shape, view.outputs[0].shape)
    which = "axis" if len(axes) == 1 else "axes"
    return f", summed over {which} {' and '.join(map(str, axes))}" if axes else ""


def _error(scene: Scene) -> Array:
    return scene.analytic - scene.numeric


def _right(scene: Scene) -> Array:
    return scene.numeric


def _wrong(scene: Scene) -> Array:
    return np.where(np.isfinite(scene.numeric), scene.analytic, np.nan)
