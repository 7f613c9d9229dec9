"""The likely cause of a mismatch: a comparison with what people get wrong.

Each suspect says what the gradient would be without its fault, or with it, and is believed when
that is so where the gradient as it stands is wrong; and when it is so at other points too. Suspects
that explain everything come first; where none fits, there is no diagnosis.

Without it `test_it_is_named` fails.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import causes
from gradcheck.checker.diagnose.elsewhere import Elsewhere, OtherPoints
from gradcheck.checker.diagnose.view import View
from gradcheck.checker.diagnose.wrong_formula import as_formula
from gradcheck.checker.diagnose.wrong_jacobian import from_jacobian
from gradcheck.checker.diagnose.wrong_numbers import arranged, chain_factor, simple
from gradcheck.checker.diagnose.wrong_region import right_in_part
from gradcheck.checker.diagnose.wrong_size import explained_by_size
from gradcheck.checker.diagnose.wrong_upstream import from_elsewhere
from gradcheck.model import Diagnosis

if TYPE_CHECKING:
    from gradcheck.checker.diagnose.fit import Suspect
    from gradcheck.checker.judge.evidence import Evidence
    from gradcheck.model import Comparison


def diagnose(comparison: Comparison, points: OtherPoints) -> Diagnosis | None:
    """The cause that explains the mismatch, or None.

    Args:
        comparison: of one input.
        points: the evidence that it comes from, and other points, which all the inputs share.
    """
    here = View.of(comparison, points.here)
    if here is None:
        return None
    elsewhere = Elsewhere(here, points)
    with np.errstate(all="ignore"):
        for hear in SUSPECTS:
            for suspect in hear(here):
                fit = suspect.fit(here)
                if fit is not None and _holds(suspect, elsewhere):
                    size = explained_by_size(elsewhere) if suspect.cause == "factor" else ""
                    return Diagnosis(suspect.cause, suspect.told(fit, size))
        return _special(elsewhere) or as_formula(elsewhere)


def diagnose_in_precision(comparison: Comparison, evidence: Evidence) -> Diagnosis | None:
    """The same of a gradient that is wrong in its own precision alone: a sign, a factor, an offset.

    The point itself must be telling, for there are no others in this precision.
    """
    here = View.of(comparison, evidence)
    if here is None:
        return None
    numeric = here.numeric[here.known]
    if len(np.unique(np.abs(numeric[numeric != 0]))) < causes.TELLING:
        return None
    with np.errstate(all="ignore"):
        for suspect in simple(here):
            fit = suspect.fit(here)
            if fit is not None:
                told = f"{suspect.told(fit, '')}, in {comparison.dtype} alone"
                return Diagnosis(suspect.cause, told)
    return None


def _holds(suspect: Suspect, elsewhere: Elsewhere) -> bool:
    """Whether it explains the gradient at other points too.

    Where there are none, the point itself must be telling.
    """
    is_anywhere = False
    for view in elsewhere.views():
        if suspect.fit(view) is None:
            return False
        is_anywhere = True
    if is_anywhere:
        return True
    numeric = elsewhere.here.numeric[elsewhere.here.known]
    return len(np.unique(np.abs(numeric[numeric != 0]))) >= causes.TELLING


def _special(elsewhere: Elsewhere) -> Diagnosis | None:
    """A gradient that is only wrong at this point."""
    if not elsewhere.here.wrong.any():
        return None
    is_anywhere = False
    for view in elsewhere.views():
        if view.wrong.any():
            return None
        is_anywhere = True
    if not is_anywhere:
        return None
    name = elsewhere.here.name
    text = (
        f"at other points the gradient of {name} is right: what is wrong here comes of values that "
        "are special, such as zeros or equal elements"
    )
    return Diagnosis("point", text)


SUSPECTS = (simple, arranged, from_elsewhere, chain_factor, from_jacobian, right_in_part)
"""In the order in which they are heard."""
