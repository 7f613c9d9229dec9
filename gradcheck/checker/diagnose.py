"""The likely cause of a mismatch: a comparison with what people get wrong.

Each suspect turns the analytic gradient into what it would have to be, and is believed when that
equals the numeric derivative where the gradient as it stands does not. Suspects that explain
everything come first; where none fits, there is no diagnosis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations

import numpy as np

from gradcheck.checker.reference import Reference
from gradcheck.model import Array, Comparison, Diagnosis

FIT = 1e-6
"""How well a suspect must explain the numeric derivative, relative to its largest element."""

MOST_PERMUTED = 4
"""Rank up to which all orders of the axes are tried."""


def diagnose(comparison: Comparison, reference: Reference) -> Diagnosis | None:
    """The cause that explains the mismatch, or None."""
    analytic, numeric, bound = comparison.analytic, comparison.numeric, comparison.bound
    if analytic is None or numeric is None or bound is None or not np.isfinite(numeric).any():
        return None
    with np.errstate(all="ignore"):
        largest = float(np.nanmax(np.abs(numeric)))
        allowed = FIT * largest + 4 * np.nan_to_num(bound)

        def explains(candidate: Array) -> bool:
            known = np.isfinite(numeric)
            return bool((np.abs(candidate - numeric) <= allowed)[known].all())

        suspects = (_simple, _arranged, _from_elsewhere, _chain_factor, _partial)
        for suspect in suspects:
            for cause, text, candidate in suspect(comparison, reference):
                if explains(candidate):
                    return Diagnosis(cause, text)
    return None


Suspects = Iterator[tuple[str, str, Array]]
"""Cause, sentence, and what the numeric derivative would then be."""

Suspect = Callable[[Comparison, Reference], Suspects]


def _simple(comparison: Comparison, reference: Reference) -> Suspects:
    analytic, numeric = _arrays(comparison)
    name = comparison.name
    known = np.isfinite(numeric) & np.isfinite(analytic)
    yield "sign", f"the gradient of {name} has the wrong sign", -analytic
    if np.iscomplexobj(analytic):
        yield "conjugate", f"the gradient of {name} lacks a conjugate", np.conj(analytic)
    a, n = analytic[known], numeric[known]
    power = float(np.vdot(a, a).real)
    if power == 0:
        text = f"the gradient of {name} is zero throughout, the derivative is not"
        yield "zero", text, numeric
        return
    factor = np.vdot(a, n) / power  # numeric ≈ factor · analytic
    if np.iscomplexobj(factor) and abs(factor.imag) < FIT * abs(factor):
        factor = factor.real
    if factor != 0 and not np.iscomplexobj(factor):
        yield "factor", _factor_text(comparison, reference, float(factor)), factor * analytic


def _factor_text(comparison: Comparison, reference: Reference, factor: float) -> str:
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
        "elements of the input": comparison.elements,
        "elements of the output": len(reference.weights),
    }
    for shape in (*reference.evaluator.inputs.shapes, *reference.evaluator.outputs.shapes):
        sizes |= {f"size of an axis ({s})": s for s in shape}
    for what, count in sizes.items():
        if count > 1 and abs(size - count) < 1e-4 * count:
            verb = (
                "summed where it should be averaged"
                if relation == "large"
                else ("averaged where it should be summed")
            )
            return f"{text}: that is the number of {what}, so something is {verb}"
    return text


def _arranged(comparison: Comparison, _: Reference) -> Suspects:
    analytic, _numeric = _arrays(comparison)
    rank, name = analytic.ndim, comparison.name
    if 2 <= rank <= MOST_PERMUTED:
        for order in permutations(range(rank)):
            moved = analytic.transpose(order)
            if order != tuple(range(rank)) and moved.shape == analytic.shape:
                last_two = (*range(rank - 2), rank - 1, rank - 2)
                if order == last_two:
                    yield "transposed", f"the gradient of {name} is transposed", moved
                else:
                    text = f"the axes of the gradient of {name} are in the wrong order: {order}"
                    yield "permuted", text, moved
    for axis in range(rank):
        if analytic.shape[axis] > 1:
            text = f"the gradient of {name} is reversed along axis {axis}"
            yield "reversed", text, np.flip(analytic, axis)
            for shift in (1, -1):
                text = f"the gradient of {name} is shifted by one along axis {axis}"
                yield "shifted", text, np.roll(analytic, shift, axis)


def _from_elsewhere(comparison: Comparison, reference: Reference) -> Suspects:
    """Another upstream, or another input's gradient: checked by what the numeric would be."""
    analytic, numeric = _arrays(comparison)
    coordinates = reference.coordinates
    names = [operand.name for operand in reference.moved]
    position = names.index(comparison.name)
    mine = coordinates.columns(position)
    if len(mine) != _reals(analytic):
        return
    ones = reference.with_upstream_of_ones()
    if _close(ones.numeric[mine], analytic):
        text = (
            f"the gradient of {comparison.name} ignores the upstream gradient: it is what an "
            "upstream of ones gives"
        )
        yield "upstream", text, numeric
    own = reference.elements.estimate()
    for other, name in enumerate(names):
        theirs = coordinates.columns(other)
        if other != position and len(theirs) == len(mine) and _close(own.numeric[theirs], analytic):
            text = f"the gradient of {comparison.name} is that of {name}: they are swapped"
            yield "swapped", text, numeric


