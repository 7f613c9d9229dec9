"""The op at hand, in one call: its symbols, its forward and its formulas as trees."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.values import Value, tensor
from gradcheck.explainer.formula.broadcasting import formula_shape, is_elementwise, summed_back
from gradcheck.explainer.formula.tensorflow_code import tensorflow_code
from gradcheck.explainer.named_functions import named
from gradcheck.explainer.typeset.index_places import shape_known
from gradcheck.explainer.typeset.matrix_notation import Setting
from gradcheck.ops.declaration import Kind

if TYPE_CHECKING:
    from gradcheck.explainer.style import Style
    from gradcheck.ops.declaration import Call, Derivation, Op

__all__ = ["Subject"]

_NOT_LINEAR = frozenset(
    [
        "exp", "log", "sqrt", "square", "max", "min", "prod", "inv", "solve", "det", "abs",
        "cholesky", "power", "maximum", "minimum", "one_hot_max", "cumprod", "lgamma", "sort",
        "segment_max", "segment_min", "segment_prod", "unsorted_max", "unsorted_min",
        "scatter_max", "scatter_min", "expm", "sqrtm", "pinv", "slogdet", "eigh", "svd",
        "recurrence", "tanh_recurrence", "ctc_loss",
    ]
)  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """One op in one call."""

    op: Op
    call: Call

    @property
    def differentiable(self) -> tuple[str, ...]:
        """The inputs that have a gradient."""
        kinds = {parameter.name: parameter.kind for parameter in self.op.inputs}
        return tuple(n for n in self.call.shapes if kinds.get(n, Kind.REAL).is_differentiated)

    @cached_property
    def shape(self) -> Any:
        """The shape of the output, or a list of shapes of several."""
        return self.op.output_shapes(self.call) if self.op.outputs else self.op.shape(self.call)

    @cached_property
    def symbols(self) -> dict[str, str]:
        """How each name is written."""
        op = self.op
        match = re.match(r"(\w) = ", op.summary)
        found = {"out": match[1] if match else "y", "G": "G", **op.symbols}
        for i, name in enumerate(op.output_names(self.call)):
            # Of many outputs, y₁ and y₂, the number says which; Q and R have names.
            found[f"G[{i}]"] = f"G_{i + 1}" if op.outputs[0].endswith("…") else f"G_{name}"
            found[f"out[{i}]"] = name
            found[f"dout[{i}]"] = f"d{name}"
        names = list(self.call.shapes)
        for name in names:
            if name not in found:
                taken = {*found.values()}
                short = (
                    "x" if len(self.differentiable) == 1 and name in self.differentiable else name
                )
                found[name] = name if len(name) == 1 or short in taken else short
        return found

    @cached_property
    def single(self) -> Subject:
        """One matrix of a batch whose output has fewer axes than they have; else this call.

        Where a determinant is multiplied by an inverse, the axes of a batch would be mixed up on a
        page. Without it `test_the_steps_of_a_batch_are_those_of_one_matrix` fails.
        """
        shapes = self.call.shapes
        out = self.op.output_shapes(self.call)[-1]
        ranks = {len(shape) for shape in shapes.values()}
        batch = self.op.family == "linalg" and bool(self.derivation) and min(ranks, default=0) > 2
        if not batch or len(ranks) != 1 or len(out) >= max(ranks):
            return self
        of_one = {name: shape[-2:] for name, shape in shapes.items()}
        return Subject(self.op, self.op.call(of_one, self.call.args))

    @property
    def loss(self) -> str:
        """The letter of the loss: L, unless the op has an L of its own."""
        return "ℓ" if "L" in self.symbols.values() else "L"

    def setting(self, style: Style) -> Setting:
        """Sets formulas of this op."""
        scalars = {n for n in self.call.args if n not in self.call.shapes}
        scalars |= {n for n, shape in self.call.shapes.items() if not shape}
        if not self.op.outputs and not self.shape:
            scalars |= {"G", "out", "dout"}
        shapes = dict(self.call.shapes)
        if not self.op.outputs:
            shapes |= {"G": self.shape, "out": self.shape}
        shapes |= {f"d{name}": shape for name, shape in shapes.items()}
        for name, tree in self.definitions.items():
            shapes[name] = shape_known(tree, shapes)
        return Setting(style, self.symbols, frozenset(scalars), self.loss, shapes)

    def tree(self, text: str) -> ast.expr:
        """A formula of this call, for real inputs if it takes any: arguments by their values."""
        tree = self.complex_tree(text)
        return tree if self.op.is_complex else trees.real(tree)

    def complex_tree(self, text: str) -> ast.expr:
        """A formula of this call as it is declared."""
        args = {k: v for k, v in self.call.args.items() if k not in self.call.shapes}
        tree = trees.substitute(trees.read(text), args)
        count = len(self.shape) if self.op.outputs else 0
        return trees.listed(tree, {"G", "out", "dout"}, count) if count else tree

    @cached_property
    def forward(self) -> ast.expr | None:
        """What the op computes; None where the language has no words."""
        text = self.op.forward_text(self.call)
        return self.tree(text) if text else None

    @cached_property
    def gradients(self) -> dict[str, ast.expr]:
        """By input: the formula for real inputs, not yet summed where the input was broadcast."""
        formulas = self.op.formulas(self.call)
        return {name: self.tree(formulas[name]) for name in self.differentiable if name in formulas}

    @cached_property
    def printed(self) -> dict[str, ast.expr]:
        """By input: the gradient of this very call, of the input's own shape."""
        return {name: self._summed_back(name, tree) for name, tree in self.gradients.items()}

    @cached_property
    def complex_gradients(self) -> dict[str, ast.expr]:
        """By input: the gradient where it differs for complex inputs."""
        formulas = self.op.formulas(self.call)
        return {
            name: self._summed_back(name, tree)
            for name in self.gradients
            if trees.text_of(tree := self.complex_tree(formulas[name]))
            != trees.text_of(self.gradients[name])
        }

    def _summed_back(self, name: str, gradient: ast.expr) -> ast.expr:
        """The formula, with the sum over the axes along which this very input was broadcast."""
        full = formula_shape(self.op, self.call, name)
        return summed_back(gradient, full, self.call.shapes[name])

    @cached_property
    def tangent(self) -> ast.expr | None:
        """How the output changes with the inputs: declared, or generated."""
        declared = self.op.tangent_text(self.call)
        if declared:
            return self.tree(declared)
        changes = {name: ast.Name(f"d{name}") for name in self.differentiable}
        if is_elementwise(self.op):
            parts = [
                trees.substitute(gradient, {"G": changes[name]})
                for name, gradient in self.gradients.items()
            ]
        elif self.forward is None or not self.is_linear:
            return None
        elif self.op.variadic and self.op.name != "einsum":
            # Values that are joined change together.
            parts = [trees.substitute(self.forward, changes)]
        else:
            parts = [
                trees.substitute(self.forward, {name: change}) for name, change in changes.items()
            ]
        return trees.added(parts)

    @property
    def is_linear(self) -> bool:
        """Whether the output is linear in each input by itself: its differential follows."""
        if self.forward is None:
            return False
        nodes = list(ast.walk(self.forward))
        if any(trees.called(n) in _NOT_LINEAR or isinstance(n, ast.Pow | ast.Div) for n in nodes):
            return False
        # What is asked for its shape alone is not used.
        asked = [n for n in nodes if trees.called(n) in ("shape", "size")]
        shapes = {id(inner) for node in asked for inner in ast.walk(node)}
        uses = [n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in shapes]
        once = all(uses.count(name) == 1 for name in self.differentiable)
        return once or self.op.name == "cumsum"

    def code(self) -> list[str]:
        """The gradients as lines of TensorFlow, `da` for that of `a`."""
        shapes = dict(self.call.shapes)
        if not self.op.outputs:
            shapes |= {"G": self.shape, "out": self.shape}
        written = {f"d{name}": text for name, text in self.op.codes(self.call).items()}
        formulas = {f"d{name}": tree for name, tree in self.printed.items()}
        shown = self.shortened(*(tree for name, tree in formulas.items() if name not in written))
        free = [name for name in formulas if name not in written]
        formulas |= dict(zip(free, shown.formulas, strict=True))
        # By their names functions are stable: exp(x)/Σ exp(x) overflows where softmax does not.
        ready = {name: named(tree) for name, tree in {**shown.names, **formulas}.items()}
        lines = tensorflow_code(ready, shapes, written)
        if self.op.build is not None or not any(re.search(r"\bout\b", line) for line in lines):
            return lines
        imports = [line for line in lines if line.startswith("import ")]
        given = [f"{name}={name}" for name in self.call.shapes]
        args = [f"{name}={value!r}" for name, value in self.call.args.items()]
        call = f"out = {self.op.tf}({', '.join([*given, *args])})"
        return [*imports, call, *lines[len(imports) :]]

    @cached_property
    def derivation(self) -> Derivation:
        """The written derivation of this call; empty where the rules generate one."""
        return self.op.derivation_steps(self.call)

    @cached_property
    def definitions(self) -> dict[str, ast.expr]:
        """The names that the derivation gives to parts of formulas."""
        claims = [step.claim for step in self.derivation if " := " in step.claim]
        pairs = [claim.split(" := ") for claim in claims]
        return {name: self.tree(text) for name, text in pairs}

    def shortened(self, *formulas: ast.expr) -> trees.Shortened:
        """Formulas with the names of the derivation in the place of what they stand for."""
        return trees.shorten(formulas, self.definitions)

    def known(self) -> dict[str, Value | Any]:
        """The names of formulas for the calculus."""
        arrays = {name: tensor(name, shape) for name, shape in self.call.shapes.items()}
        if self.op.outputs:
            return {**self.call.args, **arrays}
        upstream = {"G": tensor("G", self.shape), "out": tensor("out", self.shape)}
        return {**self.call.args, **arrays, **upstream}
