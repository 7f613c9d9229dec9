"""What a formula may be made of: the inputs, what the function computes, and functions of these.

Everything is looked at in the shape in which the function works, element by element: that of its
output, or of the input where the output is smaller. A gradient of an input that was broadcast is
the sum over what it was broadcast to.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcheck.checker import causes
from gradcheck.checker.subject.watch_ops import in_brackets, results_on_the_way

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.checker.diagnose.view import View
    from gradcheck.model import Array, Shape

_OF_THE_INPUT: dict[str, Callable[[Array], Array]] = {
    "σ({})": lambda x: 1 / (1 + np.exp(-x)),
    "tanh({})": np.tanh,
    "exp({})": np.exp,
    "log({})": np.log,
    "sin({})": np.sin,
    "cos({})": np.cos,
    "sqrt({})": np.sqrt,
    "|{}|": np.abs,
    "sign({})": np.sign,
    "exp(−{}²/2)": lambda x: np.exp(-x * x / 2),
    "exp(−{}²)": lambda x: np.exp(-x * x),
}
_OF_OTHERS = ("σ({})", "tanh({})", "exp({})", "sin({})", "cos({})")

_BESIDE_ONE: dict[str, Callable[[Array], Array]] = {
    "1 − {}": lambda a: 1 - a,
    "1 + {}": lambda a: 1 + a,
    "1 − {}²": lambda a: 1 - a * a,
    "1 + {}²": lambda a: 1 + a * a,
}


@dataclass(frozen=True, eq=False)
class Scene:
    """One view, flat, in the shape in which the function works."""

    factors: dict[str, tuple[Array, float]]
    """By formula: its values, and how long it is to read."""
    upstream: Array
    owner: Array
    """By element: the element of the input that it belongs to."""
    analytic: Array
    numeric: Array
    allowed: Array
    """By element of the input; numeric is NaN where it is not known."""

    def product(self, factors: tuple[tuple[str, int], ...]) -> Array:
        """The product of powers of factors, and of the upstream G."""
        values = np.ones(len(self.upstream))
        for formula, exponent in factors:
            if formula in _UPSTREAM:
                values = values * _UPSTREAM[formula](self.upstream) ** exponent
            else:
                values = values * self.factors[formula][0] ** float(exponent)
        return values

    def summed(self, rows: Array) -> Array:
        """Rows with a number for each element, as rows with one for each element of the input."""
        order, starts = self._sorted
        rows = rows if order is None else rows[:, order]
        return rows if starts is None else np.add.reduceat(rows, starts, axis=1)

    @property
    def is_broadcast(self) -> bool:
        """Whether several elements belong to one of the input."""
        return len(self.owner) > len(self.numeric)

    @cached_property
    def _sorted(self) -> tuple[Array | None, Array | None]:
        """What puts the elements in the order of the input's, and where each of those begins."""
        in_order = bool((np.diff(self.owner) >= 0).all())
        order = None if in_order else np.argsort(self.owner, kind="stable")
        if not self.is_broadcast:
            return order, None
        sorted_ = self.owner if order is None else self.owner[order]
        return order, np.searchsorted(sorted_, np.arange(len(self.numeric)))

    @classmethod
    def joined(cls, scenes: Sequence[Scene]) -> Scene:
        """Several scenes as one."""
        common = set.intersection(*(set(scene.factors) for scene in scenes))
        offsets = np.cumsum([0, *(len(scene.numeric) for scene in scenes[:-1])])
        return cls(
            {
                f: (np.concatenate([s.factors[f][0] for s in scenes]), scenes[0].factors[f][1])
                for f in common
            },
            np.concatenate([scene.upstream for scene in scenes]),
            np.concatenate([s.owner + o for s, o in zip(scenes, offsets, strict=True)]),
            np.concatenate([scene.analytic for scene in scenes]),
            np.concatenate([scene.numeric for scene in scenes]),
            np.concatenate([scene.allowed for scene in scenes]),
        )

    def only(self, chosen: Array) -> Scene:
        """These elements of the input alone."""
        number = np.full(len(self.numeric), -1)
        number[chosen] = np.arange(len(chosen))
        kept = np.flatnonzero(number[self.owner] >= 0)
        kept = kept[np.argsort(number[self.owner[kept]], kind="stable")]
        return Scene(
            {f: (values[kept], cost) for f, (values, cost) in self.factors.items()},
            self.upstream[kept],
            number[self.owner[kept]],
            self.analytic[chosen],
            self.numeric[chosen],
            self.allowed[chosen],
        )


