"""The likely cause of a mismatch: a comparison with what people get wrong.

Each suspect turns the analytic gradient into what it would have to be, and is believed when that
equals the numeric derivative where the gradient as it stands does not. Suspects that explain
everything come first; where none fits, there is no diagnosis.

Without it `test_it_is_named` fails.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.diagnose.fit import Suspects, arrays, how_well
from gradcheck.checker.diagnose.wrong_jacobian import from_jacobian
from gradcheck.checker.diagnose.wrong_region import right_in_part
from gradcheck.checker.diagnose.wrong_upstream import from_elsewhere
from gradcheck.model import Comparison, Diagnosis

if TYPE_CHECKING:
    from gradcheck.checker.judge.evidence import Evidence
    from gradcheck.model import Array


def diagnose(comparison: Comparison, evidence: Evidence) -> Diagnosis | None:
    """The cause that explains the mismatch, or None."""
    analytic, numeric, bound = comparison.analytic, comparison.numeric, comparison.bound
    if analytic is None or numeric is None or bound is None or not np.isfinite(numeric).any():
        return None
    with np.errstate(all="ignore"):
        for suspect in SUSPECTS:
            for cause, text, candidate in suspect(comparison, evidence):
                if candidate is None:
                    return Diagnosis(cause, text)
                fit = _fit(analytic, numeric, np.nan_to_num(bound), candidate)
                if fit is not None:
                    return Diagnosis(cause, f"{text} (but for that it agrees {how_well(fit)})")
    return None


def _fit(analytic: Array, numeric: Array, bound: Array, candidate: Array) -> float | None:
    """How well the candidate explains the numeric derivative, relative to its largest element.

    None if it does not: also if it leaves a wrong element about as wrong as it was, which a factor
    close to one would do.
    """
    known = np.isfinite(numeric)
    largest = float(np.max(np.abs(numeric[known])))
    before, after = np.abs(analytic - numeric)[known], np.abs(candidate - numeric)[known]
    allowed = tolerances.BOUND_SAFETY * bound[known]
    if not (after <= allowed + tolerances.FIT * largest).all():
        return None
    wrong = ~(before <= allowed)
    if not (after <= np.maximum(allowed, tolerances.EXPLAINED * before))[wrong].all():
        return None
    return float(after.max()) / largest if largest else 0.0


def _simple(comparison: Comparison, evidence: Evidence) -> Suspects:
    analytic, numeric = arrays(comparison)
    name = comparison.name
    known = np.isfinite(numeric) & np.isfinite(analytic)
    a, n = analytic[known], numeric[known]
    power = float(np.vdot(a, a).real)
    if power == 0:
        yield "zero", f"the gradient of {name} is zero throughout, the derivative is not", None
        return
    bound = np.nan_to_num(np.asarray(comparison.bound))[known]
    if (np.abs(n) <= tolerances.BOUND_SAFETY * bound).all():
        text = (
            f"the output, as it is weighed, does not move with {name}, but its gradient is not "
            "zero; a straight-through estimator does that on purpose: then say `expect: mismatch` "
            "and why"
        )
        yield "constant", text, None
        return
    yield "sign", f"the gradient of {name} has the wrong sign", -analytic
    if np.iscomplexobj(analytic):
        yield "conjugate", f"the gradient of {name} lacks a conjugate", np.conj(analytic)
    factor = np.vdot(a, n) / power  # numeric ≈ factor · analytic
    if np.iscomplexobj(factor) and abs(factor.imag) < tolerances.FIT * abs(factor):
        factor = factor.real
    if factor != 0 and not np.iscomplexobj(factor):
        yield "factor", _factor_text(comparison, evidence, float(factor)), factor * analytic
    if a.size > 1 and not np.iscomplexobj(analytic):
        more = float(np.median(a - n))
        relation = "large" if more > 0 else "small"
        text = f"every element of the gradient of {name} is too {relation} by {abs(more):.6g}"
        yield "offset", text, analytic - more


def _factor_text(comparison: Comparison, evidence: Evidence, factor: float) -> str:
    """Name a constant factor, and where it may come from."""
    too = 1 / factor
    size = abs(too) if abs(too) >= 1 else abs(factor)
    if size < 1.001:
        share = abs(abs(too) - 1)
        more = "large" if abs(too) >= 1 else "small"
        return f"the gradient of {comparison.name} is too {more} by {share:.2g} of itself"
    relation = "large" if abs(too) >= 1 else "small"
    text = f"the gradient of {comparison.name} is {size:.6g} times too {relation}"
    if too < 0:
        text += " and has the wrong sign"
    sizes = {
        "the number of elements of the input": comparison.elements,
        "the number of elements of the output": len(evidence.point.weights),
    }
    for shape in (*evidence.point.inputs.shapes, *evidence.point.outputs.shapes):
        sizes |= {f"the size of an axis ({s})": s for s in shape}
    for what, count in sizes.items():
        if count > 1 and abs(size - count) < 1e-4 * count:
            wrongly = (
                "summed where it should be averaged"
                if relation == "large"
                else "averaged where it should be summed"
            )
            return f"{text}: that is {what}, so perhaps something is {wrongly}"
    return text


def _arranged(comparison: Comparison, _: Evidence) -> Suspects:
    analytic, numeric = arrays(comparison)
    rank, name = analytic.ndim, comparison.name
    if 2 <= rank <= limits.PERMUTED_RANK:
        for order in permutations(range(rank)):
            moved = analytic.transpose(order)
            if order != tuple(range(rank)) and moved.shape == analytic.shape:
                last_two = (*range(rank - 2), rank - 1, rank - 2)
                if order == last_two:
                    yield "transposed", f"the gradient of {name} is transposed", moved
                else:
                    text = (
                        f"the axes of the gradient of {name} are in the wrong order: "
                        f"tf.transpose(…, {list(order)}) puts them right"
                    )
                    yield "permuted", text, moved
    for axis in range(rank):
        if analytic.shape[axis] > 1:
            text = f"the gradient of {name} is reversed along axis {axis}"
            yield "reversed", text, np.flip(analytic, axis)
            for shift in (1, -1):
                text = f"the gradient of {name} is shifted by one along axis {axis}"
                back = np.roll(analytic, shift, axis)
                yield "shifted", text, back
                if analytic.shape[axis] > 2:
                    # What was shifted out is lost: of that place nothing can be said.
                    edge = [slice(None)] * rank
                    edge[axis] = slice(0, 1) if shift == 1 else slice(-1, None)
                    back[tuple(edge)] = numeric[tuple(edge)]
                    yield "shifted", text, back


def _chain_factor(comparison: Comparison, evidence: Evidence) -> Suspects:
    """A factor that is a simple function of the input, or another input: missing or too many."""
    analytic, _numeric = arrays(comparison)
    names = [operand.name for operand in evidence.point.moved]
    position = names.index(comparison.name)
    x = evidence.point.inputs.unflatten(evidence.point.at)[position]
    functions = {"x": x, "2x": 2 * x, "x²": x * x, "eˣ": np.exp(x), "cos x": np.cos(x)}
    functions |= {"sin x": np.sin(x)}
    outputs = evidence.point.outputs.unflatten(evidence.point.base)
    if len(outputs) == 1 and outputs[0].shape == x.shape:
        y = outputs[0]
        functions |= {
            "f(x)": y,
            "1−f(x)": 1 - y,
            "f(x)·(1−f(x))": y * (1 - y),
            "1−f(x)²": 1 - y * y,
        }
    for operand, value in zip(evidence.point.problem.operands, evidence.point.values, strict=True):
        if operand.name != comparison.name and value.dtype.kind in "fc" and _fits(value, x):
            functions[operand.name] = np.broadcast_to(value, x.shape)
    for text, values in functions.items():
        missing = f"the gradient of {comparison.name} lacks the factor {text}"
        yield "chain", missing, analytic * values
        surplus = f"the gradient of {comparison.name} has the factor {text} too much"
        yield "chain", surplus, analytic / values


def _fits(value: Array, x: Array) -> bool:
    try:
        return np.broadcast_shapes(value.shape, x.shape) == x.shape
    except ValueError:
        return False


SUSPECTS = (_simple, _arranged, from_elsewhere, _chain_factor, from_jacobian, right_in_part)
"""In the order in which they are heard."""
