"""A sum of matrix products with what its terms share taken out: `Aᵀ (A x − b)`."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from fractions import Fraction

from gradcheck.explainer.calculus.einstein import magnitude
from gradcheck.explainer.formula.rows_and_columns import OF_ONE_NUMBER
from gradcheck.explainer.formula.sums_and_products import Scaled, cancelled, joined, times
from gradcheck.explainer.trees import call, called, text_of

__all__ = ["factored", "is_number"]


@dataclass(frozen=True)
class _Term:
    """`coefficient · scalars · chain`, the chain a product of matrices."""

    coefficient: Fraction | float
    scalars: tuple[ast.expr, ...]
    chain: tuple[ast.expr, ...]


def factored(
    parts: list[Scaled],
    numbers: frozenset[str] = frozenset(),
    whole: frozenset[str] = frozenset(),
) -> ast.expr:
    """The sum, its common numbers and its common first and last matrices written once.

    `numbers` are the names of arrays without axes, `whole` those of arrays as large as the sum.
    """
    if len(parts) < 2 or any(body is None for _, body in parts):
        return joined(parts)
    terms = [_split(coefficient, body, numbers) for coefficient, body in parts if body is not None]
    if any(not term.chain for term in terms):
        return joined(parts)
    wrapped = all(called(term.chain[0]) == "vector" for term in terms)
    if wrapped:
        terms = [replace(t, chain=_matrices(_unwrapped(t.chain[0]))) for t in terms]
    scalars = _shared([term.scalars for term in terms])
    sizes = {magnitude(term.coefficient) for term in terms}
    size = sizes.pop() if len(sizes) == 1 else Fraction(1)
    if all(term.coefficient < 0 for term in terms):
        size = -size  # (one minus in front, where every term has one)
    inner = [_Term(t.coefficient / size, _without(t.scalars, scalars), t.chain) for t in terms]
    left, right, inner = _ends(inner)
    middle, changed = _middle(inner, whole)
    if not scalars and not left and not right and not changed:
        return joined(parts)
    made = _chained((*left, middle, *right))
    made = call("vector", made) if wrapped else made
    return joined([(size, _around(scalars, made))])


def _around(shared: list[ast.expr], whole: ast.expr) -> ast.expr:
    """The product, what is divided by last."""
    above = [factor for factor in shared if not _is_under(factor)]
    below = [factor for factor in shared if _is_under(factor)]
    return times([*above, whole, *below])


def _middle(terms: list[_Term], full: frozenset[str]) -> tuple[ast.expr, bool]:
    """The sum of what is left of the terms, and whether they share elements or are all turned."""
    turned = all(len(term.chain) == 1 and called(term.chain[0]) == "mT" for term in terms)
    if turned:
        terms = [replace(term, chain=(_unwrapped(term.chain[0]),)) for term in terms]
    arrays, terms = _elements(terms)
    # A sum begins with a term that is not negative, if there is one.
    ordered = sorted(terms, key=lambda term: term.coefficient < 0)
    inside = cancelled(joined([(t.coefficient, _product(t)) for t in ordered]), full)
    whole = _around(arrays, inside) if arrays else inside
    return (call("mT", whole) if turned else whole), turned or bool(arrays)


def _is_under(node: ast.expr) -> bool:
    """Whether this is one over something."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _is_one(node.left)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _elements(terms: list[_Term]) -> tuple[list[ast.expr], list[_Term]]:
    """What all terms are multiplied by element by element, and the terms without it."""
    if any(len(term.chain) != 1 for term in terms):
        return [], terms
    factors = [tuple(_factors(term.chain[0])) for term in terms]
    shared = _shared(factors)
    if not shared:
        return [], terms
    kept = [_without(own, shared) for own in factors]
    return shared, [
        replace(term, chain=(times(list(own)),) if own else ())
        for term, own in zip(terms, kept, strict=True)
    ]


def _unwrapped(node: ast.expr) -> ast.expr:
    """What stands in `vector(…)`."""
    return node.args[0] if isinstance(node, ast.Call) else node


def _split(coefficient: Fraction | float, body: ast.expr, numbers: frozenset[str]) -> _Term:
    factors = _factors(body)
    scalars = tuple(f for f in factors if is_number(f, numbers))
    rest = [f for f in factors if not is_number(f, numbers)]
    chain = _matrices(times(rest)) if rest else ()
    return _Term(coefficient, scalars, chain)


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and not _is_one(node.left):
        below = [ast.BinOp(ast.Constant(1), ast.Div(), factor) for factor in _factors(node.right)]
        return [*_factors(node.left), *below]
    return [node]


def is_number(node: ast.expr, numbers: frozenset[str] = frozenset()) -> bool:
    """A factor that is known to be a single number by what it is made of."""
    if isinstance(node, ast.Name):
        return node.id in numbers
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.BinOp):
        return is_number(node.left, numbers) and is_number(node.right, numbers)
    if called(node) in ("scalar", "total"):
        return True
    if not isinstance(node, ast.Call):
        return False
    if called(node) == "mean":
        return len(node.args) == 1
    return called(node) in OF_ONE_NUMBER and is_number(node.args[0], numbers)


def _matrices(node: ast.expr) -> tuple[ast.expr, ...]:
    if isinstance(node, ast.Call) and called(node) == "matmul":
        return (*_matrices(node.args[0]), *_matrices(node.args[1]))
    return (node,)


def _shared(lists: list[tuple[ast.expr, ...]]) -> list[ast.expr]:
    found: list[ast.expr] = []
    others = [[text_of(item) for item in items] for items in lists[1:]]
    for item in lists[0]:
        text = text_of(item)
        if all(text in other for other in others):
            found.append(item)
            for other in others:
                other.remove(text)
    return found


def _without(items: tuple[ast.expr, ...], gone: list[ast.expr]) -> tuple[ast.expr, ...]:
    texts = [text_of(item) for item in gone]
    kept = []
    for item in items:
        if text_of(item) in texts:
            texts.remove(text_of(item))
        else:
            kept.append(item)
    return tuple(kept)


def _ends(terms: list[_Term]) -> tuple[list[ast.expr], list[ast.expr], list[_Term]]:
    """The matrices with which all chains begin, and those with which all end."""
    left: list[ast.expr] = []
    right: list[ast.expr] = []
    for taken, place in ((left, 0), (right, -1)):
        while all(len(t.chain) > 1 for t in terms):
            if len({text_of(t.chain[place]) for t in terms}) > 1:
                break
            taken.append(terms[0].chain[place])
            cut = slice(1, None) if place == 0 else slice(None, -1)
            terms = [_Term(t.coefficient, t.scalars, t.chain[cut]) for t in terms]
    return left, right[::-1], terms


def _product(term: _Term) -> ast.expr | None:
    factors = [*term.scalars, *([_chained(term.chain)] if term.chain else [])]
    return times(factors) if factors else None


def _chained(matrices: tuple[ast.expr, ...]) -> ast.expr:
    result = matrices[0]
    for matrix in matrices[1:]:
        result = call("matmul", result, matrix)
    return result
