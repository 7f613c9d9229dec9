"""A small calculus of Einstein-notation expressions: products, sums over indices, functions.

Every expression is a number that depends on its free indices: `A[i,k]·B[k,j]` summed over k is one
element of a matrix product. After Laue, Mitterreiter and Giesen, "Computing higher order
derivatives of matrix and tensor expressions" (2018): in this notation one product rule and the
contraction of deltas are all that matrix calculus needs.

An axis of size 1 is always indexed by the number 0, so broadcasting needs no rule of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from gradcheck.explainer.calculus.indices import Form, Index, Place, extent, form

if TYPE_CHECKING:
    from gradcheck.model import Shape

__all__ = [
    "Apply",
    "Array",
    "Delta",
    "Grid",
    "Node",
    "NotDerivable",
    "Number",
    "Product",
    "Select",
    "Sum",
    "Tensor",
    "Total",
    "children",
    "differentiate",
    "free",
    "is_simple",
    "magnitude",
    "mentions",
    "rename",
    "select",
    "total_over",
    "walk",
]


def magnitude(value: Fraction | float) -> Fraction | float:
    """The number without its sign, as exact as before."""
    return -value if value < 0 else value


def is_simple(value: Fraction | float) -> bool:
    """Whether a number is a fraction as one writes it: a half, a quarter, but not 0.1."""
    return isinstance(value, Fraction) or float(8 * value).is_integer()


@dataclass(frozen=True, slots=True)
class Number:
    """A number; fractions stay exact."""

    value: Fraction | float


@dataclass(frozen=True, slots=True)
class Tensor:
    """One element of a named array."""

    name: str
    indices: tuple[Index, ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """One where both indices agree, else zero."""

    left: Index
    right: Index


@dataclass(frozen=True, slots=True)
class Select:
    """One where the form is 0 (for `=`) or not above 0 (for `<=`), else zero."""

    sign: str
    form: Form


@dataclass(frozen=True, slots=True)
class Apply:
    """A function of numbers: `exp`, `reciprocal`, `>` or `where`."""

    function: str
    args: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of its factors."""

    factors: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of its terms."""

    terms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of the body over all values of the indices."""

    indices: tuple[str, ...]
    body: Node


@dataclass(frozen=True, slots=True)
class Grid:
    """A whole array: its element at the indices, which nothing outside of it knows."""

    body: Node
    indices: tuple[Index, ...]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Array:
    """One element of what a function of whole arrays gives, such as an inverse."""

    function: str
    args: tuple[Grid | str, ...]
    """Arrays, and plain values by their text."""
    indices: tuple[Index, ...]
    shape: Shape


Node: TypeAlias = Number | Tensor | Delta | Select | Apply | Product | Sum | Total | Array


def select(sign: str, left: Place, right: Place) -> Node:
    """One where `left = right` or `left <= right`, written as simply as it goes."""
    difference = form(left) - form(right)
    low, high = difference.range
    if low == high == 0 or (sign == "<=" and high <= 0):
        return Number(Fraction(1))
    if low > 0 or (sign == "=" and high < 0):
        return Number(Fraction(0))
    atoms = [atom for atom, _ in difference.terms]
    if (
        sign == "="
        and not difference.offset
        and [f for _, f in difference.terms] in _ONE_AND_MINUS_ONE
    ):
        one, other = atoms
        if isinstance(one, str) and isinstance(other, str) and extent(one) == extent(other):
            return Delta(one, other)
    return Select(sign, difference)


_ONE_AND_MINUS_ONE = ([1, -1], [-1, 1])


def total_over(indices: Iterable[Index], body: Node) -> Node:
    """The sum over those of the indices that are not plain numbers."""
    names = tuple(index for index in indices if isinstance(index, str))
    return Total(names, body) if names else body


