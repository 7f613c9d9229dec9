"""Whether a function rounds along coordinates, and what is to be believed of them then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, stepping, tolerances
from gradcheck.checker.numerics.stairs import jumps_along
from gradcheck.checker.numerics.vectors import largest

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from gradcheck.checker.numerics.estimate import Estimate
    from gradcheck.checker.numerics.fitted import Fitted, Rough
    from gradcheck.model import Array


def disagrees(estimate: Estimate, claimed: Array) -> Array:
    """By coordinate: what is claimed lies outside of the error bar."""
    with np.errstate(all="ignore"):
        low, high = np.fmin(estimate.left, estimate.right), np.fmax(estimate.left, estimate.right)
        nearest = np.where(estimate.kink, np.clip(claimed, low, high), estimate.numeric)
        within = np.abs(claimed - nearest) <= tolerances.BOUND_SAFETY * estimate.bound
    return np.asarray(~within)


def contested(
    estimate: Estimate, claimed: Array, *, rough: bool = False, rounds: bool = False
) -> Array:
    """Coordinates whose claims do not fit what several sequences of steps made of them.

    Where the first sequence was good the function hardly rounds, but by chance four steps may meet
    its stairs where these lie on a line.

    Without it `test_a_gradient_that_the_rounding_loses` fails.

    Args:
        estimate: what is known.
        claimed: what the derivatives are said to be.
        rough: the function loses more than double precision does: those too whose first sequence
            was good.
        rounds: it is known to round: those too that a fit may know better.
    """
    wrong, size = disagrees(estimate, claimed), max(largest(claimed), largest(estimate.numeric))
    # A gradient may be lost in the rounding: then it agrees with what short steps show.
    wrong |= (claimed == 0) & (estimate.scale == 0) & (estimate.change > 0)
    poor = stepping.FIT_PAYS_IF_ROUGH if rough else tolerances.VACUOUS
    poor = stepping.FIT_PAYS if rounds else poor
    open_ = (wrong | ~(estimate.bound <= poor * size)) & np.isfinite(claimed)
    if not (rough or rounds):
        open_ &= (estimate.finest < estimate.coarsest) | estimate.kink
    with np.errstate(all="ignore"):
        apart = np.nan_to_num(np.abs(claimed - estimate.numeric), nan=np.inf)
    worst = np.argsort(-np.where(open_, apart, -1.0), kind="stable")
    return np.sort(worst[: min(int(open_.sum()), stepping.FITTED)])


def spacing_of(quantum: Array, precisions: AbstractSet[str] = frozenset()) -> float:
    """The relative spacing of values that inputs or results are rounded to, as it hides moves.

    An element of little weight moves a sum by little: what hides least is nearest to the spacing.

    Args:
        quantum: how far elements move while rounding hides that.
        precisions: which the function was seen to compute in; it may be any where that is none.
    """
    spacings, least = _spacings(precisions), _least(quantum)
    if not least:
        return 0.0
    return float(spacings[np.argmin(np.abs(np.log(spacings / least)))])


def _spacings(precisions: AbstractSet[str]) -> Array:
    bits = [limits.BITS_OF[name] for name in sorted(precisions)]
    return np.asarray(2.0 ** (1 - np.array(bits or limits.BITS)))


def _least(quantum: Array) -> float:
    told = quantum[np.isfinite(quantum) & (quantum > 0)]
    return float(np.quantile(told, 0.25)) if len(told) else 0.0


def is_of_floats(told: Fitted, rounds: Array, precisions: AbstractSet[str]) -> bool:
    """Whether the stairs are as fine as those of a precision: coarser ones are made on purpose.

    Without it `test_what_quantises_on_purpose_is_told_what_to_say` fails.

    Args:
        told: what fits tell.
        rounds: by coordinate: whether it rounds along it.
        precisions: which the function was seen to compute in.
    """
    coarsest = tolerances.FIT_COARSEST
    if precisions:
        inside = tolerances.FIT_COARSEST_INSIDE * float(_spacings(precisions).max())
        coarsest = max(coarsest, inside)
    return _least(told.quantum[rounds]) <= coarsest


def is_stairs(rough: Rough, columns: Array, told: Fitted, rounds: Array, seed: int) -> bool:
    """Whether what looks like rounding has steps: jumps that are as high as what scatters.

    What a polynomial leaves of a smooth function has none, and an ill condition is there at every
    distance. Without it `test_a_bad_condition_is_never_a_mismatch` fails.
    """
    some = np.flatnonzero(rounds)[: stepping.FIT_CLOSE_LOOKS]
    heights = jumps_along(rough, columns[some], told.estimate.step[some], seed)
    return bool((heights > told.scatter[some] / tolerances.SURELY_JUMPS).any())
