"""An expression of TensorFlow calls as numbered steps, each a declared op with its shape."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradcheck.explainer import trees
from gradcheck.explainer.derive.literal_lists import with_lists_worked_out
from gradcheck.explainer.named_functions import named
from gradcheck.ops.declaration import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Op

__all__ = ["Graph", "Step"]


@dataclass(frozen=True)
class Step:
    """One call: what it computes from the inputs and the steps before."""

    name: str
    op: Op
    call: Call
    operands: Mapping[str, ast.expr]
    """By the op's name of the input: an input of the expression, a step, or a constant."""
    shape: Shape
    part: int | None = None
    """Which of several outputs this is."""
    source: str = ""
    """The call as it was written, over the names of the steps: TensorFlow runs it as it is."""

    @property
    def forward(self) -> ast.expr:
        """The step in the language of formulas, over the names of the expression."""
        whole = self.filled(self.op.forward_text(self.call))
        return whole if self.part is None else _element(whole, self.part)

    @property
    def shown(self) -> ast.expr:
        """The step as a page writes it."""
        return self.forward

    @property
    def through(self) -> Callable[[str, ast.expr], ast.expr] | None:
        """How a change of an input goes through a step that has no rule; None where it has one."""
        return None

    def around(self, upstream: ast.expr) -> tuple[ast.expr, ast.expr]:
        """What `G` and `out` are in the op's formulas: lists, where it has several outputs."""
        own = ast.Name(self.name)
        if self.part is None:
            return upstream, own
        whole = self.filled(self.op.forward_text(self.call))
        shapes = self.op.output_shapes(self.call)
        zeros = [trees.call("zeros", trees.read(repr(list(shape)))) for shape in shapes]
        others = [_element(whole, i) for i in range(len(shapes))]
        zeros[self.part], others[self.part] = upstream, own
        return ast.List(zeros), ast.List(others)

    def filled(self, text: str, **more: ast.expr) -> ast.expr:
        """A text of the op's declaration with this step's names, for real inputs."""
        args = {k: v for k, v in self.call.args.items() if k not in self.operands}
        values: dict[str, Any] = {**args, **self.operands, **more}
        tree = trees.substitute(trees.read(text), values)
        return named(trees.real(with_lists_worked_out(tree)))

    @property
    def differentiable(self) -> dict[str, str]:
        """The op's inputs that have a gradient, and the values that they are."""
        if not self.op.formula:
            return {}
        kinds = {p.name: p.kind for p in self.op.inputs}
        return {
            name: operand.id
            for name, operand in self.operands.items()
            if isinstance(operand, ast.Name) and kinds.get(name, Kind.REAL).is_differentiated
        }


@dataclass(frozen=True)
class Graph:
    """The whole expression."""

    text: str
    inputs: Mapping[str, Shape]
    steps: tuple[Step, ...]
    output: str
    notes: tuple[str, ...] = ()
    """What is written otherwise than in the text."""
    told: Mapping[str, str] = field(default_factory=dict)
    """By input: what it is, where it is none that somebody gives."""
    unwritten: frozenset[str] = frozenset()
    """Names of values that code cannot compute: what has no rule, and its Jacobians."""
    given: Mapping[str, str] = field(default_factory=dict)
    """By name of an array that the function holds: the code that makes it."""
    symbols: Mapping[str, str] = field(default_factory=dict)
    """By name: how it is written, where not as itself."""

    def symbol(self, name: str) -> str:
        """How a name is written on the page."""
        return self.symbols.get(name, name)

    @property
    def shapes(self) -> dict[str, Shape]:
        """Of the inputs and of every step."""
        return {**self.inputs, **{step.name: step.shape for step in self.steps}}

    @property
    def ops(self) -> list[str]:
        """The names of the ops that the steps are."""
        return [step.op.name for step in self.steps]

    def uses(self, name: str) -> list[Step]:
        """The steps that a value goes into, one entry for each time."""
        return [s for s in self.steps for used in s.differentiable.values() if used == name]


def _element(tree: ast.expr, place: int) -> ast.expr:
    if isinstance(tree, ast.List):
        return tree.elts[place]
    return ast.Subscript(tree, ast.Constant(place))
