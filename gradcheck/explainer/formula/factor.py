"""A sum of matrix products with what its terms share taken out: `Aᵀ (A x − b)`."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from fractions import Fraction

from gradcheck.explainer.calculus.einstein import magnitude
from gradcheck.explainer.formula.sums_and_products import Scaled, joined, times
from gradcheck.explainer.trees import call, called, text_of

__all__ = ["factored"]


@dataclass(frozen=True)
class _Term:
    """`coefficient · scalars · chain`, the chain a product of matrices."""

    coefficient: Fraction | float
    scalars: tuple[ast.expr, ...]
    chain: tuple[ast.expr, ...]


def factored(parts: list[Scaled]) -> ast.expr:
    """The sum, its common numbers and its common first and last matrices written once."""
    if len(parts) < 2 or any(body is None for _, body in parts):
        return joined(parts)
    terms = [_split(coefficient, body) for coefficient, body in parts if body is not None]
    if any(not term.chain for term in terms):
        return joined(parts)
    wrapped = all(called(term.chain[0]) == "vector" for term in terms)
    if wrapped:
        terms = [replace(t, chain=_matrices(_unwrapped(t.chain[0]))) for t in terms]
    scalars = _shared([term.scalars for term in terms])
    sizes = {magnitude(term.coefficient) for term in terms}
    size = sizes.pop() if len(sizes) == 1 else Fraction(1)
    inner = [_Term(t.coefficient / size, _without(t.scalars, scalars), t.chain) for t in terms]
    left, right, inner = _ends(inner)
    if not scalars and not left and not right:
        return joined(parts)
    # A sum begins with a term that is not negative, if there is one.
    ordered = sorted(inner, key=lambda term: term.coefficient < 0)
    middle = joined([(t.coefficient, _product(t)) for t in ordered])
    whole = _chained((*left, middle, *right))
    whole = call("vector", whole) if wrapped else whole
    return joined([(size, times([*scalars, whole]))])


def _unwrapped(node: ast.expr) -> ast.expr:
    """What stands in `vector(…)`."""
    return node.args[0] if isinstance(node, ast.Call) else node


def _split(coefficient: Fraction | float, body: ast.expr) -> _Term:
    factors = _factors(body)
    scalars = tuple(f for f in factors if _is_number(f))
    rest = [f for f in factors if not _is_number(f)]
    chain = _matrices(times(rest)) if rest else ()
    return _Term(coefficient, scalars, chain)


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _is_number(node: ast.expr) -> bool:
    """A factor that is known to be a single number by what it is called."""
    return called(node) in ("scalar", "total") or (isinstance(node, ast.Name) and node.id == "G")


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


def _product(term: _Term) -> ast.expr:
    return times([*term.scalars, _chained(term.chain)])


def _chained(matrices: tuple[ast.expr, ...]) -> ast.expr:
    result = matrices[0]
    for matrix in matrices[1:]:
        result = call("matmul", result, matrix)
    return result
