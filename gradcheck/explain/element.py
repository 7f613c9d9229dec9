"""Einstein-notation expressions: set as mathematics with indices, and executed with numpy."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explain.index import (
    Apply,
    Array,
    Delta,
    Grid,
    Index,
    Node,
    Number,
    Product,
    Sum,
    Tensor,
    Total,
    extent,
    free,
    magnitude,
)
from gradcheck.explain.setting import ATOM, POWER, PRODUCT, SUM
from gradcheck.ops.language import CONSTANTS, FUNCTIONS

if TYPE_CHECKING:
    from gradcheck.explain.setting import Setting

__all__ = ["LETTERS", "ElementSetting", "evaluate", "letters_for"]

LETTERS = "ijklmnpqrstuvwabcdefgh"
"""Names for indices, in the order in which people take them."""

Names = Mapping[Index, str]
_RELATIONS = {
    "greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=", "equal": "==",
    "not_equal": "!=",
}  # fmt: skip
_OPPOSITE = {
    "greater": "less_equal", "greater_equal": "less", "less": "greater_equal",
    "less_equal": "greater", "equal": "not_equal", "not_equal": "equal",
}  # fmt: skip


def letters_for(indices: tuple[Index, ...], taken: str = "") -> dict[Index, str]:
    """A letter for each index, none of those taken."""
    spare = iter([letter for letter in LETTERS if letter not in taken])
    names: dict[Index, str] = {}
    for index in indices:
        if isinstance(index, str) and index not in names:
            names[index] = next(spare, f"z{len(names)}")
    return names


@dataclass(frozen=True)
class ElementSetting:
    """Sets one element, with letters for its indices."""

    setting: Setting

    def text(self, node: Node, names: Names) -> str:
        """The expression, its free indices named as given."""
        return self._set(node, names)[0]

    def _set(self, node: Node, names: Names, least: int = SUM) -> tuple[str, int]:
        text, binds = self._node(node, names)
        return (self.setting.style.group(text), ATOM) if binds < least else (text, binds)

    def _indices(self, indices: tuple[Index, ...], names: Names) -> list[str]:
        return [names[i] if isinstance(i, str) else str(i) for i in indices]

    def _node(self, node: Node, names: Names) -> tuple[str, int]:
        style = self.setting.style
        if isinstance(node, Number):
            return self._number(node.value)
        if isinstance(node, Tensor):
            shown = self._indices(node.indices, names)
            return style.indexed(self.setting.symbol(node.name), shown), ATOM
        if isinstance(node, Delta):
            left, right = self._indices((node.left, node.right), names)
            return style.delta(left, right), ATOM
        if isinstance(node, Total):
            front, rest = _coefficient(node.body)
            if front != 1:
                return self._product((Number(front), Total(node.indices, rest)), names)
            inner = {**names, **letters_for(node.indices, "".join(names.values()))}
            body, binds = self._node(node.body, inner)
            body = style.group(body) if binds == SUM else body
            return style.total([inner[i] for i in node.indices], body), SUM
        if isinstance(node, Sum):
            return self._sum(node, names)
        if isinstance(node, Product):
            return self._product(node.factors, names)
        if isinstance(node, Array):
            return self._array(node, names)
        return self._apply(node, names)

    def _number(self, value: Fraction | float) -> tuple[str, int]:
        style = self.setting.style
        sign = style.minus() if value < 0 else ""
        value = magnitude(value)
        if isinstance(value, Fraction) and value.denominator != 1:
            shown = style.quotient(str(value.numerator), str(value.denominator)).replace(" ", "")
            return sign + shown, SUM if sign else PRODUCT
        return sign + style.number(float(value)), SUM if sign else ATOM

    def _sum(self, node: Sum, names: Names) -> tuple[str, int]:
        style = self.setting.style
        text = ""
        for term in node.terms:
            shown, binds = self._node(term, names)
            if isinstance(term, Total) and len(node.terms) > 1:
                binds = PRODUCT
            shown = style.group(shown) if binds < SUM else shown
            if not text:
                text = shown
            elif shown.startswith(style.minus()):
                text += f" {style.minus()} {shown[len(style.minus()) :]}"
            else:
                text += f" + {shown}"
        return text, SUM

    def _product(self, factors: tuple[Node, ...], names: Names) -> tuple[str, int]:
        style = self.setting.style
        coefficient: Fraction | float = Fraction(1)
        above, below = Counter[Node](), Counter[Node]()
        for factor in factors:
            if isinstance(factor, Number):
                coefficient *= factor.value
            elif isinstance(factor, Apply) and factor.function == "reciprocal":
                below[factor.args[0]] += 1
            else:
                above[factor] += 1
        sign = style.minus() if coefficient < 0 else ""
        coefficient = magnitude(coefficient)
        under = []
        if isinstance(coefficient, Fraction) and coefficient.denominator != 1:
            under.append(style.number(coefficient.denominator))
            coefficient = Fraction(coefficient.numerator)
        parts = [style.number(float(coefficient))] if coefficient != 1 or not above else []
        fraction = style.quotient("", "").startswith("\\")
        alone = len(below) + len(under) == 1
        under += self._powers(below, names, SUM if fraction and alone else POWER)
        # A sum over indices reaches as far as it can: it stands last, or in brackets.
        ordered = Counter(dict(sorted(above.items(), key=lambda pair: isinstance(pair[0], Total))))
        parts += self._powers(ordered, names, POWER, open_end=not under)
        text = style.dot(parts)
        if under:
            bottom = style.dot(under)
            bottom = style.group(bottom) if len(under) > 1 and not fraction else bottom
            text = style.quotient(text, bottom)
        return sign + text, SUM if sign else PRODUCT

    def _powers(
        self, factors: Counter[Node], names: Names, least: int, *, open_end: bool = False
    ) -> list[str]:
        """The factors, each with its power; the last may be a sum without brackets."""
        parts = []
        for position, (factor, count) in enumerate(factors.items(), 1):
            last = open_end and position == len(factors) and isinstance(factor, Total)
            if count > 1:
                base = self._set(factor, names, ATOM)[0]
                parts.append(self.setting.style.power(base, str(count)))
            else:
                parts.append(self._set(factor, names, SUM if last else least)[0])
        return parts

    def _array(self, node: Array, names: Names) -> tuple[str, int]:
        shown = self._indices(node.indices, names)
        if node.function == "constant":
            base = str(node.args[0])
        else:
            base = self.setting.text(self._grid_call(node, names))
            base = base if base.endswith(")") else self.setting.style.group(base)
        return self.setting.style.indexed(base, shown), ATOM

    def _grid_call(self, node: Array, names: Names) -> ast.expr:
        args: list[ast.expr] = []
        for arg in node.args:
            if isinstance(arg, str):
                args.append(ast.parse(arg, mode="eval").body)
                continue
            whole = _whole(arg)
            if whole is not None:
                args.append(whole)
            else:
                own = letters_for(arg.indices, "".join(names.values()))
                inside = self.text(arg.body, {**names, **own})
                args.append(ast.Name(f"[{inside}]"))
        return ast.Call(ast.Name(node.function), args, [])

    def _apply(self, node: Apply, names: Names) -> tuple[str, int]:
        style, function, args = self.setting.style, node.function, node.args
        if function in ("holds", "fails"):
            condition = args[0]
            if (
                function == "fails"
                and isinstance(condition, Apply)
                and condition.function in _OPPOSITE
            ):
                condition = Apply(_OPPOSITE[condition.function], condition.args)
            text = self._set(condition, names)[0]
            if function == "fails" and condition is args[0]:
                text = f"{style.words('not')} {text}"
            return f"[{text}]", ATOM
        if function in _RELATIONS:
            sign = style.relation(_RELATIONS[function])
            return f"{self._set(args[0], names)[0]} {sign} {self._set(args[1], names)[0]}", SUM
        if function == "reciprocal":
            return self._product((node,), names)
        if function == "float32":
            return self._node(args[0], names)
        least = SUM
        if function in ("square", "power"):
            least = ATOM
        shown = [self._set(a, names, least if i == 0 else SUM)[0] for i, a in enumerate(args)]
        if function == "power":
            return style.power(shown[0], shown[1].replace(" ", "")), POWER
        if function == "square":
            return style.power(shown[0], "2"), POWER
        if function == "sqrt":
            return style.root(shown[0], isinstance(args[0], Tensor)), POWER
        if function == "abs":
            return style.modulus(shown[0]), ATOM
        if function == "where":
            return style.where(*shown), ATOM
        name = {"sigmoid": "σ", "digamma": "ψ"}.get(function, function)
        return style.call(name, shown), ATOM


def _coefficient(body: Node) -> tuple[Fraction | float, Node]:
    """The number in front of a product, and the rest."""
    if not isinstance(body, Product) or len(body.factors) < 2:
        return Fraction(1), body
    first, *rest = body.factors
    if not isinstance(first, Number):
        return Fraction(1), body
    return first.value, rest[0] if len(rest) == 1 else Product(tuple(rest))


def _whole(grid: Grid) -> ast.expr | None:
    """The name of an array that is taken as it is."""
    if isinstance(grid.body, Tensor) and grid.body.indices == grid.indices:
        return ast.Name(grid.body.name)
    return None


Labelled = tuple[np.ndarray[Any, Any], tuple[str, ...]]


def evaluate(node: Node, values: Mapping[str, Any], indices: tuple[Index, ...]) -> Any:
    """The array of all values of the expression, one axis per index; 0 makes an axis of size 1."""
    wanted = tuple(i for i in indices if isinstance(i, str))
    with np.errstate(all="ignore"):
        array = _spread(_evaluate(node, values), wanted)
    shape = tuple(extent(i) if isinstance(i, str) else 1 for i in indices)
    return np.broadcast_to(array, tuple(extent(i) for i in wanted)).reshape(shape)


def _spread(labelled: Labelled, wanted: tuple[str, ...]) -> Any:
    """The array with an axis (of size 1 where it does not depend on it) per wanted index."""
    array, labels = labelled
    order = [labels.index(i) for i in wanted if i in labels]
    array = np.transpose(array, order)
    return array.reshape([extent(i) if i in labels else 1 for i in wanted])


def _evaluate(node: Node, values: Mapping[str, Any]) -> Labelled:
    if isinstance(node, Number):
        return np.asarray(float(node.value)), ()
    if isinstance(node, Tensor):
        found = values[node.name] if node.name in values else CONSTANTS[node.name]
        return _pick(np.asarray(found), node.indices)
    if isinstance(node, Delta):
        if node.left == node.right:
            return np.asarray(1.0), ()
        if isinstance(node.left, str) and isinstance(node.right, str):
            return np.eye(extent(node.left), extent(node.right)), (node.left, node.right)
        index, at = (
            (node.left, node.right) if isinstance(node.left, str) else (node.right, node.left)
        )
        unit = np.zeros(extent(str(index)))
        unit[int(at)] = 1.0
        return unit, (str(index),)
    if isinstance(node, Array):
        return _pick(_whole_value(node, values), node.indices)
    if isinstance(node, Total):
        array, labels = _evaluate(node.body, values)
        gone = tuple(labels.index(i) for i in node.indices if i in labels)
        absent = [extent(i) for i in node.indices if i not in labels]
        summed = np.sum(array, axis=gone) * float(np.prod(absent))
        return np.asarray(summed), tuple(i for i in labels if i not in node.indices)
    parts = (
        node.args
        if isinstance(node, Apply)
        else node.factors
        if isinstance(node, Product)
        else node.terms
    )
    wanted = tuple(free(node))
    arrays = [_spread(_evaluate(part, values), wanted) for part in parts]
    if isinstance(node, Product):
        result = np.asarray(1.0)
        for array in arrays:
            result = result * array
    elif isinstance(node, Sum):
        result = np.asarray(0.0)
        for array in arrays:
            result = result + array
    else:
        result = _apply_function(node.function, arrays)
    shape = tuple(extent(i) for i in wanted)
    return np.broadcast_to(result, shape), wanted


def _apply_function(function: str, arrays: list[Any]) -> Any:
    if function == "reciprocal":
        return 1 / arrays[0]
    if function in ("holds", "fails"):
        held = arrays[0].astype(bool)
        return (held if function == "holds" else ~held).astype(np.float64)
    return FUNCTIONS[function](*arrays)


def _whole_value(node: Array, values: Mapping[str, Any]) -> Any:
    args = [
        evaluate(arg.body, values, arg.indices) if isinstance(arg, Grid) else ast.literal_eval(arg)
        for arg in node.args
    ]
    return (
        np.asarray(args[0])
        if node.function == "constant"
        else np.asarray(FUNCTIONS[node.function](*args))
    )


def _pick(array: Any, indices: tuple[Index, ...]) -> Labelled:
    """The array with labelled axes: numbers picked, an index that stands twice on the diagonal."""
    array = array[tuple(slice(None) if isinstance(i, str) else i for i in indices)]
    labels = [i for i in indices if isinstance(i, str)]
    if len(set(labels)) == len(labels):
        return array, tuple(labels)
    unique = list(dict.fromkeys(labels))
    numbers = [unique.index(i) for i in labels]
    return np.einsum(array, numbers, list(range(len(unique)))), tuple(unique)
