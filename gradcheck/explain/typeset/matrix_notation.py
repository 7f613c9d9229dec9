"""A formula of the language, set as mathematics: `matmul(G, mT(b))` becomes `G Bᵀ`."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradcheck.explain import trees
from gradcheck.explain.trees import called

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcheck.explain.style import Style

__all__ = ["Setting", "opposite"]

SUM, PRODUCT, POWER, ATOM = range(4)
"""How tightly a text binds: what binds less than its surroundings needs goes into brackets."""

Text = tuple[str, int]

_CONSTANTS = {"pi": "π", "e": "e", "inf": "∞"}
_SILENT = frozenset(
    ["array", "expand_dims", "broadcast_to", "column", "vector", "float32", "scalar"]
)
"""Change the layout alone: mathematics writes nothing there."""
_SHAPED = {"squeeze": 1, "unbroadcast": 1}
RENAMED = {
    "sigmoid": "σ",
    "lgamma": "logΓ",
    "digamma": "ψ",
    "maximum": "max",
    "minimum": "min",
    "diag_matrix": "diag",
}
"""By function: how mathematics calls it."""
RELATIONS = {
    "greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=", "equal": "==",
    "not_equal": "!=",
}  # fmt: skip
_FILLED = {"ones": "1", "ones_like": "1", "zeros": "0", "zeros_like": "0", "eye": "I"}
_REDUCTIONS = frozenset(["sum", "total", "mean", "max", "min", "prod", "unreduce", "any", "all"])
_SUPER = {"mT": "T", "adjoint": "H", "inv": "−1"}
_COMPARE = {
    ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """Sets formulas in one style, with the names that the reader knows."""

    style: Style
    symbols: Mapping[str, str] = field(default_factory=dict)
    """By name in the formula: how it is written; `~v3` is v₃ with a bar, `dx` stays."""
    scalars: frozenset[str] = frozenset()
    """Names that are single numbers."""
    loss: str = "L"
    """What the gradients are of; another letter where L is taken."""

    def text(self, formula: ast.expr | str) -> str:
        """The whole formula."""
        tree = trees.read(formula) if isinstance(formula, str) else formula
        if isinstance(tree, ast.Call) and called(tree) in ("expand_dims", "broadcast_to"):
            # Alone it is what the formula is about.
            return self.style.call(called(tree), [self._set(a)[0] for a in tree.args])
        return self._set(tree)[0]

    def gradient(self, name: str, indices: Sequence[str] = ()) -> str:
        """The derivative of the loss by one value, or by one of its elements."""
        return self.style.gradient(self.loss, name, indices)

    def symbol(self, name: str) -> str:
        """How a name is written."""
        if name in _CONSTANTS and name not in self.symbols:
            return self.style.symbol(_CONSTANTS[name])
        shown = self.symbols.get(name, name)
        if shown.startswith("~"):
            return self.style.adjoint_symbol(shown[1:])
        if shown == name and name.startswith("d") and name[1:] in self.symbols:
            return "d" + self.style.symbol(self.symbols[name[1:]])
        return self.style.symbol(shown)

    def _set(self, node: ast.expr, least: int = SUM) -> Text:
        text, binds = self._node(node)
        return (self.style.group(text), ATOM) if binds < least else (text, binds)

    def _node(self, node: ast.expr) -> Text:
        style = self.style
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name):
            return self.symbol(node.id), ATOM
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return style.minus() + self._set(node.operand, PRODUCT)[0], SUM
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Compare):
            sign = style.relation(_COMPARE[type(node.ops[0])])
            left, right = self._set(node.left)[0], self._set(node.comparators[0])[0]
            return f"{left} {sign} {right}", SUM
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.List | ast.Tuple):
            return "[" + ", ".join(self._set(item)[0] for item in node.elts) + "]", ATOM
        return style.words(trees.text_of(node)), ATOM

    def _constant(self, node: ast.Constant) -> Text:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            return self.style.words(str(node.value)), ATOM
        return self.style.number(node.value), ATOM

    def _subscript(self, node: ast.Subscript) -> Text:
        base = self._set(node.value, ATOM)[0]
        if isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant):
            # One of several outputs, or the gradient that reaches it.
            shown = self.symbols.get(f"{node.value.id}[{node.slice.value!r}]")
            if shown is not None:
                if shown.startswith("G_"):
                    return self.style.subscript("G", shown[2:]), ATOM
                return self.style.symbol(shown), ATOM
        return self.style.indexed(base, [self._set(node.slice)[0]]), ATOM

    def _operation(self, node: ast.BinOp) -> Text:
        style = self.style
        if isinstance(node.op, ast.Add | ast.Sub):
            sign = "+" if isinstance(node.op, ast.Add) else style.minus()
            right = self._set(node.right, SUM if sign == "+" else PRODUCT)[0]
            if sign == "+" and right.startswith(style.minus()):
                return (
                    f"{self._set(node.left)[0]} {style.minus()} {right[len(style.minus()) :]}",
                    SUM,
                )
            return f"{self._set(node.left)[0]} {sign} {right}", SUM
        if isinstance(node.op, ast.Pow):
            base = self._set(node.left, ATOM)[0]
            return style.power(base, self._set(node.right)[0].replace(" ", "")), POWER
        if isinstance(node.op, ast.Mult | ast.Div):
            return self._product(node)
        symbol = {ast.BitAnd: "∧", ast.BitOr: "∨", ast.MatMult: ""}.get(type(node.op), "?")
        return (
            f"{self._set(node.left, POWER)[0]} {symbol} {self._set(node.right, POWER)[0]}",
            PRODUCT,
        )

    def _product(self, node: ast.expr) -> Text:
        above: list[ast.expr] = []
        below: list[ast.expr] = []
        negative = self._collect(node, above, below, flip=False)
        sign = self.style.minus() if negative else ""
        top = self._factors(above) if above else (self.style.number(1), ATOM)
        if not below:
            return sign + top[0], SUM if negative else top[1]
        bottom = self._factors(below)
        latex = self.style.fraction()
        under = bottom[0] if latex or bottom[1] >= POWER else self.style.group(bottom[0])
        return sign + self.style.quotient(top[0], under), SUM if negative else PRODUCT

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
            return self._set(nodes[0], PRODUCT)
        parts = []
        if numbers:
            parts.append(self.style.dot([self._set(n, POWER)[0] for n in numbers]))
        if arrays:
            least = POWER if len(arrays) > 1 or numbers else PRODUCT
            parts.append(self.style.hadamard([self._set(a, least)[0] for a in arrays]))
        return self.style.dot(parts), PRODUCT

    def is_scalar(self, node: ast.expr) -> bool:
        """Whether this is a single number, so that a plain product is meant."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in self.scalars or (
                node.id in _CONSTANTS and node.id not in self.symbols
            )
        if isinstance(node, ast.BinOp):
            return self.is_scalar(node.left) and self.is_scalar(node.right)
        if isinstance(node, ast.UnaryOp):
            return self.is_scalar(node.operand)
        if called(node) in ("size", "rank", "total", "scalar"):
            return True
        if called(node) in _SILENT and isinstance(node, ast.Call):
            return self.is_scalar(node.args[0])
        return (
            isinstance(node, ast.Call) and all(map(self.is_scalar, node.args)) and bool(node.args)
        )

    def _call(self, node: ast.Call) -> Text:
        name, args = called(node), node.args
        if name in _SILENT:
            return self._node(args[0])
        if name in _FILLED:
            return self.style.symbol(_FILLED[name]), ATOM
        if name in _REDUCTIONS:
            return self._reduction(name, args)
        if name == "einsum":
            return self._einsum(args)
        if name == "unbroadcast" and trees.text_of(args[1]) in ("[]", "()"):
            return self._reduction("sum", args[:1])
        found = self._matrices(name, args) or self._numbers(name, args)
        if found is not None:
            return found
        shown = args[: _SHAPED[name]] if name in _SHAPED else args
        kept = [a for a in shown if called(a) != "shape" and not _is_shape_of(a)]
        return self.style.call(RENAMED.get(name, name), [self._set(a)[0] for a in kept]), ATOM

    def _matrices(self, name: str, args: list[ast.expr]) -> Text | None:
        """Products, transposes and inverses."""
        if name == "row":
            return self.style.power(self._set(args[0], ATOM)[0], "T"), POWER
        if name == "matmul":
            least = [PRODUCT if called(a) == "matmul" else POWER for a in args]
            parts = [self._set(a, n)[0] for a, n in zip(args, least, strict=True)]
            if _new_axis(args[1]) == "-2":
                # A vector as a row.
                parts[1] = self.style.power(self._set(args[1], ATOM)[0], "T")
            return self.style.matmul(parts), PRODUCT
        if name == "squeeze" and isinstance(args[0], ast.Call):
            product = args[0]
            if called(product) == "matmul" and _new_axis(product.args[1]) == "-1":
                # A matrix times a vector, which had to be a column for that.
                return self._node(product)
        if name == "solve":
            inverse = self._raised(args[0], "−1")
            return self.style.matmul([inverse, self._set(args[1], POWER)[0]]), PRODUCT
        return (self._raised(args[0], _SUPER[name]), POWER) if name in _SUPER else None

    def _numbers(self, name: str, args: list[ast.expr]) -> Text | None:
        """Functions with a notation of their own."""
        style = self.style
        if name == "square":
            return style.power(self._set(args[0], ATOM)[0], "2"), POWER
        if name == "power":
            return style.power(self._set(args[0], ATOM)[0], self._set(args[1])[0]), POWER
        if name == "exp":
            return self._exponential(args[0])
        if name == "sqrt":
            body, binds = self._set(args[0])
            return style.root(body, binds == ATOM), POWER
        if name == "abs":
            return style.modulus(self._set(args[0])[0]), ATOM
        if name == "where":
            return self._where(args)
        if name in RELATIONS:
            sign = style.relation(RELATIONS[name])
            return f"{self._set(args[0])[0]} {sign} {self._set(args[1])[0]}", SUM
        if name == "logical_not":
            return f"{style.words('not')} {self._set(args[0], ATOM)[0]}", SUM
        if name in ("logical_and", "logical_or"):
            word = style.words(name.removeprefix("logical_"))
            return f"{self._set(args[0])[0]} {word} {self._set(args[1])[0]}", SUM
        return None

    def _where(self, args: list[ast.expr]) -> Text:
        choice = [a.value if isinstance(a, ast.Constant) else None for a in args[1:]]
        if choice in ([1, 0], [0, 1]):
            # One where a condition holds, else zero: Iverson's brackets.
            held = args[0] if choice[0] else opposite(args[0])
            return f"[{self._set(held)[0]}]", ATOM
        first, second, third = (self._set(a)[0] for a in args)
        return self.style.where(first, second, third), ATOM

    def _raised(self, node: ast.expr, exponent: str) -> str:
        if called(node) == "inv" and exponent in "TH" and isinstance(node, ast.Call):
            return self._raised(node.args[0], f"−{exponent}")
        if called(node) in ("mT", "adjoint") and exponent == "−1" and isinstance(node, ast.Call):
            return self._raised(node.args[0], f"−{_SUPER[called(node)]}")
        return self.style.power(self._set(node, ATOM)[0], exponent)

    def _exponential(self, node: ast.expr) -> Text:
        body = self._set(node)[0].replace(" ", "")
        if len(body) <= 3:
            set_small = self.style.power("e", body)
            if "e^" not in set_small:
                return set_small, POWER
        return self.style.call("exp", [self._set(node)[0]]), ATOM

    def _reduction(self, name: str, args: list[ast.expr]) -> Text:
        place = 2 if name == "unreduce" else 1
        below = ""
        if len(args) > place and trees.text_of(args[place]) != "None":
            below = trees.text_of(args[place]).strip("[]()").replace("-", "−").replace(" ", "")
        shown = {"unreduce": "spread", "total": "sum"}.get(name, name)
        return self.style.call(shown, [self._set(args[0])[0]], below), ATOM

    def _einsum(self, args: list[ast.expr]) -> Text:
        equation = args[0].value if isinstance(args[0], ast.Constant) else ""
        terms, _, output = str(equation).partition("->")
        factors = []
        for term, factor in zip(terms.split(","), args[1:], strict=False):
            if called(factor) == "eye":
                factors.append(self.style.delta(term[0], term[-1]))
            elif called(factor) != "ones":
                base = self._set(factor, ATOM)[0]
                factors.append(self.style.indexed(base, list(term)))
        summed = [
            letter for letter in dict.fromkeys(terms.replace(",", "")) if letter not in output
        ]
        body = self.style.dot(factors) or "1"
        return (self.style.total(summed, body) if summed else body), SUM


_OPPOSITE: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Gt: ast.LtE(), ast.LtE: ast.Gt(), ast.Lt: ast.GtE(), ast.GtE: ast.Lt(),
    ast.Eq: ast.NotEq(), ast.NotEq: ast.Eq(),
}  # fmt: skip


_DUAL = {"logical_or": "logical_and", "logical_and": "logical_or"}


def opposite(condition: ast.expr) -> ast.expr:
    """The condition that holds where the other fails."""
    if isinstance(condition, ast.Compare):
        return ast.Compare(
            condition.left, [_OPPOSITE[type(condition.ops[0])]], condition.comparators
        )
    if isinstance(condition, ast.Call) and called(condition) in _DUAL:
        return trees.call(_DUAL[called(condition)], *map(opposite, condition.args))
    return trees.call("logical_not", condition)


def _new_axis(node: ast.expr) -> str:
    """The axis that the node adds; empty where it adds none."""
    if called(node) == "expand_dims" and isinstance(node, ast.Call):
        return trees.text_of(node.args[1])
    return ""


def _is_shape_of(node: ast.expr) -> bool:
    return isinstance(node, ast.Subscript) and called(node.value) == "shape"
