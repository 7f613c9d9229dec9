"""Formulas as TensorFlow code that can be pasted."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import TYPE_CHECKING

from gradcheck.explainer import trees
from gradcheck.explainer.formula.plain_code import plainly
from gradcheck.explainer.formula.tensorflow_names import (
    ARGUMENT_TWICE,
    SAME_ARGUMENTS,
    WRITTEN_OUT,
    UnknownCode,
)
from gradcheck.explainer.named_functions import length_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Shape

__all__ = ["tensorflow_code"]

_OF_PLAIN_NUMBERS = frozenset(["ones", "zeros", "eye", "sqrt", "array"])
"""Functions that are given sizes, and those that are computed while the code is written."""
LONGEST_UNNAMED = 24
"""A part of a formula that is longer than this, and stands in it twice, gets a name."""


def tensorflow_code(
    formulas: Mapping[str, ast.expr],
    shapes: Mapping[str, Shape] | None = None,
    written: Mapping[str, str] | None = None,
) -> list[str]:
    """Lines that assign each name its formula; the parts that they share come first.

    What TensorFlow has no words for becomes a comment. `written` are lines that the op declares.
    """
    formulas = {name: plainly(formula, shapes or {}) for name, formula in formulas.items()}
    writer = _Writer(formulas, shapes or {})
    lost: dict[str, str] = {}
    for name, formula in formulas.items():
        before, known = len(writer.lines), dict(writer.named)
        try:
            if written and name in written:
                text = written[name]
            else:
                needed = [lost[n] for n in trees.names_in(formula) if n in lost]
                if needed:
                    raise UnknownCode(needed[0])
                text = writer.text(formula)
            writer.lines.append(f"{name} = {text}")
        except UnknownCode as missing:
            del writer.lines[before:]
            writer.named = known
            lost[name] = str(missing)
            writer.lines.append(f"# {name}: TensorFlow has no words for {missing}; see the formula")
    imports = any(re.search(r"(?<!tf\.)math\.", line) for line in writer.lines)
    return ["import math", *writer.lines] if imports else writer.lines


class _Writer:
    """Writes formulas, and names what they have in common."""

    def __init__(self, formulas: Mapping[str, ast.expr], shapes: Mapping[str, Shape]) -> None:
        self.shapes = shapes
        self.lines: list[str] = []
        self.named: dict[str, str] = {}
        self.taken = {n for f in formulas.values() for n in trees.names_in(f)} | {
            *formulas,
            *shapes,
        }
        parts = [n for f in formulas.values() for n in ast.walk(f) if isinstance(n, ast.Call)]
        self.counts = Counter(trees.text_of(part) for part in parts)

    def text(self, node: ast.expr) -> str:
        """Any part of a formula; a name for one that comes again."""
        if isinstance(node, ast.Name):
            return {"pi": "math.pi", "e": "math.e", "inf": "math.inf"}.get(node.id, node.id)
        if isinstance(node, ast.Constant):
            return repr(node.value)
        if isinstance(node, ast.Call):
            key = trees.text_of(node)
            if self.counts[key] > 1 and len(key) > LONGEST_UNNAMED:
                return self.hold(key, node)
            return self._norm(node) or self._call(node)
        # Everything else keeps Python's own syntax around translated parts.
        copy = trees.read(trees.text_of(node))
        found = _Inner(self).visit(copy)
        return trees.text_of(_without_ones(found))

    def hold(self, key: str, node: ast.expr) -> str:
        """A name for a part, given in a line of its own."""
        if key not in self.named:
            call = isinstance(node, ast.Call) and (self._norm(node) or self._call(node))
            self.named[key] = self._name(call or self.text(node))
        return self.named[key]

    def _name(self, text: str) -> str:
        name = next(n for n in _names() if n not in self.taken)
        self.taken.add(name)
        self.lines.append(f"{name} = {text}")
        return name

    def _one_hot_max(self, x: str, axis: str = "None") -> str:
        largest = f"tf.reduce_max({x}, {axis}, keepdims=True)"
        hits = self._name(f"tf.cast(tf.equal({x}, {largest}), G.dtype)")
        return f"({hits} / tf.reduce_sum({hits}, {axis}, keepdims=True))"

    def _norm(self, node: ast.Call) -> str:
        """The root of a sum of squares, which TensorFlow has a name for; empty for any other."""
        inside = length_of(node.args[0]) if trees.called(node) == "sqrt" else None
        return "" if inside is None else f"tf.norm({self.text(inside)})"

    def _call(self, node: ast.Call) -> str:
        name = trees.called(node)
        if name == "unreduce":
            return _unreduce([self.text(a) for a in node.args])
        if name == "einsum":
            node = _unstretched(node, self.shapes)
        args = [self.text(a) for a in node.args]
        args = _typed(name, [_as_array(a, x, name) for a, x in zip(node.args, args, strict=True)])
        if name == "one_hot_max":
            return self._one_hot_max(*args)
        if name == "scatter_add":
            return self._scatter_add(node, *args)
        if name in ARGUMENT_TWICE and not isinstance(node.args[0], ast.Name):
            args[0] = self.hold(trees.text_of(node.args[0]), node.args[0])
        if name in WRITTEN_OUT:
            return WRITTEN_OUT[name](args)
        if name not in SAME_ARGUMENTS:
            raise UnknownCode(name)
        if name == "concatenate":
            return f"tf.concat({args[0]}, {args[1] if len(args) > 1 else '0'})"
        if name == "where":
            return _where(args)
        return f"{SAME_ARGUMENTS[name]}({', '.join(args)})"

    def _scatter_add(self, node: ast.Call, like: str, indices: str, values: str, axis: str) -> str:
        """Sums by index; along another axis than the first, that axis is brought to the front."""
        rank, ranks = self._rank(node.args[0]), self._rank(node.args[1])
        place = int(axis) % max(rank, 1)
        count = f"tf.shape({like})[{place}]"
        if place == 0:
            return f"tf.math.unsorted_segment_sum({values}, {indices}, {count})"
        own, before = [*range(place, place + ranks)], [*range(place)]
        after = [*range(place + ranks, rank - 1 + ranks)]
        turned = f"tf.transpose({values}, {own + before + after})"
        summed = f"tf.math.unsorted_segment_sum({turned}, {indices}, {count})"
        back = [*range(1, place + 1), 0, *range(place + 1, rank)]
        return f"tf.transpose({summed}, {back})"

    def _rank(self, node: ast.expr) -> int:
        if isinstance(node, ast.Name) and node.id in self.shapes:
            return len(self.shapes[node.id])
        if isinstance(node, ast.List | ast.Constant):
            return text_rank(trees.text_of(node))
        raise UnknownCode("scatter_add into what has no name")


def text_rank(text: str) -> int:
    """The rank of a list that is written out: `[[1], [2]]` has 2."""
    return len(text) - len(text.lstrip("["))


def _typed(name: str, args: list[str]) -> list[str]:
    """Plain numbers with the dtype of the rest, where there is nothing else to tell it.

    TensorFlow would take a whole number for one, and any other for a float32.
    """
    if not args or not all(map(_is_number, args)) or name in _OF_PLAIN_NUMBERS:
        return args
    return [f"tf.constant({float(a)!r}, G.dtype)" for a in args]


def _as_array(node: ast.expr, text: str, within: str) -> str:
    """A list of numbers that are not whole as a tensor: by itself it would be of float32."""
    if within == "array":
        return text
    numbers = isinstance(node, ast.List) and trees.names_in(node) == set()
    calls = any(isinstance(n, ast.Call) for n in ast.walk(node))
    floats = any(isinstance(n, ast.Constant) and isinstance(n.value, float) for n in ast.walk(node))
    return f"tf.constant({text}, G.dtype)" if numbers and floats and not calls else text


def _operand(node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.List) or any(isinstance(n, ast.Name) for n in ast.walk(node)):
        return node
    return ast.Name(f"tf.constant({trees.text_of(node)}, G.dtype)")


def _where(args: list[str]) -> str:
    """A condition as numbers, or a choice; plain numbers get the dtype of the rest."""
    condition, first, second = args
    if (first, second) == ("1", "0"):
        return f"tf.cast({condition}, G.dtype)"
    if (first, second) == ("0", "1"):
        return f"tf.cast(tf.logical_not({condition}), G.dtype)"
    ready = [f"tf.constant({a}, G.dtype)" if _is_number(a) else a for a in (first, second)]
    return f"tf.where({condition}, {ready[0]}, {ready[1]})"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _names() -> list[str]:
    return ["t", *(f"t{i}" for i in range(2, 100))]


class _Inner(ast.NodeTransformer):
    """Translates the calls and names inside of operators, lists and subscripts."""

    def __init__(self, writer: _Writer) -> None:
        self.writer = writer

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if trees.called(node) == "sqrt" and not trees.names_in(node) - {"pi", "e"}:
            return ast.Name(f"math.sqrt({self.writer.text(node.args[0])})")
        return ast.Name(self.writer.text(node))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(self.writer.text(node))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Numbers beside an operator are tensors: a list is none, and of float32 beside others."""
        self.generic_visit(node)
        node.left, node.right = map(_operand, (node.left, node.right))
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        node.operand = _operand(node.operand)
        return node


