"""A formula of the language, set as mathematics: `matmul(G, mT(b))` becomes `G Bᵀ`."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gradcheck.explainer import trees
from gradcheck.explainer.named_functions import length_of
from gradcheck.explainer.typeset.call_notation import (
    AXIS_SUMS,
    LAYOUT_ONLY,
    MATRIX_FUNCTIONS,
    set_call,
    set_power,
)
from gradcheck.explainer.typeset.hidden_layout import can_be_hidden
from gradcheck.explainer.typeset.notation import ATOM, POWER, PRODUCT, SUM, Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcheck.explainer.style import Style
    from gradcheck.model import Shape

__all__ = ["Setting"]

_LETTER_OF = {"pi": "π", "e": "e", "inf": "∞"}
"""By constant of the language: how mathematics writes it."""
_SIGNS = {
    ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def _keeps(node: ast.AST) -> bool | None:
    """Whether this sum over axes keeps them; None where it is none, or over everything."""
    if trees.called(node) not in AXIS_SUMS or not isinstance(node, ast.Call):
        return None
    if len(node.args) < 2 or trees.text_of(node.args[1]) == "None":
        return None
    return len(node.args) > 2 and trees.text_of(node.args[2]) == "True"


def _as_large_as_another(tree: ast.expr) -> bool:
    """Whether what is broadcast gets the shape of a formula, which mathematics does not write."""
    return isinstance(tree, ast.Call) and trees.called(tree.args[1]) == "shape"


def _terms(tree: ast.expr) -> list[ast.expr]:
    """The terms of a sum."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add | ast.Sub):
        return [*_terms(tree.left), *_terms(tree.right)]
    return [tree]


