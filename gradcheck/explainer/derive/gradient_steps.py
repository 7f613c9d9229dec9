"""The gradient of one op, derived from its forward in index notation step by step."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from gradcheck import ops
from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Node,
    NotDerivable,
    Number,
    Product,
    Tensor,
    Total,
    differentiate,
    walk,
)
from gradcheck.explainer.calculus.indices import Index, Space
from gradcheck.explainer.calculus.simplify import flatten, simplify
from gradcheck.explainer.calculus.translate import OPEN_RULES, Translation
from gradcheck.explainer.calculus.values import Value
from gradcheck.explainer.formula.broadcasting import is_elementwise
from gradcheck.explainer.formula.matrix_form import formula_of
from gradcheck.explainer.formula.sums_and_products import NoMatrixForm

if TYPE_CHECKING:
    from gradcheck.explainer.derive.op_subject import Subject
    from gradcheck.ops.declaration import Op

__all__ = ["Forward", "GradientSteps", "forward_element", "gradient_steps", "partial"]


@dataclass(frozen=True)
class Forward:
    """One element of the output, in index notation."""

    node: Node
    indices: tuple[Index, ...]
    space: Space


@dataclass(frozen=True)
class GradientSteps:
    """The derivation of one input's gradient; each node is a line, and can be executed."""

    name: str
    at: tuple[Index, ...]
    """The indices of the input's element."""
    out: tuple[Index, ...]
    """The indices of the output's element."""
    raw: Node
    """∂y[out]/∂x[at] by the product rule, a delta for each index of x."""
    jacobian: Node
    """∂y[out]/∂x[at], the inner deltas contracted."""
    product: Node
    """Σ_out G·∂y/∂x."""
    result: Node
    """∂L/∂x[at]: that sum, the deltas contracted."""
    matrix: ast.expr | None
    """Without indices, where that can be written."""


def forward_element(subject: Subject) -> Forward | None:
    """The forward in index notation; None where the calculus cannot look into the op."""
    if _is_closed(subject) or subject.forward is None:
        return None
    space = Space()
    try:
        value = Translation(space, subject.known(), OPEN_RULES).value(subject.forward)
        indices = space.axes(value.shape, _output_letters(subject))
        plain = flatten(value.at(indices))
        node = simplify(plain, space)
        # Multiplying out helps where deltas meet; without them it makes a formula longer.
        shown = plain if _size(plain) < _size(node) else node
        return None if _has_array(node) else Forward(shown, indices, space)
    except NotDerivable:
        return None


def _is_closed(subject: Subject) -> bool:
    """Whether the calculus does not look into the op: it knows real numbers and one output."""
    return bool(subject.op.outputs) or subject.op.is_complex


def _size(node: Node) -> int:
    return sum(1 for _ in walk(node))


def _output_letters(subject: Subject) -> str:
    """The letters that an equation gives to the axes of the output."""
    equation = trees.equation_of(subject.forward) if subject.forward is not None else ""
    return equation.partition("->")[2] or subject.op.axis_letters(subject.call).get("out", "")


def gradient_steps(subject: Subject, name: str) -> GradientSteps | None:
    """Derive the gradient of one input; None where the calculus has no rule."""
    if _is_closed(subject) or subject.forward is None:
        return None
    space = Space()
    translation = Translation(space, subject.known(), OPEN_RULES)
    at = space.axes(subject.call.shapes[name])
    out = space.axes(subject.shape, _output_letters(subject))
    try:
        if is_elementwise(subject.op):
            slope = _slope(subject, name, translation).fitted(out)
            own = _own_element(subject, name, out)
            inner = differentiate(own, name, at, partial)
            raw: Node = flatten(Product((simplify(slope, space), inner)))
            jacobian = simplify(raw, space)
        else:
            forward = translation.value(subject.forward).at(out)
            raw = flatten(differentiate(forward, name, at, partial))
            jacobian = simplify(raw, space)
        product = flatten(Product((Tensor("G", out), jacobian)))
        bound = tuple(i for i in out if isinstance(i, str))
        total = Total(bound, product) if bound else product
        result = simplify(total, space)
    except (NotDerivable, KeyError):
        return None
    if _has_array(jacobian):
        return None
    try:
        matrix: ast.expr | None = formula_of(result, at, space)
    except NoMatrixForm:
        matrix = None
    return GradientSteps(name, at, out, raw, jacobian, total, result, matrix)


def _has_array(node: Node) -> bool:
    return any(isinstance(part, Array) for part in walk(node))


def _own_element(subject: Subject, name: str, out: tuple[Index, ...]) -> Node:
    shape = subject.call.shapes[name]
    own = out[len(out) - len(shape) :]
    return Tensor(name, tuple(0 if n == 1 else i for n, i in zip(shape, own, strict=True)))


def _slope(subject: Subject, name: str, translation: Translation) -> Value:
    """The slope dy/dx of an elementwise op: its declared formula for an upstream of one."""
    one = trees.substitute(subject.gradients[name], {"G": 1})
    return translation.value(one)


@cache
def _by_function() -> dict[str, Op]:
    """By function of the language, the elementwise op that is just this function."""
    found: dict[str, Op] = {}
    for op in ops.all_ops():
        if is_elementwise(op) and isinstance(op.forward, str) and not op.is_complex:
            tree = trees.read(op.forward)
            names = [p.name for p in op.inputs]
            if isinstance(tree, ast.Call) and [getattr(a, "id", "") for a in tree.args] == names:
                found.setdefault(trees.called(tree), op)
    return found


def partial(function: str, position: int, args: tuple[Node, ...]) -> Node:
    """The derivative of a function of numbers: what the op of that name declares for it."""
    if function == "reciprocal":
        return Product((Number(Fraction(-1)), Apply("reciprocal", (Apply("square", args),))))
    named = {"power": "pow", "softplus": "softplus"}.get(function)
    op = ops.find(named) if named else _by_function().get(function)
    if op is None:
        raise NotDerivable(function)
    if function == "power" and position == 0 and isinstance(args[1], Number):
        lower = args[1].value - 1
        power: Node = args[0] if lower == 1 else Apply("power", (args[0], Number(lower)))
        return Product((args[1], power))
    parameter = op.inputs[position].name
    formula = trees.substitute(trees.real(trees.read(_declared(op)[parameter])), {"G": 1})
    known: dict[str, Value] = {
        p.name: Value((), lambda _, node=node: node)  # type: ignore[misc]
        for p, node in zip(op.inputs, args, strict=True)
    }
    known["out"] = Value((), lambda _: Apply(function, args))
    return Translation(Space(), known).value(formula).at(())


def _declared(op: Op) -> dict[str, str]:
    call = op.call({p.name: () for p in op.inputs}, {})
    return dict(op.formulas(call))
