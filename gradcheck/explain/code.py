"""The same formula as TensorFlow code that can be pasted."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from gradcheck.explain import tree as trees
from gradcheck.explain.tree import called

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.model import Shape

__all__ = ["UnknownCode", "tensorflow_code"]


class UnknownCode(Exception):  # noqa: N818  (an answer, not a failure: there is no such code)
    """The formula uses a function that has no one-line counterpart in TensorFlow."""


_PLAIN = {
    "exp": "tf.exp", "log": "tf.math.log", "log1p": "tf.math.log1p", "expm1": "tf.math.expm1",
    "sqrt": "tf.sqrt", "square": "tf.square", "sin": "tf.sin", "cos": "tf.cos", "tan": "tf.tan",
    "sinh": "tf.sinh", "cosh": "tf.cosh", "tanh": "tf.tanh", "arcsin": "tf.asin",
    "arccos": "tf.acos", "arctan": "tf.atan", "arcsinh": "tf.asinh", "arccosh": "tf.acosh",
    "arctanh": "tf.atanh", "floor": "tf.floor", "real": "tf.math.real", "imag": "tf.math.imag",
    "abs": "tf.abs", "sign": "tf.sign", "sigmoid": "tf.sigmoid", "conj": "tf.math.conj",
    "maximum": "tf.maximum", "minimum": "tf.minimum", "arctan2": "tf.atan2", "power": "tf.pow",
    "equal": "tf.equal", "not_equal": "tf.not_equal", "less": "tf.less",
    "less_equal": "tf.less_equal", "greater": "tf.greater", "greater_equal": "tf.greater_equal",
    "logical_and": "tf.logical_and", "logical_or": "tf.logical_or",
    "logical_not": "tf.logical_not", "sum": "tf.reduce_sum", "mean": "tf.reduce_mean",
    "prod": "tf.reduce_prod", "max": "tf.reduce_max", "min": "tf.reduce_min",
    "where": "tf.where", "reshape": "tf.reshape", "squeeze": "tf.squeeze",
    "broadcast_to": "tf.broadcast_to", "concatenate": "tf.concat", "stack": "tf.stack",
    "ones_like": "tf.ones_like", "zeros_like": "tf.zeros_like", "shape": "tf.shape",
    "rank": "tf.rank", "matmul": "tf.matmul", "mT": "tf.linalg.matrix_transpose",
    "adjoint": "tf.linalg.adjoint", "inv": "tf.linalg.inv", "solve": "tf.linalg.solve",
    "det": "tf.linalg.det", "trace": "tf.linalg.trace", "einsum": "tf.einsum",
    "transpose": "tf.transpose", "cumsum": "tf.cumsum", "erf": "tf.math.erf",
    "lgamma": "tf.math.lgamma", "digamma": "tf.math.digamma", "cholesky": "tf.linalg.cholesky",
    "erfc": "tf.math.erfc", "erfinv": "tf.math.erfinv", "bessel_i0": "tf.math.bessel_i0",
    "bessel_i1": "tf.math.bessel_i1", "bessel_i0e": "tf.math.bessel_i0e",
    "bessel_i1e": "tf.math.bessel_i1e", "bessel_j0": "tf.math.special.bessel_j0",
    "bessel_j1": "tf.math.special.bessel_j1", "gather_nd": "tf.gather_nd",
    "scatter_nd": "tf.scatter_nd", "cross": "tf.linalg.cross", "tile": "tf.tile",
    "band_part": "tf.linalg.band_part", "diagonal": "tf.linalg.diag_part",
    "diag": "tf.linalg.diag", "diag_matrix": "tf.linalg.diag",
}  # fmt: skip


def _expand_dims(args: list[str]) -> str:
    axes = [int(a) for a in args[1].strip("[]()").split(",") if a.strip()]
    text = args[0]
    # Counted from the front or from the back: each new axis must find its place.
    for axis in sorted(axes, key=abs):
        text = f"tf.expand_dims({text}, {axis})"
    return text


def _typed(function: str, args: list[str]) -> str:
    shape = args[0] if args[0].startswith(("[", "(", "tf.")) else f"[{args[0]}]"
    return f"{function}({shape}, G.dtype)"


def _eye(args: list[str]) -> str:
    return f"tf.eye({', '.join(args)}, dtype=G.dtype)"


def _flip(args: list[str]) -> str:
    axis = args[1] if args[1].startswith("[") else f"[{args[1]}]"
    return f"tf.reverse({args[0]}, {axis})"


def _part(args: list[str]) -> str:
    x, axis, start, size = args
    return f"tf.gather({x}, tf.range({start}, {start} + {size}), axis={axis})"


def _scatter_add(args: list[str]) -> str:
    like, indices, values, axis = args
    if axis != "0":
        raise UnknownCode("scatter_add along another axis")
    return (
        f"tf.tensor_scatter_nd_add(tf.zeros_like({like}), tf.expand_dims({indices}, -1), {values})"
    )


def _unbroadcast(args: list[str]) -> str:
    value, shape = args
    return (
        f"tf.reshape(tf.reduce_sum({value}, tf.raw_ops.BroadcastGradientArgs("
        f"s0={shape}, s1=tf.shape({value}))[0]), {shape})"
    )


def _phi(args: list[str]) -> str:
    x = args[0]
    return f"tf.linalg.set_diag(tf.linalg.band_part({x}, -1, 0), tf.linalg.diag_part({x}) / 2)"


def _mirror_lower(args: list[str]) -> str:
    lower = f"tf.linalg.band_part({args[0]}, -1, 0)"
    strict = f"({lower} - tf.linalg.band_part({args[0]}, 0, 0))"
    return f"({lower} + tf.linalg.matrix_transpose({strict}))"


def _index(text: str) -> str:
    return text.strip("'\"").replace("newaxis", "tf.newaxis")


def _put_slice(args: list[str]) -> str:
    """The op that TensorFlow's own gradient of a slice uses."""
    like, index, values = args
    begin, end, strides = [], [], []
    for part in _index(index).split(","):
        match = re.fullmatch(r"\s*(-?\d+):(-?\d+)(?::(-?\d+))?\s*", part)
        if match is None:
            raise UnknownCode("an index that is not begin:end")
        begin.append(int(match[1]))
        end.append(int(match[2]))
        strides.append(int(match[3] or 1))
    return (
        f"tf.raw_ops.StridedSliceGrad(shape=tf.shape({like}), begin={begin}, end={end}, "
        f"strides={strides}, dy={values})"
    )