class _Ones(ast.NodeTransformer):
    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        one = isinstance(node.left, ast.Constant) and node.left.value == 1
        return node.right if one and isinstance(node.op, ast.Mult) else node


def _without_ones(tree: ast.expr) -> ast.expr:
    """An argument that is 1 by default leaves no factor behind."""
    found: ast.expr = _Ones().visit(tree)
    return found


def _unreduce(args: list[str]) -> str:
    """G put back and repeated; written out, since TensorFlow has no single word for it."""
    value, shape = args[0], args[1]
    axis = args[2] if len(args) > 2 else "None"
    if len(args) > 3 and args[3] == "True":
        return f"tf.broadcast_to({value}, {shape})"
    if axis == "None":
        return f"tf.broadcast_to(tf.reshape({value}, tf.ones_like({shape})), {shape})"
    listed = [int(a) for a in axis.strip("[]()").split(",") if a.strip()]
    if all(a >= 0 for a in listed):
        ordered = sorted(listed)
    elif all(a < 0 for a in listed):
        # From the back, so that each new axis finds its place.
        ordered = sorted(listed, reverse=True)
    else:
        raise UnknownCode("axes counted from both ends")
    for one in ordered:
        value = f"tf.expand_dims({value}, {one})"
    return f"tf.broadcast_to({value}, {shape})"


