"""Sums and means that keep their axes, so that they fit beside the array that they are of."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from gradcheck.explainer.calculus.einstein import Apply, Node, Total, free
from gradcheck.explainer.formula.sums_and_products import NoMatrixForm
from gradcheck.explainer.trees import call, read

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from gradcheck.explainer.calculus.indices import Index

    Laid = Callable[[Node, tuple[Index, ...]], ast.expr]
    """An expression with these axes as an array."""

__all__ = ["beside", "mean_of"]


def mean_of(node: Node) -> Total | None:
    """The sum of which this is the mean; None where it is none."""
    if isinstance(node, Apply) and node.function == "mean" and isinstance(node.args[0], Total):
        return node.args[0]
    return None


def beside(
    node: Total,
    indices: tuple[Index, ...],
    laid: Laid,
    function: str,
) -> ast.expr:
    """`sum` or `mean` over the axes of the bound indices, which stand in the place of others.

    NoMatrixForm where the array that is summed does not lie as the result does.
    """
    if not free(node):
        return _whole(node, laid, function)
    inside = free(node)
    places = [p for p, i in enumerate(indices) if i not in inside]
    for chosen in permutations(places, len(node.indices)):
        own = list(indices)
        for place, index in zip(chosen, node.indices, strict=True):
            own[place] = index
        if {*free(node.body)} != {i for i in own if isinstance(i, str)}:
            continue
        try:
            body = laid(node.body, tuple(own))
        except NoMatrixForm:
            continue
        # An array without the axes of size 1 in front is counted from behind.
        before = len(own) if 0 in own else 0
        axes = [place - before for place in sorted(chosen)]
        axis = read(repr(axes if len(axes) > 1 else axes[0]))
        return call(function, body, axis, read("True"))
    raise NoMatrixForm


def _whole(node: Total, laid: Laid, function: str) -> ast.expr:
    """Over everything it is a number, which fits anywhere."""
    for own in permutations(node.indices):
        try:
            return call("total" if function == "sum" else function, laid(node.body, own))
        except NoMatrixForm:
            continue
    raise NoMatrixForm
