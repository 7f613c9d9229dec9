"""Safe expressions: the text of `expr:` and of formulas, without `eval`.

Two dialects share one translation: `parse_tf` reaches the inputs and allowed `tf.…` functions,
`parse_formula` the numpy language of the ops.
"""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gradcheck.ops.language.vocabulary import CONSTANTS, FUNCTIONS
from gradcheck.spec.expression import allowlist
from gradcheck.spec.expression.translator import Code, Lookup, Translator

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gradcheck.errors import ExpressionError


TF_CONSTANTS = frozenset(
    f"tf.{name}"
    for name in [
        "newaxis",
        "bool",
        "float16",
        "float32",
        "float64",
        "half",
        "double",
        "bfloat16",
        "complex64",
        "complex128",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
    ]
)
"""What an expression may name without calling it: the dtypes, and `tf.newaxis`."""


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
    return Expression(text, _TensorFlow(text, names).code())


def parse_formula(text: str, names: Collection[str]) -> Expression:
    """Read a formula over `names` in the numpy language of `gradcheck.ops.language.vocabulary`."""
    return _parsed_formula(text, frozenset(names))


@lru_cache(maxsize=1024)
def _parsed_formula(text: str, names: frozenset[str]) -> Expression:
    # The cases of a suite evaluate the same few hundred declared formulas again and again.
    return Expression(text, _Formula(text, names).code())


class _TensorFlow(Translator):
    """Names are inputs; functions and constants are dotted `tf.…` names."""

    def _name(self, node: ast.Name) -> Code:
        if node.id in self.allowed:
            return _value_of(node.id)
        if node.id == "tf":
            raise self.refused(node, "`tf` alone is not a value: name one of its functions, tf.…")
        hint = _did_you_mean(node.id, self.allowed) or _inputs_are(self.allowed)
        raise self.refused(node, f"`{node.id}` is not an input of this case", hint)

    def _attribute(self, node: ast.Attribute) -> Code:
        name = _dotted(node)
        if name is None or not name.startswith("tf."):
            raise self._no_attribute(node, name)
        if name in TF_CONSTANTS:
            return lambda _values, lookup: lookup(name)
        if name in allowlist.ALLOWED:
            raise self.refused(node, f"`{name}` is a function: call it, {name}(…)")
        raise self._no_function(node, name)

    def function_name(self, node: ast.expr) -> str:
        name = _dotted(node)
        if name is None:
            if isinstance(node, ast.Attribute):
                raise self._no_attribute(node, name)
            raise self.refused(node, "only functions named tf.… can be called")
        if name not in allowlist.ALLOWED:
            raise self._no_function(node, name)
        return name

    def _no_function(self, node: ast.expr, name: str) -> ExpressionError:
        root = name.partition(".")[0]
        if root in self.allowed:
            if isinstance(node, ast.Attribute):
                return self._no_attribute(node, name)
            return self.refused(node, f"`{name}` is an input, it cannot be called")
        near = allowlist.nearest(name)
        hint = f"did you mean `{near}`?" if near else "tf.math, tf.linalg, tf.nn … are allowed"
        if allowlist.is_module(name):
            message, hint = f"`{name}` is a module, not a function", "name one of its functions"
        elif root == "tf":
            message = f"`{name}` is not on the list of pure TensorFlow functions"
        else:
            message = f"`{name}` is not a function known here: functions are written tf.…"
        return self.refused(node, message, hint)

    def _no_attribute(self, node: ast.Attribute, name: str | None) -> ExpressionError:
        if name is not None and name.partition(".")[0] not in self.allowed:
            return self._no_function(node, name)
        if name is None:
            # What the attribute is taken of may be the graver matter.
            self.translate(node.value)
        near = {"T": "tf.transpose", "shape": "tf.shape"}.get(node.attr)
        near = near or allowlist.equivalent(node.attr)
        hint = f"write {near}(…) of the value" if near else "functions are written tf.…(value)"
        return self.refused(node, f"`.{node.attr}` of a value is not reached from a spec", hint)


class _Formula(Translator):
    """Names are inputs, arguments, `G`, `out` and constants; functions have bare names."""

    def _name(self, node: ast.Name) -> Code:
        name = node.id
        if name in self.allowed:
            return _value_of(name)
        if name in CONSTANTS:
            return lambda _values, lookup: lookup(name)
        if name in FUNCTIONS:
            raise self.refused(node, f"`{name}` is a function: call it, {name}(…)")
        hint = _did_you_mean(name, [*self.allowed, *CONSTANTS]) or _inputs_are(self.allowed)
        raise self.refused(node, f"`{name}` is not known in this formula", hint)

    def _attribute(self, node: ast.Attribute) -> Code:
        wanted = {"T": "transpose"}.get(node.attr, node.attr)
        if isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy", "tf"):
            raise self._no_function(node, f"{node.value.id}.{node.attr}", wanted)
        near = _did_you_mean(wanted, FUNCTIONS)
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
        near = _did_you_mean(wanted, FUNCTIONS)
        hint = near or "known are: " + ", ".join(sorted(FUNCTIONS))
        return self.refused(node, f"`{shown}` is not a function of the formula language", hint)


def _value_of(name: str) -> Code:
    return lambda values, _lookup: values[name]


def _dotted(node: ast.expr) -> str | None:
    """`tf.linalg.matmul` for the nodes that spell it; None for anything but names and dots."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _did_you_mean(name: str, known: Collection[str]) -> str:
    if name in known:
        return f"did you mean `{name}(…)`?"
    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else ""


def _inputs_are(names: Collection[str]) -> str:
    return f"known are: {', '.join(sorted(names))}" if names else "no names are known here"