_UPSTREAM: dict[str, Callable[[Array], Array]] = {"G": lambda g: g, "1 − G": lambda g: 1 - g}


class Place(NamedTuple):
    """Where each number of an input stands among those of the output."""

    shape: Shape
    """That both have there."""
    axes: tuple[int, ...]
    """That are inserted into the output's."""
    owner: Array
    """By number of that shape: which element of the input it belongs to."""


def place_of(view: View) -> Place | None:
    """Where the elements stand; None where shapes do not fit, or for complex numbers."""
    point = view.evidence.point
    if len(view.outputs) != 1 or any(point.inputs.complex_) or any(point.outputs.complex_):
        return None
    if max(view.analytic.size, view.outputs[0].size) > causes.FORMULA_ELEMENTS:
        return None
    output = view.outputs[0]
    working = _working_shape(view.shape, output.shape)
    axes = None if working is None else _inserted(output.shape, working)
    if working is None or axes is None:
        return None
    owner = np.arange(view.analytic.size).reshape(view.shape)
    return Place(working, axes, np.broadcast_to(owner, working).ravel())


def scene_of(view: View) -> Scene | None:
    """What a formula may be made of there; None where the elements have no place."""
    place = place_of(view)
    if place is None:
        return None
    upstream, output = (np.expand_dims(a[0], place.axes) for a in (view.upstream, view.outputs))
    flat = {
        formula: (np.broadcast_to(values, place.shape).ravel(), cost)
        for formula, (values, cost) in _factors(view, output).items()
        if _fits(values.shape, place.shape)
    }
    return Scene(
        factors=flat,
        upstream=np.broadcast_to(upstream, place.shape).ravel(),
        owner=place.owner,
        analytic=view.analytic.ravel(),
        numeric=view.numeric.ravel(),
        allowed=view.allowed.ravel(),
    )


def _factors(view: View, output: Array) -> dict[str, tuple[Array, float]]:
    """Each with what it costs a reader: a name costs one."""
    point, x = view.evidence.point, view.value
    length = causes.LENGTHS["result"]
    plain: dict[str, tuple[Array, float]] = {view.name: (x, 1.0)}
    plain |= {name: (v, 1.0) for name, v in view.others.items() if v.dtype.kind == "f"}
    found = dict(plain)
    problem = point.problem
    try:
        computed = results_on_the_way(problem.function, problem.operands, point.values)
    except Exception:  # what the function does when it is watched
        computed = {}
    for formula, values in computed.items():
        operations = sum(formula.count(sign) for sign in "(·/+−²") + formula.count("|") / 2
        found.setdefault(formula, (values, length + causes.LENGTHS["operation"] * operations))
    found.setdefault(view.function_text, (output, causes.LENGTHS["output"]))
    own = list(found)
    for formula, function in _OF_THE_INPUT.items():
        found.setdefault(formula.format(view.name), (function(x), causes.LENGTHS["function"]))
    for formula, (values, cost) in list(found.items()):
        for beside, function in _BESIDE_ONE.items():
            if formula in own or "²" not in beside:
                squared = "²" in beside
                more = (
                    causes.LENGTHS["square beside one"] if squared else causes.LENGTHS["beside one"]
                )
                found[beside.format(in_brackets(formula))] = function(values), cost + more
    for name, (values, _) in plain.items():
        for formula in _OF_OTHERS if name != view.name else ():
            of_it = _OF_THE_INPUT[formula](values)
            found.setdefault(formula.format(name), (of_it, causes.LENGTHS["function"]))
    return found


def _working_shape(given: Shape, output: Shape) -> Shape | None:
    if _fits(given, output):
        return output
    return given if _inserted(output, given) is not None else None


def _inserted(shape: Shape, wanted: Shape) -> tuple[int, ...] | None:
    """The axes to insert so that the shape can be broadcast to the other one, if that is clear."""
    if _fits(shape, wanted) and (len(shape) == len(wanted) or not shape or len(wanted) == 1):
        return ()
    missing = len(wanted) - len(shape)
    if missing <= 0:
        return () if _fits(shape, wanted) else None
    ways = [
        axes
        for axes in combinations(range(len(wanted)), missing)
        if tuple(n for axis, n in enumerate(wanted) if axis not in axes) == shape
    ]
    return ways[0] if len(ways) == 1 else None


def _fits(shape: Shape, wanted: Shape) -> bool:
    try:
        return np.broadcast_shapes(shape, wanted) == wanted
    except ValueError:
        return False