def _one_hot_max(x: str, axis: str = "None") -> str:
    hits = f"tf.cast(tf.equal({x}, tf.reduce_max({x}, {axis}, keepdims=True)), G.dtype)"
    return f"({hits} / tf.reduce_sum({hits}, {axis}, keepdims=True))"


_SPECIAL: dict[str, Callable[[list[str]], str]] = {
    "expand_dims": _expand_dims,
    "ones": lambda args: _typed("tf.ones", args),
    "zeros": lambda args: _typed("tf.zeros", args),
    "eye": _eye,
    "flip": _flip,
    "part": _part,
    "scatter_add": _scatter_add,
    "unbroadcast": _unbroadcast,
    "column": lambda args: f"tf.expand_dims({args[0]}, 1)",
    "row": lambda args: f"tf.expand_dims({args[0]}, 0)",
    "vector": lambda args: f"tf.reshape({args[0]}, [-1])",
    "total": lambda args: f"tf.reduce_sum({args[0]})",
    "size": lambda args: f"tf.cast(tf.size({args[0]}), G.dtype)",
    "tril": lambda args: f"tf.linalg.band_part({args[0]}, -1, 0)",
    "triu": lambda args: f"tf.linalg.band_part({args[0]}, 0, -1)",
    "roll": lambda args: f"tf.roll({args[0]}, {args[1]}, {args[2]})",
    "float32": lambda args: f"tf.cast(tf.cast({args[0]}, tf.float32), G.dtype)",
    "phi": _phi,
    "mirror_lower": _mirror_lower,
    "eigenvectors": lambda args: f"tf.linalg.eigh({args[0]})[1]",
    "left_singular": lambda args: f"tf.linalg.svd({args[0]})[1]",
    "right_singular": lambda args: f"tf.linalg.svd({args[0]})[2]",
    "pick": lambda args: f"{args[0]}[{_index(args[1])}]",
    "put_slice": _put_slice,
    "take": lambda args: f"tf.gather({args[0]}, {args[1]}, axis={args[2]})",
    "one_hot": lambda args: f"tf.one_hot({args[0]}, {args[1]}, dtype=G.dtype)",
    "polygamma": lambda args: f"tf.math.polygamma(tf.cast({args[0]}, G.dtype), {args[1]})",
    "scalar": lambda args: f"tf.reshape({args[0]}, [])",
    "one_hot_max": lambda args: _one_hot_max(*args),
}


