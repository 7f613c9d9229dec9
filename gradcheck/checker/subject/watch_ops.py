"""What a function computes on its way, each result with the formula that it is.

Every operation of a call is watched, with every tf.function run as Python. A result has a formula
if its operands have one: the inputs have their names, single numbers their digits.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import causes
from gradcheck.checker.subject.as_python import as_python
from gradcheck.checker.subject.private_names import Absent, called_back
from gradcheck.checker.subject.tensors import call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.model import Array

_FUNCTIONS = {
    "Sigmoid": "σ",
    "Maximum": "max",
    "Minimum": "min",
    "Pow": "pow",
}
_BY_THEIR_NAMES = (
    *("Atan", "Cos", "Cosh", "Elu", "Erf", "Erfc", "Exp", "Expm1", "Log", "Log1p", "Relu"),
    *("Rsqrt", "Sign", "Sin", "Sinh", "Softplus", "Sqrt", "Tan", "Tanh"),
)
_OPERATORS = {"AddV2": " + ", "Add": " + ", "Sub": " − ", "Mul": "·", "RealDiv": "/", "Div": "/"}
_PRODUCTS = ("Mul", "RealDiv", "Div", "Square", "Neg")
"""Results that are products, which a formula makes of their factors."""
_SAME = ("Identity", "StopGradient", "ReadVariableOp", "Snapshot")


def results_on_the_way(
    function: Callable[..., Any], operands: Sequence[Operand], values: Sequence[Array]
) -> dict[str, Array]:
    """By formula: the real floating-point results of a call, where they have one; no products."""
    constants = [operand.hold(v) for operand, v in zip(operands, values, strict=True)]
    watcher = _Watcher({id(c): o.name for c, o in zip(constants, operands, strict=True)})
    # (Where TensorFlow does not tell of them, there are none.)
    with suppress(Absent), as_python(), called_back(watcher):
        call(function, constants)
    return watcher.results


class _Watcher:
    """Called by TensorFlow after every operation."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.results: dict[str, Array] = {}
        self._formulas: dict[int, str] = dict(names)
        """By id of a tensor."""
        self._held: list[Any] = []
        """Tensors that must not go, lest another one gets their id."""

    def __call__(
        self, kind: str, inputs: Any, _: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:
        """Keep what was computed, if it has a formula."""
        del op_name
        self._held += [*inputs, *outputs]
        if graph is not None or len(outputs) != 1 or len(self.results) >= causes.RESULTS_ON_THE_WAY:
            return
        formula = self._formula(kind, inputs)
        if formula and outputs[0].dtype.is_floating:
            self._formulas[id(outputs[0])] = formula
            if kind not in _SAME and kind not in _PRODUCTS:
                self.results.setdefault(formula, np.asarray(outputs[0].numpy()))

    def _formula(self, kind: str, inputs: Any) -> str:
        """What an operation computes, in words of its operands; empty if that has no name."""
        operands = [self._operand(tensor) for tensor in inputs]
        if not all(operands) or not operands:
            return ""
        told = ""
        if kind in _SAME:
            return operands[0]
        if kind in _FUNCTIONS or kind in _BY_THEIR_NAMES:
            told = f"{_FUNCTIONS.get(kind, kind.lower())}({', '.join(operands)})"
        elif kind in _OPERATORS and len(operands) == 2:
            told = _OPERATORS[kind].join(map(in_brackets, operands))
        elif kind == "Neg":
            told = f"−{in_brackets(operands[0])}"
        elif kind == "Square":
            told = f"{in_brackets(operands[0])}²"
        elif kind == "Abs":
            told = f"|{operands[0]}|"
        return told if len(told) <= causes.LONGEST_RESULT else ""

    def _operand(self, tensor: Any) -> str:
        known = self._formulas.get(id(tensor))
        if known:
            return known
        if tensor.dtype.is_floating and tensor.shape.rank == 0:
            return f"{float(tensor.numpy()):.6g}".replace("-", "−")
        return ""


def in_brackets(formula: str) -> str:
    """The formula as a factor: in brackets unless it is one already."""
    depth = 0
    for character in formula:
        depth += (character in "(") - (character in ")")
        if depth == 0 and character in " ·/−":
            return f"({formula})"
    return formula