def _unstretched(node: ast.Call, shapes: Mapping[str, Shape]) -> ast.Call:
    """Numpy's einsum stretches an axis of size 1 to its namesakes; TensorFlow's refuses to.

    Such an axis is taken away: what it repeats is the same at every place.
    """
    equation = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
    terms, arrow, output = str(equation).partition("->")
    pairs = list(zip(terms.split(","), node.args[1:], strict=False))
    known = [shapes.get(f.id, ()) if isinstance(f, ast.Name) else () for _, f in pairs]
    sizes: dict[str, int] = {}
    for (term, _), shape in zip(pairs, known, strict=True):
        for letter, size in zip(term, shape, strict=False):
            sizes[letter] = max(sizes.get(letter, 1), size)
    kept, factors = [], []
    for (term, factor), shape in zip(pairs, known, strict=True):
        gone = [i for i, n in enumerate(shape) if n == 1 and sizes.get(term[i], 1) != 1]
        factors.append(trees.call("squeeze", factor, trees.read(repr(gone))) if gone else factor)
        kept.append("".join(a for i, a in enumerate(term) if i not in gone))
    if not set(output) <= set("".join(kept)):
        raise UnknownCode("an einsum that stretches an axis")
    text = f"{','.join(kept)}{arrow}{output}"
    return ast.Call(node.func, [ast.Constant(text), *factors], [])
