"""The arithmetic of low precision: the tape in float32 and below against the tape in float64.

Whether the formula is right was judged in double precision. What is left is how much of it the
gradient keeps when it is computed with 24, 11 or 8 bits. Rounding inside the function may cost many
units in the last place where something cancels, and no bound from outside tells how many. But
rounding is another one at every point, while a fault is the same. So the gradient is compared at
the point and at some neighbours, in units in the last place: what the errors have in common is the
fault, what they scatter is the rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.budget import Spent
from gradcheck.checker.numerics.vectors import epsilon_of, largest_first, name_of, to_double
from gradcheck.checker.precision.error_statistics import (
    as_good_as_it_can_be,
    right_to_the_last_places,
    ulps_off,
)
from gradcheck.checker.precision.errors_beside import Errors
from gradcheck.checker.precision.lost_elements import beyond_the_outputs, lost_elements
from gradcheck.checker.subject.tensors import widen
from gradcheck.model import Element, Verdict
from gradcheck.model.frozen import frozen

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import OfInput
    from gradcheck.checker.precision.own_precision import OwnPrecision
    from gradcheck.model import Array


@frozen()
class Judgement:
    """What low precision makes of one gradient."""

    verdict: Verdict | None
    """None where it keeps what float64 has."""
    note: str = ""
    figures: dict[str, Any] | None = None
    """Those that are other ones in this precision."""


def judge_precision(precision: OwnPrecision, own: OfInput, bound: Array | None = None) -> Judgement:
    """Compare the gradient in its own precision with the one in double precision.

    Args:
        precision: has both.
        own: whose gradient it is.
        bound: by element, of the numeric derivative in double precision; NaN where there is none.
    """
    position, dtype = own.part.position, name_of(own.operand.value.dtype)
    gradient, double = precision.pair(position)
    if double is None or dtype not in tolerances.ULPS:
        return Judgement(None)
    misfit = _misfit(gradient, own)
    if gradient is None or misfit is not None:
        return misfit or Judgement(None)
    if not gradient.size:
        return Judgement(None)
    is_right = right_to_the_last_places(gradient, double, own.operand.precision)
    if not is_right:
        lost = lost_elements(precision, position, gradient, double, bound)
        is_right = not lost.any() and as_good_as_it_can_be(gradient, double, own.operand.precision)
    if is_right:
        theirs = to_double(double)
        off = to_double(gradient) - theirs
        most = ulps_off(off, theirs, epsilon_of(own.operand.precision)).max()
        return Judgement(None, f"in {name_of(own.operand.precision)} {_within(float(most))}")
    pairs = precision.pairs(position)
    errors = Errors.of(gradient, double, pairs, own.operand.precision, lost)
    zero = np.zeros(double.shape, dtype=bool)
    if bound is not None:
        # (What a bar hides more than a tenth of was granted there, or matters little.)
        zero = tolerances.VACUOUS * np.abs(errors.theirs) <= bound
    faults = _classified(errors, precision, position, zero)
    if faults and precision.one_by_one():
        # (Before blame: perhaps it is only that many points do not share a pass.)
        try:
            return judge_precision(precision, own, bound)
        except Spent:  # (`test_what_was_blamed_before_the_budget_ends_is_said`)
            if not faults.wrong.any():
                raise
    another = precision.another_function
    cause = precision.leaves_range() if faults.wrong.any() and not another else ""
    return _worded(errors, faults, own, another, cause, finite=precision.is_finite)


def _misfit(gradient: Array | None, own: OfInput) -> Judgement | None:
    """What is said of a gradient that is missing in its own precision, or of another kind."""
    value, dtype = own.operand.value, name_of(own.operand.value.dtype)
    if gradient is None:
        note = f"in {dtype} the tape returned None, though in float64 it does not"
        return Judgement(Verdict.DISCONNECTED, note)
    if gradient.dtype != value.dtype:
        note = f"the gradient is {gradient.dtype.name}, its input {dtype}"
        return Judgement(Verdict.MISMATCH, note)
    if gradient.shape != value.shape:
        note = f"in {dtype} the gradient has shape {list(gradient.shape)}"
        return Judgement(Verdict.MISMATCH, note)
    return None


@frozen()
class _Faults:
    """Which elements are not as they should be, and why."""

    broken: Array
    """Not finite, where the precision could hold what they should be."""
    wrong: Array
    lost: Array
    """Where results cancel and rounding leaves nothing."""
    zero: Array
    """In double precision it cannot be told from zero: rounding is all that there is to lose."""

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.wrong.any() or self.lost.any())


def _classified(errors: Errors, precision: OwnPrecision, position: int, zero: Array) -> _Faults:
    """Tell faults from rounding, and from what the function itself is off."""
    mine, theirs, allowed, scatter = errors.mine, errors.theirs, errors.allowed, errors.scatter
    # What is beyond the largest number is infinite in this precision, and rightly so.
    broken = ~np.isfinite(mine) & np.isfinite(theirs) & (np.abs(theirs) < errors.highest)
    wrong = broken | (np.abs(errors.mean) > allowed + tolerances.SCATTER * scatter)
    unexplained = errors.unexplained & ~broken
    if unexplained.any() and not broken.any():
        # (What its function does not know it may lose as well; it must be seen that it does.)
        at = errors.at_point
        alone = precision.excuses.off_by_itself(unexplained, at, allowed, position)
        wrong = (wrong & ~unexplained) | alone
    lost = np.zeros_like(wrong)
    excuses = precision.excuses
    if wrong.any() and not broken.any():

        def hidden() -> Array:
            """What cancels may lose all that there is, and the same at every point."""
            rounding = tolerances.ROUNDING_SAFETY * precision.spread(position)
            return np.asarray(np.abs(errors.at_point) <= allowed + rounding)

        def to_blame(index: tuple[int, ...]) -> bool:
            return not hidden()[index]

        others = wrong & ~unexplained
        others = excuses.off_by_itself(others, errors.at_point, allowed, position, to_blame)
        wrong = others | (wrong & unexplained)
        if wrong.any():
            lost = wrong & hidden()
            wrong, lost = wrong & ~lost, lost & ~zero
            if lost.any():
                off = np.abs(errors.at_point)
                lost = beyond_the_outputs(precision, position, lost, off, errors.epsilon)
    # (Of what is zero no share is anything.)
    if not wrong.any() and errors.common_factor(~zero):
        common = np.isfinite(mine) & (np.abs(theirs) > errors.smallest) & ~zero
        common = excuses.off_by_itself(common, errors.at_point, allowed, position)
        # What is left must have the factor without those that the function excuses.
        if errors.common_factor(common):
            wrong = wrong | common
    return _Faults(broken, wrong, lost, zero)


def _worded(
    errors: Errors, faults: _Faults, own: OfInput, another: str, cause: str, *, finite: bool
) -> Judgement:
    """What follows, and what is to be said about it.

    Without the part of NaN `test_what_is_added_lest_a_root_is_at_zero` fails.

    Args:
        errors: what the gradient is off.
        faults: which elements are not as they should be.
        own: whose gradient it is.
        another: how the function is another one in this precision, if it is.
        cause: what left the range of the precision, if something did.
        finite: whether the outputs are finite in this precision.
    """
    dtype, wrong, lost = own.operand.precision.name, faults.wrong, faults.lost
    if lost.any() and not wrong.any():
        note = (
            f"the formula is right in float64; in {dtype} results cancel on the way to the "
            f"gradient, and rounding hides {int(lost.sum())} of its elements"
        )
        return Judgement(Verdict.INCONCLUSIVE, note, _figures(errors, lost, own))
    if not wrong.any():
        most = _finite(errors.in_ulps)[~faults.zero].max(initial=0.0)
        told = "zero but for rounding, as in float64" if faults.zero.all() else _within(most)
        return Judgement(None, f"in {dtype} {told}")
    if another:
        # (No function of finite numbers has a derivative that is none.)
        nan = faults.broken & np.isnan(errors.mine) & finite
        verdict = Verdict.NONFINITE if nan.any() else Verdict.INCONCLUSIVE
        note = f"in {dtype} the function itself {another}"
        return Judgement(verdict, note, _figures(errors, nan if nan.any() else wrong, own))
    figures = _figures(errors, wrong, own)
    note = (
        f"the formula is right in float64, but {loses_it(dtype)}: "
        f"{errors.in_ulps[figures['worst'][0].index]:.3g} ulp, here and at neighbouring points "
        "(numeric is the gradient in float64)"
    )
    verdict = Verdict.NONFINITE if faults.broken.any() else Verdict.MISMATCH
    return Judgement(verdict, f"{note}; {cause}" if cause else note, figures)


def _finite(ulps: Array) -> Array:
    return ulps if np.isfinite(ulps).all() else np.nan_to_num(ulps)


def loses_it(dtype: str) -> str:
    """What is said of errors that are nothing but rounding, as far as anybody knows."""
    return f"the arithmetic of {dtype} loses it"


def _within(ulps: float) -> str:
    return f"within {ulps:.2g} ulp of float64"


def _figures(errors: Errors, wrong: Array, own: OfInput) -> dict[str, Any]:
    """What a comparison shows of a gradient that is wrong in low precision: all of it from there.

    Without it `test_a_row_has_the_figures_of_one_precision` fails.
    """
    # (What is NaN or infinite is as wrong as that, and no largest number stands for it.)
    error = np.nan_to_num(np.abs(errors.at_point), nan=np.inf, posinf=np.inf)
    size = np.maximum(np.abs(errors.mine), np.abs(errors.theirs))
    with np.errstate(all="ignore"):
        relative = np.where(np.isfinite(error), np.where(size > 0, error / size, 0.0), np.inf)
    count = min(limits.WORST, int(wrong.sum()))
    shown = np.where(wrong, np.maximum(error, np.finfo(float).tiny), 0.0)  # (wrong ones first)
    order = largest_first(shown.ravel())[:count]
    value, bar = widen(own.operand.value), tolerances.SCATTER * errors.scatter + errors.allowed
    indices = [tuple(int(i) for i in np.unravel_index(at, wrong.shape)) for at in order]
    worst = tuple(
        Element(
            index=index,
            value=value[index].item(),
            analytic=errors.mine[index].item(),
            numeric=errors.theirs[index].item(),
            bound=float(bar[index]),
        )
        for index in indices
    )
    return {
        "failing": int(wrong.sum()),
        "worst": worst,
        "max_abs_error": float(error.max()),
        "max_rel_error": float(relative.max()),
        "error_bar": float(np.nan_to_num(bar, nan=np.inf, posinf=np.inf).max()),
        "bound": bar,
        "analytic": errors.mine,
        "numeric": errors.theirs,
    }
