"""Cholesky factors of which nothing is left in a gradient: they solve, and give a determinant.

`tf.linalg.cholesky_solve(L, y)` is K⁻¹ y, and Σ log L[i,i] half of log det K: the likelihood of a
Gaussian process comes back as (K⁻¹ − α αᵀ) / 2, as it does in textbooks. K is symmetric, and so is
its inverse. Without it `test_the_likelihood_of_a_gaussian_process` fails.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.einstein import Apply, Array, Node, Product, Sum, Total
from gradcheck.explainer.calculus.simplify import simplify
from gradcheck.explainer.calculus.sum_rules import SUM_RULES
from gradcheck.explainer.derive.composition import added, composed
from gradcheck.explainer.derive.read_graph import Reader
from gradcheck.spec.expression.syntax import parse_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.explainer.calculus.indices import Index, Space
    from gradcheck.explainer.derive.call_graph import Graph, Step

__all__ = ["squared_again", "with_matrices_given", "without_factors", "written_over"]

_INVERTING = ("inv", "solve", "logdet", "det", "slogdet", "pinv")
"""Ops that bring inverses of matrices that need not be symmetric."""


def without_factors(graph: Graph) -> Graph | None:
    """The graph over the matrix in the place of its factor; None where that is not to be done."""
    if any(step.op.name in _INVERTING for step in graph.steps):
        return None
    factors = {s.name: name for s in graph.steps if (name := _operand(s, "cholesky"))}
    by_name = {step.name: step for step in graph.steps}
    steps: list[Step] = []
    for step in graph.steps:
        text = _over_the_matrix(step, by_name, factors)
        steps += [step] if text is None else _read(text, graph, step)
    return replace(graph, steps=tuple(steps)) if len(steps) > len(graph.steps) else None


def with_matrices_given(graph: Graph) -> Graph | None:
    """The graph in which the matrices that are factored are inputs; None if they all are."""
    factored = {name for step in graph.steps if (name := _operand(step, "cholesky"))}
    given = {name: graph.shapes[name] for name in sorted(factored - graph.inputs.keys())}
    if not given:
        return None
    steps = tuple(step for step in graph.steps if step.name not in given)
    return replace(graph, inputs={**graph.inputs, **given}, steps=steps)


def _over_the_matrix(step: Step, by_name: dict[str, Step], factors: dict[str, str]) -> str | None:
    if step.op.name == "cholesky_solve":
        factor, right = (ast.unparse(step.operands[p.name]) for p in step.op.inputs[:2])
        over = f"tf.matmul(tf.linalg.inv({factors.get(factor)}), {right})"
        return over if factor in factors else None
    if step.op.name == "reduce_sum" and not step.shape:
        logs = by_name.get(next(iter(step.differentiable.values()), ""))
        diagonal = by_name.get(_operand(logs, "log") if logs else "")
        factor = next(iter(diagonal.differentiable.values()), "") if diagonal else ""
        if diagonal and diagonal.op.name == "diag_part" and factor in factors:
            return f"tf.linalg.logdet({factors[factor]}) / 2.0"
    return None


def _operand(step: Step, kind: str) -> str:
    """The name of what an op of this kind is given; empty for another op."""
    return next(iter(step.differentiable.values()), "") if step.op.name == kind else ""


def _read(text: str, graph: Graph, step: Step) -> list[Step]:
    """The steps of a text, the last of which is called as the one in whose place they are."""
    reader = Reader(parse_tree(text), graph.shapes)
    reader.prefix = f"{step.name}_"
    reader.value(reader.tree.body)
    found = list(reader.steps)
    return [*found[:-1], replace(found[-1], name=step.name)]


def written_over(graph: Graph, name: str) -> tuple[Node, tuple[Index, ...], Space]:
    """What comes back to an input of such a graph, over the inputs alone."""
    way = composed(graph, SUM_RULES, {}, inline=True)
    indices = way.space.axes(graph.inputs[name])
    node = added(way.space, way.reached[name]).fitted(indices)
    return simplify(_sorted(node, indices), way.space), indices, way.space


def _sorted(node: Node, free: Sequence[Index]) -> Node:
    """With the indices of each inverse in one order: it is symmetric."""
    if isinstance(node, Array) and node.function == "inv" and len(node.indices) == 2:
        order = sorted(node.indices, key=lambda index: (index not in free, str(index)))
        return replace(node, indices=tuple(order))
    if isinstance(node, Product):
        return Product(tuple(_sorted(each, free) for each in node.factors))
    if isinstance(node, Sum):
        return Sum(tuple(_sorted(each, free) for each in node.terms))
    if isinstance(node, Apply):
        return Apply(node.function, tuple(_sorted(each, free) for each in node.args))
    return Total(node.indices, _sorted(node.body, free)) if isinstance(node, Total) else node


class _Squared(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if trees.called(node) == "mT" and trees.called(node.args[0]) == "inv":
            return node.args[0]
        factors = _chain(node)
        texts = list(map(trees.text_of, factors))
        for at in range(1, len(factors) - 2):
            solved = trees.call("matmul", factors[at - 1], factors[at])
            is_square = texts[at - 1] == texts[at + 2] and trees.called(factors[at - 1]) == "inv"
            if is_square and _is_turned(texts[at], texts[at + 1]):
                turned = trees.call("mT", solved)
                left = [*factors[: at - 1], solved, turned, *factors[at + 3 :]]
                whole = left[0]
                for factor in left[1:]:
                    whole = trees.call("matmul", whole, factor)
                return whole
        return node


def _chain(node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, ast.Call) or trees.called(node) != "matmul":
        return [node]
    return [*_chain(node.args[0]), *_chain(node.args[1])]


def _is_turned(one: str, other: str) -> bool:
    return other == f"mT({one})" or (
        one.startswith("column(") and other == one.replace("column(", "row(", 1)
    )


def squared_again(formula: ast.expr) -> ast.expr:
    """α αᵀ for K⁻¹ y yᵀ K⁻¹: what has been solved stands there twice."""
    found: ast.expr = _Squared().visit(trees.read(trees.text_of(formula)))
    return found
