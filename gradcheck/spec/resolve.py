"""What the texts of a Case mean: its op, its expression and its claims, each resolved once.

A Case crosses processes, so it is small and holds texts. Whoever checks or explains one resolves
it first, and passes the result on in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck import ops
from gradcheck.model import Array, Case, TargetKind
from gradcheck.ops.declaration import Parameter
from gradcheck.spec.expression.expression import OUT, Expression, parse_formula, parse_tf
from gradcheck.spec.format.claims import formula_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.ops.declaration import Call, Op


@dataclass(frozen=True, slots=True)
class Declared:
    """The declaration of the op that a case names, and the case as a call of it."""

    op: Op
    call: Call


@dataclass(frozen=True, slots=True)
class ResolvedCase:
    """A case with the objects that its texts stand for."""

    case: Case
    declared: Declared | None
    """None for an expression, for what is the user's or Keras', and for an op not declared."""
    expression: Expression | None
    """The function under test, where it is an expression."""
    claims: Mapping[str, Expression | Array]
    """What the spec claims of the gradients, by input: a formula, or the values."""
    cdf: Expression | None = None
    """The distribution function of what the function draws."""

    @property
    def args(self) -> Mapping[str, Any]:
        """The arguments, completed with the defaults of a declared op: what a formula may name."""
        return self.case.args if self.declared is None else self.declared.call.args

    def parameter(self, name: str) -> Parameter:
        """What the op's declaration says about an input; nothing in particular without one."""
        if self.declared is None:
            return Parameter(name)
        inputs = self.declared.op.inputs
        if self.declared.op.variadic:
            return inputs[0]
        return next((p for p in inputs if p.name == name), Parameter(name))

    def formulas(self) -> dict[str, Expression]:
        """The declared formula of each input for this very call.

        None where nothing is declared, where some of the outputs were chosen, and for complex
        numbers where the formula is for real ones alone.
        """
        if self.declared is None or self.case.outputs:
            return {}
        op, call = self.declared.op, self.declared.call
        if op.real_only and self.case.dtype.startswith("complex"):
            return {}
        names = formula_names(op, self.case.takes, self.case.args)
        return {
            name: parse_formula(text, names)
            for name, text in op.formulas(call).items()
            if name in call.shapes
        }


def resolve(case: Case) -> ResolvedCase:
    """Find the op and parse the expression and the claims; ExpressionError where one is wrong."""
    kind, text = case.target.kind, case.target.text
    inputs = [i.name for i in case.inputs]
    op = ops.find_for(text, inputs, case.args) if kind is TargetKind.OP else None
    declared = None
    if op is not None:
        declared = Declared(op, op.call({i.name: i.shape for i in case.inputs}, case.args))
    expression = None
    if kind is TargetKind.EXPR:
        expression = parse_tf(text, [a.name for a in case.takes])
    names = formula_names(op, case.takes, case.args)
    claims = {
        name: parse_formula(claim, names) if isinstance(claim, str) else claim
        for name, claim in case.gradient.items()
    }
    cdf = parse_tf(case.cdf, [OUT, *(a.name for a in case.takes)]) if case.cdf else None
    return ResolvedCase(case, declared, expression, claims, cdf)