def _unreduce(node: ast.Call) -> str:
    """G put back and repeated; written out, since TensorFlow has no single word for it."""
    args = [_text(a) for a in node.args]
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


def tensorflow_code(formula: ast.expr, shapes: Mapping[str, Shape] | None = None) -> str:
    """One line of TensorFlow; raises UnknownCode where there is none."""
    for node in ast.walk(formula):
        if isinstance(node, ast.Call) and called(node) == "einsum":
            _refuse_stretching(node, shapes or {})
    return _text(formula)


def _refuse_stretching(node: ast.Call, shapes: Mapping[str, Shape]) -> None:
    """Numpy's einsum stretches an axis of size 1 to its namesakes; TensorFlow's refuses to."""
    sizes: dict[str, int] = {}
    equation = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
    for term, factor in zip(
        str(equation).partition("->")[0].split(","), node.args[1:], strict=False
    ):
        known = isinstance(factor, ast.Name) and "." not in term
        shape = shapes.get(factor.id, ()) if known and isinstance(factor, ast.Name) else ()
        for letter, size in zip(term, shape, strict=False):
            if sizes.setdefault(letter, size) != size:
                raise UnknownCode("an einsum that stretches an axis")


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return {"pi": "math.pi", "e": "math.e", "inf": "math.inf"}.get(node.id, node.id)
    if isinstance(node, ast.Constant):
        return repr(node.value)
    if isinstance(node, ast.Call):
        return _call(node)
    # Everything else keeps Python's own syntax around translated parts.
    copy = trees.read(trees.text_of(node))
    found = _Inner().visit(copy)
    return trees.text_of(found)


class _Inner(ast.NodeTransformer):
    """Translates the calls and names inside of operators, lists and subscripts."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if called(node) == "sqrt" and not trees.names_in(node) - {"pi", "e"}:
            return ast.Name(f"math.sqrt({_text(node.args[0])})")
        return ast.Name(_call(node))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Name(_text(node))


def _call(node: ast.Call) -> str:
    name = called(node)
    if name == "unreduce":
        return _unreduce(node)
    if name == "size" and isinstance(node.args[0], ast.Name) and node.args[0].id == "G":
        return "tf.cast(tf.size(G), G.dtype)"
    args = [_text(a) for a in node.args]
    if name in _SPECIAL:
        return _SPECIAL[name](args)
    if name in ("shape",):
        return f"tf.shape({args[0]})"
    if name not in _PLAIN:
        raise UnknownCode(name)
    if name == "concatenate":
        return f"tf.concat({args[0]}, {args[1] if len(args) > 1 else '0'})"
    if name == "where":
        # TensorFlow does not turn a plain 0 into the dtype of the other branch here.
        args = ["tf.zeros_like(G)" if a == "0" else a for a in args]
    return f"{_PLAIN[name]}({', '.join(args)})"
