"""Simple changes of the numbers: sign, factor, offset, order, and factors of the chain rule.

Without it `test_it_is_named` fails.
"""

from __future__ import annotations

from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import causes, limits
from gradcheck.checker.diagnose.fit import Suspect, Suspects, without_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.checker.diagnose.view import View
    from gradcheck.model import Array


def simple(view: View) -> Suspects:
    """Nothing at all, the wrong sign, a conjugate, a factor, something added."""
    name = view.name
    yield Suspect(
        "zero", f"the gradient of {name} is zero throughout, the derivative is not", _is_zero
    )
    text = (
        f"the output, as it is weighed, does not move with {name}, but its gradient is not "
        "zero; a straight-through estimator does that on purpose: then say `expect: mismatch` "
        "and why"
    )
    yield Suspect("constant", text, _stands_still)
    if _is_zero(view) is not None or _stands_still(view) is not None:
        return
    sign = f"the gradient of {name} has the wrong sign"
    yield without_fault("sign", sign, lambda view: -view.analytic)
    if np.iscomplexobj(view.analytic):
        lacks = f"the gradient of {name} lacks a conjugate"
        yield without_fault("conjugate", lacks, lambda view: np.conj(view.analytic))
    factor = common_factor(view)
    if factor:
        yield without_fault("factor", _factor(name, factor), lambda view: factor * view.analytic)
    if not np.iscomplexobj(view.analytic):
        more = float(np.median((view.analytic - view.numeric)[view.known]))
        relation = "large" if more > 0 else "small"
        text = f"every element of the gradient of {name} is too {relation} by {abs(more):.6g}"
        yield without_fault("offset", text, lambda view: view.analytic - more)


def _is_zero(view: View) -> float | None:
    return None if view.analytic[view.known].any() else 0.0


def _stands_still(view: View) -> float | None:
    still = (np.abs(view.numeric) <= view.allowed)[view.known].all()
    return 0.0 if still and view.analytic[view.known].any() else None


def common_factor(view: View) -> float | None:
    """What the gradient has to be multiplied by, if it is off by a real factor; None if it is 0."""
    a, n = view.analytic[view.known], view.numeric[view.known]
    power = float(np.vdot(a, a).real)
    factor = np.vdot(a, n) / power if power else 0.0
    if np.iscomplexobj(factor) and abs(factor.imag) >= causes.FIT * abs(factor):
        return None
    return float(factor.real) or None


def _factor(name: str, factor: float) -> str:
    """A constant factor in words."""
    too = 1 / factor
    size = times(factor)
    relation = "large" if abs(too) >= 1 else "small"
    if size < 1.001:
        return f"the gradient of {name} is too {relation} by {size - 1:.2g} of itself"
    sign = " and has the wrong sign" if too < 0 else ""
    return f"the gradient of {name} is {size:.6g} times too {relation}{sign}"


def times(factor: float) -> float:
    """How many times too large, or too small, what has to be multiplied by this factor is."""
    return max(abs(factor), 1 / abs(factor))


def arranged(view: View) -> Suspects:
    """The right numbers in the wrong places."""
    name, rank = view.name, view.analytic.ndim
    for text, order in _orders(view):
        cause = "transposed" if text.endswith("transposed") else "permuted"
        yield without_fault(cause, text, partial(_permuted, order=order))
    for axis in range(rank):
        if view.shape[axis] > 1:
            text = f"the gradient of {name} is reversed along axis {axis}"
            yield without_fault("reversed", text, partial(_flipped, axis=axis))
            for shift in (1, -1):
                text = f"the gradient of {name} is shifted by one along axis {axis}"
                back = partial(_shifted, axis=axis, shift=shift)
                yield without_fault("shifted", text, back)
                if view.shape[axis] > 2:
                    yield without_fault("shifted", text, partial(back, lost=True))


def _orders(view: View) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Other orders of the axes that have the same shape, and what puts them right."""
    rank, name = view.analytic.ndim, view.name
    if not 2 <= rank <= limits.PERMUTED_RANK:
        return
    for order in permutations(range(rank)):
        shape = tuple(view.shape[axis] for axis in order)
        if order == tuple(range(rank)) or shape != view.shape:
            continue
        if order == (*range(rank - 2), rank - 1, rank - 2):
            yield f"the gradient of {name} is transposed", order
        else:
            right = f"tf.transpose(…, {list(order)}) puts them right"
            yield f"the axes of the gradient of {name} are in the wrong order: {right}", order


def _flipped(view: View, axis: int) -> Array:
    return np.flip(view.analytic, axis)


def _permuted(view: View, order: tuple[int, ...]) -> Array:
    return view.analytic.transpose(order)


def _shifted(view: View, axis: int, shift: int, lost: bool = False) -> Array:
    back = np.roll(view.analytic, shift, axis)
    if lost:
        # What was shifted out is lost: of that place nothing can be said.
        edge = [slice(None)] * back.ndim
        edge[axis] = slice(0, 1) if shift == 1 else slice(-1, None)
        back[tuple(edge)] = view.numeric[tuple(edge)]
    return back


def chain_factor(view: View) -> Suspects:
    """A factor that is a simple function of the input, or another input: missing or too many."""
    for text in _functions(view):
        missing = f"the gradient of {view.name} lacks the factor {text}"
        yield without_fault("chain", missing, partial(_with_factor, text=text))
        surplus = f"the gradient of {view.name} has the factor {text} too much"
        yield without_fault("chain", surplus, partial(_with_factor, text=text, inverse=True))


def _with_factor(view: View, text: str, inverse: bool = False) -> Array | None:
    values = _functions(view).get(text)
    if values is None:
        return None
    if inverse:
        # Where the factor is zero, nothing can be said of what it was multiplied with.
        return np.where(values == 0, view.numeric, view.analytic / values)
    return view.analytic * values


def _functions(view: View) -> dict[str, Array]:
    x = view.value
    name, f = view.name, view.function_text
    functions = {name: x, f"2·{name}": 2 * x, f"{name}²": x * x, f"exp({name})": np.exp(x)}
    functions |= {f"cos({name})": np.cos(x), f"sin({name})": np.sin(x)}
    if len(view.outputs) == 1 and view.outputs[0].shape == x.shape:
        y = view.outputs[0]
        functions |= {f: y, f"1 − {f}": 1 - y}
        functions |= {f"{f}·(1 − {f})": y * (1 - y), f"1 − {f}²": 1 - y * y}
    for other, value in view.others.items():
        if _fits(value, x):
            functions[other] = np.broadcast_to(value, x.shape)
    return functions


def _fits(value: Array, x: Array) -> bool:
    try:
        return np.broadcast_shapes(value.shape, x.shape) == x.shape
    except ValueError:
        return False