class NotDerivable(Exception):  # noqa: N818  (an answer, not a failure)
    """The calculus has no rule for this; the declared formula stands by itself."""


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, whole arrays excepted."""
    yield node
    for child in children(node):
        yield from walk(child)


def children(node: Node) -> tuple[Node, ...]:
    """The expressions that this one is made of."""
    if isinstance(node, Apply):
        return node.args
    if isinstance(node, Product):
        return node.factors
    if isinstance(node, Sum):
        return node.terms
    return (node.body,) if isinstance(node, Total) else ()


def free(node: Node) -> dict[str, None]:
    """The indices on which the value depends, in the order in which they are met."""
    if isinstance(node, Tensor | Array):
        found = node.indices
    elif isinstance(node, Delta):
        found = (node.left, node.right)
    elif isinstance(node, Select):
        return node.form.names
    else:
        inner = {index: None for child in children(node) for index in free(child)}
        if isinstance(node, Total):
            inner = {index: None for index in inner if index not in node.indices}
        return inner
    return {index: None for index in found if isinstance(index, str)}


def rename(node: Node, names: Mapping[str, Index]) -> Node:
    """The node with other free indices."""

    def new(index: Index) -> Index:
        return names.get(index, index) if isinstance(index, str) else index

    if isinstance(node, Tensor):
        return Tensor(node.name, tuple(map(new, node.indices)))
    if isinstance(node, Array):
        return Array(node.function, node.args, tuple(map(new, node.indices)), node.shape)
    if isinstance(node, Delta):
        return Delta(new(node.left), new(node.right))
    if isinstance(node, Select):
        moved = node.form.with_names({old: form(name) for old, name in names.items()})
        return select(node.sign, moved, 0)
    if isinstance(node, Apply):
        return Apply(node.function, tuple(rename(a, names) for a in node.args))
    if isinstance(node, Product):
        return Product(tuple(rename(f, names) for f in node.factors))
    if isinstance(node, Sum):
        return Sum(tuple(rename(t, names) for t in node.terms))
    if isinstance(node, Total):
        inner = {old: new for old, new in names.items() if old not in node.indices}
        # A bound index must not catch one that comes in from outside.
        caught = [index for index in node.indices if index in inner.values()]
        own = {index: _primed(index, inner, node.body) for index in caught}
        bound = tuple(own.get(index, index) for index in node.indices)
        return Total(bound, rename(node.body, inner | own))
    return node


def _primed(index: str, names: Mapping[str, Index], body: Node) -> str:
    taken = {*names.values(), *free(body)}
    name, colon, size = index.partition(":")
    while name + colon + size in taken:
        name += "'"
    return name + colon + size


Partial = Callable[[str, int, tuple[Node, ...]], Node]
"""The derivative of a function of numbers by the argument at a position."""


def differentiate(node: Node, name: str, at: tuple[Index, ...], partial: Partial) -> Node:
    """The derivative by the element `at` of the tensor `name`: deltas where it stands."""
    zero, one = Number(Fraction(0)), Number(Fraction(1))
    if isinstance(node, Tensor):
        if node.name != name:
            return zero
        deltas = [Delta(a, b) for a, b in zip(node.indices, at, strict=True) if a != b]
        return Product(tuple(deltas)) if deltas else one
    if isinstance(node, Sum):
        return Sum(tuple(differentiate(t, name, at, partial) for t in node.terms))
    if isinstance(node, Total):
        return Total(node.indices, differentiate(node.body, name, at, partial))
    if isinstance(node, Product):
        terms = []
        for i, factor in enumerate(node.factors):
            if mentions(factor, name):
                others = node.factors[:i] + node.factors[i + 1 :]
                terms.append(Product((differentiate(factor, name, at, partial), *others)))
        return Sum(tuple(terms))
    if isinstance(node, Apply):
        terms = [
            Product((partial(node.function, i, node.args), differentiate(a, name, at, partial)))
            for i, a in enumerate(node.args)
            if mentions(a, name)
        ]
        return Sum(tuple(terms))
    if isinstance(node, Array) and mentions(node, name):
        raise NotDerivable(node.function)
    return zero


def mentions(node: Node, name: str) -> bool:
    """Whether the tensor `name` stands anywhere in the expression."""
    for part in walk(node):
        if isinstance(part, Tensor) and part.name == name:
            return True
        if isinstance(part, Array) and any(
            isinstance(arg, Grid) and mentions(arg.body, name) for arg in part.args
        ):
            return True
    return False
