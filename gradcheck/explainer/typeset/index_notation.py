"""Einstein-notation expressions, set as mathematics with indices."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.explainer.calculus.einstein import (
    Apply,
    Array,
    Delta,
    Grid,
    Node,
    Number,
    Product,
    Select,
    Sum,
    Tensor,
    Total,
    magnitude,
    walk,
)
from gradcheck.explainer.calculus.indices import Form, Index, named
from gradcheck.explainer.typeset.lettering import Lettering
from gradcheck.explainer.typeset.notation import (
    ATOM,
    POWER,
    PRODUCT,
    RELATIONS,
    RENAMED,
    SUM,
    Text,
    opposite_node,
)
from gradcheck.explainer.typeset.places import set_place, solved_places

if TYPE_CHECKING:
    from gradcheck.explainer.typeset.matrix_notation import Setting

__all__ = ["ElementSetting"]

Names = Mapping[Index, str]


@dataclass(frozen=True)
class ElementSetting:
    """Sets one element, with letters for its indices."""

    setting: Setting
    placed: bool = True
    """Whether `x[i + 1]` is written for `Σₘ x[m]·[m = i + 1]`."""
    letters: Lettering = field(default_factory=Lettering)
    """The letters of the indices that are summed over."""

    def text(self, node: Node, names: Names) -> str:
        """The expression, its free indices named as given."""
        return self._set(node, names)[0]

    def _set(self, node: Node, names: Names, least: int = SUM) -> Text:
        text, binds = self._node(node, names)
        return (self.setting.style.group(text), ATOM) if binds < least else (text, binds)

    def _node(self, node: Node, names: Names) -> Text:
        style = self.setting.style
        if isinstance(node, Number):
            return self._number(node.value)
        if isinstance(node, Tensor):
            return style.indexed(self.setting.symbol(node.name), named(node.indices, names)), ATOM
        if isinstance(node, Delta):
            left, right = named((node.left, node.right), names)
            return style.delta(left, right), ATOM
        if isinstance(node, Select):
            return self._select(node, names)
        if isinstance(node, Total):
            return self._total(node, names)
        if isinstance(node, Sum):
            return self._sum(node, names)
        if isinstance(node, Product):
            return self._product(node.factors, names)
        if isinstance(node, Array):
            return self._array(node, names)
        return self._apply(node, names)

    def _total(self, node: Total, names: Names) -> Text:
        style = self.setting.style
        front, rest = _coefficient(node.body)
        if front != 1:
            return self._product((Number(front), Total(node.indices, rest)), names)
        places, body = solved_places(node) if self.placed else ({}, node.body)
        kept = tuple(index for index in node.indices if index not in places)
        inner = {**names, **self.letters.of(kept, names.values())}
        waiting = dict(places)
        while waiting:
            # (A place may be told by another one.)
            index = next(i for i, form in waiting.items() if not form.names.keys() & {*waiting})
            inner[index] = set_place(waiting.pop(index), style, inner, self.setting.symbol)
        text, binds = self._node(body, inner)
        if not kept:
            return text, binds
        text = style.group(text) if binds == SUM else text
        return style.total([inner[i] for i in kept], text), SUM

    def _select(self, node: Select, names: Names) -> Text:
        """What must hold, in Iverson's brackets, every term on the side where it is positive."""
        terms, offset = node.form.terms, node.form.offset
        left = Form(tuple((atom, f) for atom, f in terms if f > 0), max(offset, 0))
        right = Form(tuple((atom, -f) for atom, f in terms if f < 0), max(-offset, 0))
        style, symbol = self.setting.style, self.setting.symbol
        sides = [set_place(side, style, names, symbol) for side in (left, right)]
        sign = style.relation("==" if node.sign == "=" else node.sign)
        return f"[{sides[0]} {sign} {sides[1]}]", ATOM

    def _number(self, value: Fraction | float) -> Text:
        style = self.setting.style
        sign = style.minus() if value < 0 else ""
        value = magnitude(value)
        if isinstance(value, Fraction) and value.denominator != 1:
            shown = style.quotient(str(value.numerator), str(value.denominator)).replace(" ", "")
            return sign + shown, SUM if sign else PRODUCT
        return sign + style.number(float(value)), SUM if sign else ATOM

    def _sum(self, node: Sum, names: Names) -> Text:
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

    def _product(self, factors: tuple[Node, ...], names: Names) -> Text:
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
        fraction = style.fraction()
        alone = len(below) + len(under) == 1
        under += self._powers(below, names, SUM if fraction and alone else POWER)
        # A sum over indices reaches as far as it can: it stands last, or in brackets.
        ordered = Counter(dict(sorted(above.items(), key=lambda pair: _order(pair[0]))))
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

    def _array(self, node: Array, names: Names) -> Text:
        shown = named(node.indices, names)
        if node.function == "constant":
            base = str(node.args[0])
            if len(node.indices) == 2 and _is_identity(base):
                return self.setting.style.delta(*shown), ATOM
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
                own = self.letters.of(arg.indices, names.values())
                inside = self.text(arg.body, {**names, **own})
                letters = named(arg.indices, own)
                args.append(ast.Name(self.setting.style.family(inside, letters)))
        return ast.Call(ast.Name(node.function), args, [])

    def _apply(self, node: Apply, names: Names) -> Text:
        style, function, args = self.setting.style, node.function, node.args
        if function == "reciprocal":
            return self._product((node,), names)
        if function == "float32":
            return self._node(args[0], names)
        found = self._condition(function, args, names)
        if found is not None:
            return found
        least = ATOM if function in ("square", "power") else SUM
        shown = [self._set(a, names, least if i == 0 else SUM)[0] for i, a in enumerate(args)]
        if function == "power":
            return style.power(shown[0], shown[1].replace(" ", "")), POWER
        if function == "square":
            return style.power(shown[0], "2"), POWER
        if function == "sqrt":
            return style.root(shown[0], isinstance(args[0], Tensor | Number)), POWER
        if function == "abs":
            return style.modulus(shown[0]), ATOM
        if function == "where":
            return style.where(*shown), ATOM
        return style.call(RENAMED.get(function, function), shown), ATOM

    def _condition(self, function: str, args: tuple[Node, ...], names: Names) -> Text | None:
        """Comparisons, what joins them, and Iverson's brackets around them."""
        style = self.setting.style
        if function in RELATIONS:
            sign = style.relation(RELATIONS[function])
            return f"{self._set(args[0], names)[0]} {sign} {self._set(args[1], names)[0]}", SUM
        if function in ("logical_and", "logical_or"):
            word = style.words(f" {function.removeprefix('logical_')} ")
            return f"{self._set(args[0], names)[0]}{word}{self._set(args[1], names)[0]}", SUM
        if function == "logical_not":
            return f"{style.words('not ')}{self._set(args[0], names, ATOM)[0]}", SUM
        if function not in ("holds", "fails"):
            return None
        condition = args[0] if function == "holds" else opposite_node(args[0])
        return f"[{self._set(condition, names)[0]}]", ATOM


def _order(factor: Node) -> int:
    """Numbers first, sums over indices last."""
    if isinstance(factor, Total):
        return 2
    return (
        1 if any(isinstance(part, Tensor | Array | Delta | Select) for part in walk(factor)) else 0
    )


def _coefficient(body: Node) -> tuple[Fraction | float, Node]:
    """The number in front of a product, and the rest."""
    if not isinstance(body, Product) or len(body.factors) < 2:
        return Fraction(1), body
    first, *rest = body.factors
    if not isinstance(first, Number):
        return Fraction(1), body
    return first.value, rest[0] if len(rest) == 1 else Product(tuple(rest))


def _is_identity(text: str) -> bool:
    """Whether numbers are those of an identity matrix, whose elements are a δ."""
    value = np.array(ast.literal_eval(text))
    return value.ndim == 2 and np.array_equal(value, np.eye(*value.shape))


def _whole(grid: Grid) -> ast.expr | None:
    """The name of an array that is taken as it is."""
    if isinstance(grid.body, Tensor) and grid.body.indices == grid.indices:
        return ast.Name(grid.body.name)
    return None