@dataclass(frozen=True)
class Setting:
    """Sets formulas in one style, with the names that the reader knows."""

    style: Style
    symbols: Mapping[str, str] = field(default_factory=dict)
    """By name in the formula: how it is written; `~v3` is v₃ with a bar, `˙v3` with a dot, `dx`
    stays."""
    scalars: frozenset[str] = frozenset()
    """Names that are single numbers."""
    loss: str = "L"
    """What the gradients are of; another letter where L is taken."""
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    """By name: an axis of size 1 is written with the index 0."""
    layout: bool = False
    """Whether changes of layout are written: where elements are counted, they matter."""
    kept: bool = False
    """Whether sums that keep their axis say so: beside others that do not."""
    matrices: bool = False
    """Whether matrices are multiplied: a power of one is then no power of its elements."""

    indexed: frozenset[int] = frozenset()
    """The einsums (by their arguments) whose indices stand on the left side of the line."""

    def text(self, formula: ast.expr | str, *, indexed: bool = False) -> str:
        """The whole formula; `indexed` where the left side has the indices of all its terms."""
        tree = trees.read(formula) if isinstance(formula, str) else formula
        own = _terms(tree) if indexed else [tree]
        outputs = {trees.equation_of(term).partition("->")[2] for term in own}
        einsums = own if len(outputs) == 1 else []
        known = frozenset(id(term.args) for term in einsums if isinstance(term, ast.Call))
        return replace(self, indexed=known).whole(tree)

    def has_indices(self, args: list[ast.expr]) -> bool:
        """Whether the left side of the line has the indices of the einsum of these arguments."""
        return id(args) in self.indexed

    def whole(self, tree: ast.expr) -> str:
        """A line, and how its parts are to be written."""
        if trees.called(tree) == "broadcast_to" and _as_large_as_another(tree):
            return self.whole(tree.args[0])  # type: ignore[attr-defined]
        if isinstance(tree, ast.Call) and trees.called(tree) in ("expand_dims", "broadcast_to"):
            # Alone it is what the formula is about.
            return self.style.call(trees.called(tree), [self.inner(arg) for arg in tree.args])
        kinds = {_keeps(node) for node in ast.walk(tree)} - {None}
        matrices = any(trees.called(node) in MATRIX_FUNCTIONS for node in ast.walk(tree))
        layout = not can_be_hidden(tree, self.shapes)
        return replace(self, kept=len(kinds) > 1, matrices=matrices, layout=layout).inner(tree)

    def revealed(self) -> Setting:
        """The same, with changes of layout written out."""
        return replace(self, layout=True)

    def gradient(self, name: str, indices: Sequence[str] = ()) -> str:
        """The derivative of the loss by one value, or by one of its elements."""
        return self.style.gradient(self.loss, name, indices)

    def symbol(self, name: str) -> str:
        """How a name is written."""
        if name in _LETTER_OF and name not in self.symbols:
            return self.style.symbol(_LETTER_OF[name])
        shown = self.symbols.get(name, name)
        if shown.startswith("~"):
            return self.style.adjoint_symbol(shown[1:])
        if shown.startswith("˙"):
            return self.style.change_symbol(shown[1:])
        if shown == name and name.startswith("d") and name[1:] in self.symbols:
            return "d" + self.style.symbol(self.symbols[name[1:]])
        return self.style.symbol(shown)

    def inner(self, node: ast.expr, least: int = SUM) -> str:
        """A part of a formula, in brackets where it binds less tightly than it must."""
        return self._grouped(node, least)[0]

    def _grouped(self, node: ast.expr, least: int) -> Text:
        text, binds = self.node(node)
        return (self.style.group(text), ATOM) if binds < least else (text, binds)

    def node(self, node: ast.expr) -> Text:
        """A part of a formula, and how tightly it binds."""
        style = self.style
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name):
            return self.symbol(node.id), ATOM
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return style.minus() + self.inner(node.operand, PRODUCT), SUM
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Compare):
            sign = style.relation(_SIGNS[type(node.ops[0])])
            left, right = self.inner(node.left), self.inner(node.comparators[0])
            return f"{left} {sign} {right}", SUM
        if isinstance(node, ast.Call):
            return set_call(self, trees.called(node), node.args)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.List | ast.Tuple):
            return "[" + ", ".join(self.inner(item) for item in node.elts) + "]", ATOM
        return style.words(trees.text_of(node)), ATOM

    def _constant(self, node: ast.Constant) -> Text:
        if isinstance(node.value, complex) and node.value == 1j:
            return self.style.symbol("i"), ATOM
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            return self.style.words(str(node.value)), ATOM
        return self.style.number(node.value), ATOM

    def _subscript(self, node: ast.Subscript) -> Text:
        base = self.inner(node.value, ATOM)
        if isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant):
            # One of several outputs, or the gradient that reaches it.
            shown = self.symbols.get(f"{node.value.id}[{node.slice.value!r}]")
            if shown is not None:
                if shown.startswith("G_"):
                    return self.style.subscript("G", shown[2:]), ATOM
                return self.style.symbol(shown), ATOM
        return self.style.indexed(base, [self.inner(node.slice)]), ATOM

    def _operation(self, node: ast.BinOp) -> Text:
        style = self.style
        if isinstance(node.op, ast.Add | ast.Sub):
            sign = "+" if isinstance(node.op, ast.Add) else style.minus()
            right = self.inner(node.right, SUM if sign == "+" else PRODUCT)
            if sign == "+" and right.startswith(style.minus()):
                return (
                    f"{self.inner(node.left)} {style.minus()} {right[len(style.minus()) :]}",
                    SUM,
                )
            return f"{self.inner(node.left)} {sign} {right}", SUM
        if isinstance(node.op, ast.Pow):
            if (found := self._power_of_norm(node)) is not None:
                return found
            return set_power(self, node.left, self.inner(node.right).replace(" ", ""))
        if isinstance(node.op, ast.Mult | ast.Div):
            return self._product(node)
        symbol = {ast.BitAnd: "∧", ast.BitOr: "∨", ast.MatMult: ""}.get(type(node.op), "?")
        return (
            f"{self.inner(node.left, POWER)} {symbol} {self.inner(node.right, POWER)}",
            PRODUCT,
        )

    def _power_of_norm(self, node: ast.BinOp) -> Text | None:
        """‖x‖³ for `total(square(x)) ** (3 / 2)`; None for any other power."""
        inside = length_of(node.left)
        halves = trees.text_of(node.right).partition(" / 2")
        if inside is None or not halves[0].isdigit() or halves[1:] != (" / 2", ""):
            return None
        return self.style.power(self.style.norm(self.inner(inside)), halves[0]), POWER

    def _product(self, node: ast.expr) -> Text:
        above: list[ast.expr] = []
        below: list[ast.expr] = []
        negative = self._collect(node, above, below, flip=False)
        sign = self.style.minus() if negative else ""
        latex = self.style.fraction()
        around = bool(below) and latex  # (the line of a fraction takes the place of brackets)
        top = self._side(above, around) if above else (self.style.number(1), ATOM)
        if not below:
            return sign + top[0], SUM if negative else top[1]
        bottom = self._side(below, around)
        under = bottom[0] if latex or bottom[1] >= POWER else self.style.group(bottom[0])
        return sign + self.style.quotient(top[0], under), SUM if negative else PRODUCT

    def _side(self, nodes: list[ast.expr], around: bool) -> Text:
        """What stands on one side of a quotient."""
        return self.node(nodes[0]) if around and len(nodes) == 1 else self._factors(nodes)

    def _collect(
        self, node: ast.expr, above: list[ast.expr], below: list[ast.expr], *, flip: bool
    ) -> bool:
        """Sort the factors of a product and a quotient; whether their sign is negative."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
            divides = isinstance(node.op, ast.Div)
            first = self._collect(node.left, above, below, flip=flip)
            return first ^ self._collect(node.right, above, below, flip=flip ^ divides)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return not self._collect(node.operand, above, below, flip=flip)
        if isinstance(node, ast.Constant) and node.value == 1 and not flip:
            return False
        (below if flip else above).append(node)
        return False

    def _factors(self, nodes: list[ast.expr]) -> Text:
        numbers = [node for node in nodes if self.is_scalar(node)]
        arrays = [node for node in nodes if not self.is_scalar(node)]
        if len(nodes) == 1:
            return self._grouped(nodes[0], PRODUCT)
        parts = []
        if numbers:
            parts.append(self.style.dot([self.inner(n, POWER) for n in numbers]))
        if arrays:
            least = POWER if len(arrays) > 1 or numbers else PRODUCT
            parts.append(self.style.hadamard([self.inner(a, least) for a in arrays]))
        return self.style.dot(parts), PRODUCT

    def is_scalar(self, node: ast.expr) -> bool:
        """Whether this is a single number, so that a plain product is meant."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in self.scalars or (
                node.id in _LETTER_OF and node.id not in self.symbols
            )
        if isinstance(node, ast.BinOp):
            return self.is_scalar(node.left) and self.is_scalar(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_scalar(node.operand)
        if trees.called(node) in ("size", "rank", "total", "scalar"):
            return True
        if trees.called(node) in LAYOUT_ONLY and isinstance(node, ast.Call):
            return self.is_scalar(node.args[0])
        return (
            isinstance(node, ast.Call) and all(map(self.is_scalar, node.args)) and bool(node.args)
        )
