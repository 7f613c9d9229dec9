"""Reads the text of an expression as a graph of steps; what has no declaration is refused."""

from __future__ import annotations

import ast
import contextlib
import re
from typing import TYPE_CHECKING, Any

from gradcheck import ops
from gradcheck.errors import ExpressionError, ShapeError
from gradcheck.explainer import trees
from gradcheck.explainer.derive.call_graph import Graph, Step
from gradcheck.explainer.derive.call_text import (
    NoRule,
    constant_of,
    filled_of,
    literal_of,
    misfit_of,
    shape_in,
    source_of,
)
from gradcheck.explainer.derive.new_axes import read_text
from gradcheck.explainer.derive.passed_through import (
    PASSED,
    STOPPED,
    gives_values_alone,
    without_vectors,
)
from gradcheck.ops.families.einsum import relettered, relettering_note
from gradcheck.spec.expression.expression import parse_tf
from gradcheck.spec.format.array_values import size_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Op
    from gradcheck.spec.expression.syntax import Tree

__all__ = ["Reader", "read_graph"]

_OPERATORS = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide",
    ast.Pow: "pow", ast.MatMult: "matmul",
}  # fmt: skip


def read_graph(text: str, shapes: Mapping[str, Shape]) -> Graph:
    """Read an expression; ExpressionError says which part is wrong or has no declaration."""
    for name, shape in shapes.items():
        if problem := size_problem(shape):
            raise ExpressionError(f"`{name}`: {problem}")
    parse_tf(text, shapes)
    reader = Reader(read_text(text), shapes)
    output = reader.value(reader.tree.body)
    if not isinstance(output, ast.Name) or output.id in shapes:
        raise ExpressionError("the expression computes nothing from its inputs")
    return Graph(
        text.strip(),
        dict(shapes),
        tuple(reader.steps),
        output.id,
        tuple(dict.fromkeys(reader.notes)),
    )


