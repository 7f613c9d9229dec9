"""A function of complex numbers as one of real numbers: its derivation is that of the parts.

TensorFlow's gradient of z = a + ib is ∂L/∂a + i·∂L/∂b. So a page about a and b says all of it, and
no line of it needs a conjugate; the tape that it is held against goes through the user's function.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.callee import Callee

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.subject.callee import Arguments
    from gradcheck.checker.subject.operand import Operand
    from gradcheck.checker.subject.problem import Problem

__all__ = ["in_real_numbers", "is_complex"]


def is_complex(problem: Problem, outputs: Sequence[Any]) -> bool:
    """Whether it takes or gives complex numbers."""
    return any(map(_holds_complex, problem.operands)) or any(o.dtype.is_complex for o in outputs)


def in_real_numbers(problem: Problem, outputs: Sequence[Any]) -> tuple[Problem, list[str]]:
    """The problem of the parts, and what is to be said of them."""
    operands: list[Operand] = []
    said = []
    taken = {operand.name for operand in problem.operands}
    pairs = []
    for operand in problem.operands:
        if not _holds_complex(operand):
            pairs.append(False)
            operands.append(operand)
            continue
        pairs.append(True)
        names = [_free(f"{operand.name}_{part}", taken) for part in ("re", "im")]
        values = (np.real(operand.value), np.imag(operand.value))
        operands += [
            replace(operand, name=name, value=np.ascontiguousarray(value), structure="general")
            for name, value in zip(names, values, strict=True)
        ]
        said.append(
            f"{operand.name} is complex: {names[0]} and {names[1]} are its real and its imaginary "
            f"part, and TensorFlow's gradient of it is ∂L/∂{names[0]} + i·∂L/∂{names[1]}."
        )
    if outputs and outputs[0].dtype.is_complex:
        said.append(
            "It gives complex numbers: on the last axis of the result stand their real and their "
            "imaginary part, and on that of G the two of TensorFlow's upstream gradient."
        )
    function = _of_parts(problem.function, tuple(pairs))
    return replace(problem, function=function, operands=tuple(operands)), said


def _holds_complex(operand: Operand) -> bool:
    return bool(operand.value.dtype.kind == "c")


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _of_parts(function: Any, pairs: tuple[bool, ...]) -> Callee:
    """The function given parts, which gives parts.

    Args:
        function: takes complex tensors.
        pairs: by operand of it: whether that comes in two parts.
    """
    own = function if isinstance(function, Callee) else Callee(function)

    def arrange(tensors: Sequence[Any]) -> Arguments:
        import tensorflow as tf

        rest = iter(tensors)
        return own.arrange([
            tf.complex(next(rest), next(rest)) if pair else next(rest) for pair in pairs
        ])  # fmt: skip

    def select(returned: Any) -> Any:
        import tensorflow as tf

        def parts(leaf: Any) -> Any:
            if not (tf.is_tensor(leaf) and leaf.dtype.is_complex):
                return leaf
            return tf.stack([tf.math.real(leaf), tf.math.imag(leaf)], axis=-1)

        return tf.nest.map_structure(parts, own.select(returned))

    return Callee(own.target, arrange, select)
