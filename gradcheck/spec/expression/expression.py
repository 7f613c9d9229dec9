"""Safe expressions: the text of `expr:` and of formulas, without `eval`.

Two dialects share one translation: `parse_tf` reaches the inputs and allowed functions of
TensorFlow and Keras, `parse_formula` the numpy language of the ops.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gradcheck.ops.language.vocabulary import CONSTANTS, FUNCTIONS
from gradcheck.spec.expression.tensorflow_dialect import TF_CONSTANTS, TensorFlowDialect
from gradcheck.spec.expression.translator import (
    Code,
    Lookup,
    Translator,
    did_you_mean,
    inputs_are,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gradcheck.errors import ExpressionError

__all__ = ["OUT", "TF_CONSTANTS", "Expression", "parse_formula", "parse_tf"]

OUT = "out"
"""What an expression about a function's output calls it."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression, ready to be evaluated many times."""

    text: str
    code: Code = field(repr=False, compare=False)

    def evaluate(self, values: Mapping[str, Any], lookup: Lookup) -> Any:
        """The value for these inputs; `lookup` gives a function or constant by its name."""
        return self.code(values, lookup)


def parse_tf(text: str, names: Collection[str]) -> Expression:
    """Read an expression over the inputs `names` and the allowed TensorFlow functions."""
    return Expression(text, TensorFlowDialect(text, names).code())


def parse_formula(text: str, names: Collection[str]) -> Expression:
    """Read a formula over `names` in the numpy language of `gradcheck.ops.language.vocabulary`."""
    return _parsed_formula(text, frozenset(names))


@lru_cache(maxsize=1024)
def _parsed_formula(text: str, names: frozenset[str]) -> Expression:
    # The cases of a suite evaluate the same few hundred declared formulas again and again.
    return Expression(text, _Formula(text, names).code())


class _Formula(Translator):
    """Names are inputs, arguments, `G`, `out` and constants; functions have bare names."""

    def _name(self, node: ast.Name) -> Code:
        name = node.id
        if name in self.allowed:
            return value_of(name)
        if name in CONSTANTS:
            return lambda _values, lookup: lookup(name)
        if name in FUNCTIONS:
            raise self.refused(node, f"`{name}` is a function: call it, {name}(…)")
        hint = did_you_mean(name, [*self.allowed, *CONSTANTS]) or inputs_are(self.allowed)
        raise self.refused(node, f"`{name}` is not known in this formula", hint)

    def _attribute(self, node: ast.Attribute) -> Code:
        wanted = {"T": "transpose"}.get(node.attr, node.attr)
        if isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy", "tf"):
            raise self._no_function(node, f"{node.value.id}.{node.attr}", wanted)
        near = did_you_mean(wanted, FUNCTIONS)
        hint = near or "functions are written name(value)"
        raise self.refused(node, f"`.{node.attr}` of a value is not reached from a formula", hint)

    def function_name(self, node: ast.expr) -> str:
        if isinstance(node, ast.Attribute):
            self._attribute(node)
        if not isinstance(node, ast.Name):
            raise self.refused(node, "only functions of the formula language can be called")
        if node.id not in FUNCTIONS:
            raise self._no_function(node, node.id, node.id)
        return node.id

    def _no_function(self, node: ast.expr, shown: str, wanted: str) -> ExpressionError:
        wanted = wanted.removeprefix("reduce_")
        near = did_you_mean(wanted, FUNCTIONS)
        hint = near or "known are: " + ", ".join(sorted(FUNCTIONS))
        return self.refused(node, f"`{shown}` is not a function of the formula language", hint)
