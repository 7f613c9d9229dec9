"""Equal factors of a term as one power: `√s · 1/s` is `1/√s`, and `x · 1/x` is nothing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import Apply, Array, Node, Number, Tensor
from gradcheck.explainer.calculus.equality import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["as_power", "gathered", "raised"]

Power = tuple[Node, Fraction]
"""A base and its exponent."""


def as_power(factor: Node) -> Power:
    """A factor as a base and an exponent; that of a factor which is no power is 1."""
    if isinstance(factor, Apply):
        known = {"reciprocal": Fraction(-1), "square": Fraction(2), "sqrt": Fraction(1, 2)}
        exponent = known.get(factor.function)
        if factor.function == "power" and isinstance(factor.args[1], Number):
            exponent = _exact(factor.args[1])
        if exponent is not None:
            base, inner = as_power(factor.args[0])
            # √(x²) is |x|: an even power under a root stays where it is.
            if inner == 1 or exponent.denominator == 1:
                return base, inner * exponent
            return factor.args[0], exponent
    return factor, Fraction(1)


def _exact(exponent: Number) -> Fraction | None:
    """A whole or half exponent; None for any other, which is left alone."""
    twice = 2 * exponent.value
    return Fraction(int(twice), 2) if float(twice).is_integer() else None


def raised(base: Node, exponent: Fraction) -> Node:
    """The base with the exponent, as simply as it is written."""
    if exponent < 0:
        return Apply("reciprocal", (raised(base, -exponent),))
    if exponent == 1:
        return base
    if exponent in (2, Fraction(1, 2)):
        return Apply("square" if exponent == 2 else "sqrt", (base,))
    return Apply("power", (base, Number(exponent)))


@dataclass(slots=True)
class _Group:
    """The factors of one base."""

    base: Node
    exponent: Fraction
    factors: list[Node]


def gathered(factors: Iterable[Node]) -> list[Node]:
    """The factors, those of one base together.

    An element of an array is multiplied by itself as often as it stands there: matrices are
    products of such elements.
    """
    groups: dict[str, _Group] = {}
    for factor in factors:
        base, exponent = as_power(factor)
        group = groups.setdefault(key_of(base), _Group(base, Fraction(0), []))
        group.exponent += exponent
        group.factors.append(factor)
    found: list[Node] = []
    for group in groups.values():
        element = isinstance(group.base, Tensor | Array) and group.base.indices
        divided = any(as_power(factor)[1] < 0 for factor in group.factors)
        if len(group.factors) == 1 or (element and not divided):
            found += group.factors
        elif group.exponent != 0:
            found.append(raised(group.base, group.exponent))
    return found
