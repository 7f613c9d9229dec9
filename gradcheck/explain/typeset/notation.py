"""What both notations share: how tightly a text binds, and how mathematics calls a function."""

from __future__ import annotations

__all__ = ["ATOM", "DUAL", "POWER", "PRODUCT", "RELATIONS", "RENAMED", "SUM", "Text"]

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