def _chain_factor(comparison: Comparison, reference: Reference) -> Suspects:
    """A factor that is a simple function of the input, missing or too many."""
    analytic, _numeric = _arrays(comparison)
    names = [operand.name for operand in reference.moved]
    position = names.index(comparison.name)
    x = reference.evaluator.inputs.unflatten(reference.evaluator.point)[position]
    functions = {"x": x, "2x": 2 * x, "x²": x * x, "eˣ": np.exp(x), "cos x": np.cos(x)}
    functions |= {"sin x": np.sin(x)}
    outputs = reference.evaluator.outputs.unflatten(reference.evaluator.base)
    if len(outputs) == 1 and outputs[0].shape == x.shape:
        y = outputs[0]
        functions |= {
            "f(x)": y,
            "1−f(x)": 1 - y,
            "f(x)·(1−f(x))": y * (1 - y),
            "1−f(x)²": 1 - y * y,
        }
    for text, values in functions.items():
        missing = f"the gradient of {comparison.name} lacks the factor {text}"
        yield "chain", missing, analytic * values
        surplus = f"the gradient of {comparison.name} has the factor {text} too much"
        yield "chain", surplus, analytic / values


def _partial(comparison: Comparison, _: Reference) -> Suspects:
    """Right, except in some region."""
    analytic, numeric = _arrays(comparison)
    bound = np.nan_to_num(comparison.bound) if comparison.bound is not None else 0.0
    wrong = np.abs(analytic - numeric) > 4 * bound + FIT * np.nanmax(np.abs(numeric))
    count = int(wrong.sum())
    if not count or count > wrong.size // 2 or wrong.size == 1:
        return
    zero = " (it is zero there)" if not np.any(analytic[wrong]) else ""
    places = np.argwhere(wrong)
    if count == 1:
        index = places[0].tolist()
        text = f"only the element {index} of {comparison.name} is wrong{zero}"
        yield "element", text, numeric
        return
    for axis in range(wrong.ndim):
        at = np.unique(places[:, axis])
        if len(at) == 1 and count > 1:
            whole = count == wrong.size // wrong.shape[axis]
            text = (
                f"the gradient of {comparison.name} is right except {'' if whole else 'for parts '}"
                f"{'at' if whole else 'of'} index {at[0]} of axis {axis}{zero}"
            )
            yield "slice", text, numeric
            return
    if not np.any(analytic[wrong]):
        text = f"{count} elements of the gradient of {comparison.name} are zero and should not be"
        yield "masked", text, numeric


def _arrays(comparison: Comparison) -> tuple[Array, Array]:
    """The two arrays, which `diagnose` has seen to be there."""
    return np.asarray(comparison.analytic), np.asarray(comparison.numeric)


def _reals(array: Array) -> int:
    return array.size * (2 if np.iscomplexobj(array) else 1)


def _close(flat: Array, gradient: Array) -> bool:
    """Whether coordinates and a gradient hold the same numbers."""
    if np.iscomplexobj(gradient):
        other = np.ascontiguousarray(gradient).ravel().view(np.float64)
    else:
        other = gradient.ravel()
    scale = float(np.max(np.abs(flat[np.isfinite(flat)]), initial=0.0))
    return scale > 0 and bool((np.abs(flat - other) <= FIT * scale).all())
