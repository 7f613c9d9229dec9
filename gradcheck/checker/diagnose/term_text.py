"""Terms of a formula, as people write them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from gradcheck.checker import causes
from gradcheck.checker.subject.watch_ops import in_brackets

if TYPE_CHECKING:
    from collections.abc import Sequence

_NAMED = {
    "": 1.0,
    "√(2/π)": math.sqrt(2 / math.pi),
    "√(2π)": 1 / math.sqrt(2 * math.pi),
    "√(π)": 1 / math.sqrt(math.pi),
    "π": math.pi,
    "√(2)": math.sqrt(2),
    "log(2)": math.log(2),
}
"""Numbers that are no fractions; what stands under a root of π divides."""

_DIVIDES = ("√(2π)", "√(π)")
_POWERS = {1: "", 2: "²", 3: "³"}


@dataclass(frozen=True)
class Coefficient:
    """A number that people would write, and how long it is to read."""

    value: float
    above: tuple[str, ...]
    below: tuple[str, ...]
    cost: float

    @property
    def negative(self) -> bool:
        """Whether a sign stands before it."""
        return self.value < 0


def coefficient(value: float) -> Coefficient | None:
    """The number as a fraction of small ones, times a well-known one, or in few digits."""
    if not math.isfinite(value) or value == 0:
        return None
    size, sign = abs(value), math.copysign(1.0, value)
    found = []
    for name, number in _NAMED.items():
        ratio = Fraction(size / number).limit_denominator(causes.LARGEST_RATIO)
        close = abs(ratio * number - size) <= causes.FIT * size
        if close and 0 < ratio.numerator <= causes.LARGEST_RATIO:
            above = [str(ratio.numerator)] if ratio.numerator != 1 else []
            below = [str(ratio.denominator)] if ratio.denominator != 1 else []
            (below if name in _DIVIDES else above).extend([name] if name else [])
            cost = causes.LENGTHS["number"] * len([*above, *below])
            exact = sign * float(ratio) * number
            found.append(Coefficient(exact, tuple(above), tuple(below), cost))
    short = float(f"{size:.3g}")
    if abs(short - size) <= causes.FIT * size:
        found.append(Coefficient(sign * short, (f"{short:g}",), (), causes.LENGTHS["digits"]))
    return min(found, key=lambda known: known.cost, default=None)


Factor = tuple[str, int]
"""A formula and its exponent."""


def product(number: Coefficient, factors: tuple[Factor, ...], *, signed: bool = True) -> str:
    """One term, what divides it behind a stroke."""
    above = [*number.above, *(_power(f, n) for f, n in factors if n > 0)]
    below = [*number.below, *(_power(f, -n) for f, n in factors if n < 0)]
    text = "·".join(above) or "1"
    if below:
        text += f"/{below[0]}" if len(below) == 1 else f"/({'·'.join(below)})"
    return f"−{text}" if signed and number.negative else text


def total(
    terms: Sequence[tuple[Coefficient, tuple[Factor, ...]]], shared: tuple[Factor, ...]
) -> str:
    """Terms with the factors that all of them share: `G·(a + b)`."""
    if len(terms) == 1:
        number, factors = terms[0]
        return product(number, (*shared, *factors))
    first, *rest = sorted(terms, key=lambda term: term[0].negative)
    text = product(*first)
    for number, factors in rest:
        operator = " − " if number.negative else " + "
        text += operator + product(number, factors, signed=False)
    if not shared:
        return text
    return f"{'·'.join(_power(f, n) for f, n in shared)}·({text})"


def _power(formula: str, exponent: int) -> str:
    base = in_brackets(formula)
    if exponent > 1 and base[-1] in "²³":
        base = f"({base})"
    return base + _POWERS[exponent]
