"""What both notations share: how tightly a text binds, names of functions, opposite conditions."""

from __future__ import annotations

import ast

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import Apply, Node

__all__ = [
    "ATOM",
    "DUAL",
    "POWER",
    "PRODUCT",
    "RELATIONS",
    "RENAMED",
    "SUM",
    "Text",
    "opposite_node",
    "opposite_tree",
]

SUM, PRODUCT, POWER, ATOM = range(4)
"""How tightly a text binds: what binds less than its surroundings need goes into brackets."""

Text = tuple[str, int]
"""Mathematics that is set, and how tightly it binds."""

RENAMED = {
    "sigmoid": "σ",
    "lgamma": "logΓ",
    "digamma": "ψ",
    "maximum": "max",
    "minimum": "min",
    "diag_matrix": "diag",
}
"""By function: how mathematics calls it."""
RELATIONS = {
    "greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=", "equal": "==",
    "not_equal": "!=",
}  # fmt: skip
"""By function: the sign of the comparison."""
DUAL = {"logical_or": "logical_and", "logical_and": "logical_or"}
"""By function that joins two conditions: the one that joins their opposites."""

_OPPOSITE_COMPARISON = {
    "greater": "less_equal", "greater_equal": "less", "less": "greater_equal",
    "less_equal": "greater", "equal": "not_equal", "not_equal": "equal",
}  # fmt: skip
_OPPOSITE_SIGNS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Gt: ast.LtE(), ast.LtE: ast.Gt(), ast.Lt: ast.GtE(), ast.GtE: ast.Lt(),
    ast.Eq: ast.NotEq(), ast.NotEq: ast.Eq(),
}  # fmt: skip


def opposite_tree(condition: ast.expr) -> ast.expr:
    """The condition of a formula that holds where the other fails."""
    if isinstance(condition, ast.Compare):
        sign = _OPPOSITE_SIGNS[type(condition.ops[0])]
        return ast.Compare(condition.left, [sign], condition.comparators)
    if isinstance(condition, ast.Call) and trees.called(condition) in DUAL:
        return trees.call(DUAL[trees.called(condition)], *map(opposite_tree, condition.args))
    return trees.call("logical_not", condition)


def opposite_node(condition: Node) -> Node:
    """The condition in index notation that holds where the other fails."""
    if isinstance(condition, Apply):
        if condition.function in _OPPOSITE_COMPARISON:
            return Apply(_OPPOSITE_COMPARISON[condition.function], condition.args)
        if condition.function in DUAL:
            return Apply(DUAL[condition.function], tuple(map(opposite_node, condition.args)))
    return Apply("logical_not", (condition,))