class Reader:
    """Collects the steps of one expression."""

    def __init__(self, tree: Tree, shapes: Mapping[str, Shape]) -> None:
        self.tree = tree
        self.steps: list[Step] = []
        self.shapes = dict(shapes)
        self.seen: dict[str, ast.Name] = {}
        self.notes: list[str] = []
        taken = {name[:1] for name in shapes if name[1:].isdigit() or not name[1:]}
        self.prefix = next((letter for letter in "vhwuzs" if letter not in taken), "step")

    def refused(
        self,
        node: ast.AST,
        message: str,
        hint: str = "",
        kind: type[ExpressionError] = ExpressionError,
    ) -> ExpressionError:
        """What is said of a part that cannot be read."""
        offset, length = self.tree.span(node)
        return kind(message, offset=offset, length=length, hint=hint)

    def value(self, node: ast.expr) -> ast.expr:
        """A name or a constant that holds the value of this node."""
        if isinstance(node, ast.Name):
            return ast.Name(node.id)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Compare):
            # A condition has no gradient: it is written where it is used.
            found = ast.Compare(self.value(node.left), node.ops, [self.value(node.comparators[0])])
            try:
                self.shape_of(found)
            except ValueError:
                raise self.refused(node, "these shapes do not broadcast") from None
            return found
        if isinstance(node, ast.Subscript):
            return self._part(node) or self._index(node)
        constant = constant_of(node)
        if constant is not None:
            return constant
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return self.step(node, "negative", [node.operand], {})
        raise self.refused(node, "this part has no declared gradient", kind=NoRule)

    def _operation(self, node: ast.BinOp) -> ast.expr:
        name = _OPERATORS.get(type(node.op))
        if name is None:
            raise self.refused(node, "this operator has no declared gradient", kind=NoRule)
        return constant_of(node) or self.step(node, name, [node.left, node.right], {})

    def _index(self, node: ast.Subscript) -> ast.expr:
        index = ast.unparse(node.slice).strip("()").replace("tf.newaxis", "newaxis")
        return self.step(node, "getitem", [node.value], {"index": index})

    def _part(self, node: ast.Subscript) -> ast.expr | None:
        """One of the outputs of an op that has several; None for any other index."""
        call, place = node.value, ast.unparse(node.slice)
        if not isinstance(call, ast.Call) or not re.fullmatch(r"-?\d+", place):
            return None
        if gives_values_alone(call):
            return None
        name = ast.unparse(call.func)
        op, single = ops.find(name), ops.find_part(name, int(place))
        if single is not None:
            return self._op_call(call, single, source=node)
        return self._op_call(call, op, int(place)) if op is not None and op.outputs else None

    def _call(self, node: ast.Call) -> ast.expr:
        name = ast.unparse(node.func)
        if (passed := self._passed_through(node, name)) is not None:
            return passed
        op = ops.find(name)
        if op is None and ops.find_part(name, 0) is not None:
            raise self.refused(
                node.func,
                f"of the outputs of `{name}` only the first has a declared gradient",
                f"write `{name}(…)[0]`",
            )
        if op is None and (found := filled_of(node, name, self.value, self.shape_of)) is not None:
            return found
        if op is None:
            raise self.refused(
                node.func,
                f"`{name}` has no declaration here, so its gradient cannot be explained",
                "`gradcheck explain` lists the ops that have one",
                NoRule,
            )
        if op.outputs:
            raise self.refused(
                node.func, f"`{name}` has several outputs", f"name one of them: `{name}(…)[0]`"
            )
        return self._op_call(node, op)

    def _passed_through(self, node: ast.Call, name: str) -> ast.expr | None:
        """A constant, a cast, a value held fixed, singular values; None for any other call."""
        given = dict(zip(PASSED.get(name, ()), node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg}
        if name == "tf.constant" and "value" in given:
            found = None if "shape" in given else constant_of(given["value"])
            if found is None:
                raise self.refused(
                    node, "a constant is a number or a list of numbers here", kind=NoRule
                )
            return found
        if name == "tf.cast" and "x" in given:
            found = self.value(given["x"])
            if isinstance(found, ast.Compare):
                return trees.call("where", found, ast.Constant(1), ast.Constant(0))
            return found
        if name == "tf.stop_gradient" and "input" in given:
            return self.step(node, STOPPED, {"input": given["input"]}, {})
        part = ops.find_part(name, 0)
        if part is not None and gives_values_alone(node):
            return self._op_call(without_vectors(node), part, source=node)
        return None

    def _op_call(
        self, node: ast.Call, op: Op, part: int | None = None, source: ast.expr | None = None
    ) -> ast.expr:
        name = ast.unparse(node.func)
        keywords = {k.arg: k.value for k in node.keywords if k.arg}
        if op.variadic:
            return self._variadic(node, op, keywords)
        inputs = [p.name for p in op.inputs]
        order = op.positions or (*inputs, *op.required, *op.args)
        given = dict(zip(order, node.args, strict=False)) | keywords
        given.pop("name", None)
        unknown = [key for key in given if key not in order]
        if unknown or len(node.args) > len(order):
            raise self.refused(
                node,
                f"`{name}` is not declared with {unknown or 'so many arguments'}",
                kind=NoRule,
            )
        missing = [key for key in inputs if key not in given]
        if missing:
            raise self.refused(node, f"`{name}` needs `{missing[0]}`")
        tensors = {key: given.pop(key) for key in inputs}
        args = {k: self._literal(v) for k, v in given.items()}
        return self.step(source or node, op.name, tensors, args, part)

    def _variadic(self, node: ast.Call, op: Op, keywords: dict[str, ast.expr]) -> ast.expr:
        positional = list(node.args)
        args: dict[str, Any] = {}
        if not positional and ("values" not in keywords or op.name == "einsum"):
            raise self.refused(node, f"`{op.tf}` is given nothing to work on")
        if op.name == "einsum":
            equation = self._literal(positional.pop(0))
            args["equation"] = equation
            if isinstance(equation, str):
                with contextlib.suppress(ShapeError):
                    said = relettering_note(equation, self.shapes)
                    self.notes += said
                    args["equation"] = relettered(equation, self.shapes) if said else equation
            parts = positional
        else:
            listed = keywords.pop("values", None) or positional.pop(0)
            if not isinstance(listed, ast.List | ast.Tuple):
                raise self.refused(listed, f"`{op.tf}` takes a list of values here")
            parts = listed.elts
            if positional:
                args["axis"] = self._literal(positional.pop(0))
        args |= {key: self._literal(v) for key, v in keywords.items() if key != "name"}
        return self.step(node, op.name, {f"p{i}": part for i, part in enumerate(parts)}, args)

    def _literal(self, node: ast.expr) -> Any:
        try:
            return literal_of(node)
        except ValueError as error:
            raise self.refused(node, str(error), kind=NoRule) from None

    def step(
        self,
        node: ast.expr,
        name: str | Op,
        tensors: list[ast.expr] | dict[str, ast.expr],
        args: dict[str, Any],
        part: int | None = None,
    ) -> ast.expr:
        """A new step, or the one that has computed the same already."""
        op = ops.find(name) if isinstance(name, str) else name
        assert op is not None  # noqa: S101  (an operator of ours, or found before)
        if isinstance(tensors, list):
            tensors = dict(zip([p.name for p in op.inputs], tensors, strict=True))
        operands = {key: self.value(part) for key, part in tensors.items()}
        key = f"{op.name} {part} {[(k, ast.dump(v)) for k, v in operands.items()]} {args}"
        if key in self.seen:
            return self.seen[key]
        call, shape, part = self._called(node, op, operands, args, part)
        names = {id(tensors[k]): v for k, v in operands.items() if isinstance(v, ast.Name)}
        source = source_of(node, names, part)
        step = Step(f"{self.prefix}{len(self.steps) + 1}", op, call, operands, shape, part, source)
        self.steps.append(step)
        self.shapes[step.name] = step.shape
        self.seen[key] = ast.Name(step.name)
        return self.seen[key]

    def _called(
        self,
        node: ast.expr,
        op: Op,
        operands: Mapping[str, ast.expr],
        args: Mapping[str, Any],
        part: int | None,
    ) -> tuple[Call, Shape, int | None]:
        """The call, the shape of what it gives, and which of its outputs that is."""
        try:
            call = op.call({k: self.shape_of(v) for k, v in operands.items()}, args)
            misfit = misfit_of(op, call)
            if misfit is None:
                shapes = op.output_shapes(call) if part is not None else [op.shape(call)]
        except ExpressionError:
            raise
        except Exception as error:  # an argument of a kind that the rule did not think of
            misfit = f"{type(error).__name__}: {error}"
        if misfit is not None:
            kind = NoRule if op.is_complex else ExpressionError
            raise self.refused(node, f"`{op.tf}`: {misfit}", kind=kind)
        if part is not None and not -len(shapes) <= part < len(shapes):
            raise self.refused(node, f"`{op.tf}` has {len(shapes)} outputs here")
        part = None if part is None else part % len(shapes)
        shape = shapes[part or 0]
        if problem := size_problem(shape):
            raise self.refused(node, f"the output of `{op.tf}`: {problem}")
        return call, shape, part

    def shape_of(self, operand: ast.expr) -> Shape:
        """The shape of a name, a constant or a condition."""
        return shape_in(operand, self.shapes)
