"""The functions of the formula language in the words of TensorFlow."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from gradcheck.ops.language.index_text import parse_index

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ARGUMENT_TWICE", "SAME_ARGUMENTS", "WRITTEN_OUT", "UnknownCode"]


class UnknownCode(Exception):  # noqa: N818  (an answer, not a failure: there is no such code)
    """The formula uses a function that has no one-line counterpart in TensorFlow."""


SAME_ARGUMENTS = {
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
    "cross": "tf.linalg.cross", "tile": "tf.tile",
    "band_part": "tf.linalg.band_part", "diagonal": "tf.linalg.diag_part",
    "diag": "tf.linalg.diag", "diag_matrix": "tf.linalg.diag", "softmax": "tf.nn.softmax",
    "log_softmax": "tf.nn.log_softmax", "logsumexp": "tf.reduce_logsumexp",
    "softplus": "tf.nn.softplus", "fft": "tf.signal.fft", "ifft": "tf.signal.ifft",
    "fft2d": "tf.signal.fft2d", "ifft2d": "tf.signal.ifft2d", "rfft": "tf.signal.rfft",
}  # fmt: skip
"""By function: the one of TensorFlow that takes the same arguments."""


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
    return f"tf.gather({x}, tf.range({start}, {int(start) + int(size)}), axis={axis})"


def _scatter_nd(args: list[str]) -> str:
    indices, values, shape = args
    # The shape must be of the dtype of the indices, which may be int64.
    cast = f"tf.cast({shape}, {indices}.dtype)" if indices.isidentifier() else shape
    return f"tf.scatter_nd({indices}, {values}, {cast})"


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


def _triangle(args: list[str], band: str) -> str:
    if len(args) > 1:
        raise UnknownCode("a triangle beside the diagonal")
    return f"tf.linalg.band_part({args[0]}, {band})"


def _index(text: str) -> str:
    return text.strip("'\"").replace("newaxis", "tf.newaxis")


def _pick(args: list[str]) -> str:
    # (A sum or a product is picked from as a whole.)
    x = args[0] if args[0].isidentifier() else f"({args[0]})"
    return f"{x}[{_index(args[1])}]"


def _put_slice(args: list[str]) -> str:
    """The op that TensorFlow's own gradient of a slice uses; masks say what an index leaves out."""
    like, index, values = args
    begin, end, strides = [], [], []
    masks = dict.fromkeys(["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask"], 0)
    masks["shrink_axis_mask"] = 0
    for place, item in enumerate(parse_index(ast.literal_eval(index))):
        bit = 1 << place
        start, stop, step = (
            (item.start, item.stop, item.step) if isinstance(item, slice) else (0,) * 3
        )
        if item is None:
            masks["new_axis_mask"] |= bit
        elif item is ...:
            masks["ellipsis_mask"] |= bit
        elif isinstance(item, int):
            masks["shrink_axis_mask"] |= bit
            start, stop = item, item + 1
        masks["begin_mask"] |= bit if start is None else 0
        masks["end_mask"] |= bit if stop is None else 0
        begin.append(start or 0)
        end.append(stop or 0)
        strides.append(step or 1)
    said = "".join(f", {name}={mask}" for name, mask in masks.items() if mask)
    return (
        f"tf.raw_ops.StridedSliceGrad(shape=tf.shape({like}), begin={begin}, end={end}, "
        f"strides={strides}, dy={values}{said})"
    )


def _prod_others(x: str, axis: str = "None") -> str:
    """Along several axes: of the others along the first, and of all along it at the others."""
    if axis == "None":
        flat = f"tf.reshape({x}, [-1])"
        return f"tf.reshape({_prod_others(flat, '0')}, tf.shape({x}))"
    listed = [int(a) for a in axis.strip("[]()").split(",") if a.strip()]
    if not listed:
        return f"tf.ones_like({x})"
    first, *rest = listed
    before = f"tf.math.cumprod({x}, {first}, exclusive=True)"
    own = f"({before} * tf.math.cumprod({x}, {first}, exclusive=True, reverse=True))"
    if not rest:
        return own
    return f"({own} * {_prod_others(f'tf.reduce_prod({x}, {first}, keepdims=True)', repr(rest))})"


def _scatter_in_batches(args: list[str]) -> str:
    """A one at each place that was read, and a sum over what was read there."""
    like, indices, values, axis, batch_dims = args
    if axis != batch_dims or batch_dims != "1" or not indices.isidentifier():
        raise UnknownCode("a scatter along an axis that is not the first of a batch")
    places = f"tf.one_hot({indices}, tf.shape({like})[1], dtype=G.dtype)"
    return f"tf.einsum('bin,bi...->bn...', {places}, {values})"


def _of_segment(args: list[str]) -> str:
    values, ids = args
    if re.fullmatch(r"[\[\], \d]+", ids):  # (no id is negative)
        return f"tf.gather({values}, {ids})"
    raise UnknownCode("what each element's segment has")


def _inverse_gaps(args: list[str]) -> str:
    x = args[0]
    return f"tf.math.reciprocal_no_nan(tf.expand_dims({x}, -2) - tf.expand_dims({x}, -1))"


def _recurrence(args: list[str]) -> str:
    a, x, start = args
    return f"tf.scan(lambda y, now: now[0] * y + now[1], ({a}, {x}), {start})"


def _matrix_recurrence(args: list[str]) -> str:
    """Of three axes, the steps in the middle; a loop goes along the first."""
    x, matrix, slopes = (f"({arg})" for arg in args)
    step = f"lambda y, now: (tf.matmul(y, {matrix}) + now[0]) * now[1]"
    rows = f"tf.transpose({x}, [1, 0, 2]), tf.transpose({slopes}, [1, 0, 2])"
    return f"tf.transpose(tf.scan({step}, ({rows}), tf.zeros_like({x}[:, 0])), [1, 0, 2])"


WRITTEN_OUT: dict[str, Callable[[list[str]], str]] = {
    "expand_dims": _expand_dims,
    "ones": lambda args: _typed("tf.ones", args),
    "zeros": lambda args: _typed("tf.zeros", args),
    "eye": _eye,
    "array": lambda args: f"tf.constant({args[0]}, G.dtype)",
    "flip": _flip,
    "part": _part,
    "scatter_nd": _scatter_nd,
    "unbroadcast": _unbroadcast,
    "column": lambda args: f"tf.expand_dims({args[0]}, 1)",
    "row": lambda args: f"tf.expand_dims({args[0]}, 0)",
    "vector": lambda args: f"tf.reshape({args[0]}, [-1])",
    "total": lambda args: f"tf.reduce_sum({args[0]})",
    "size": lambda args: f"tf.cast(tf.size({args[0]}), G.dtype)",
    "tril": lambda args: _triangle(args, "-1, 0"),
    "triu": lambda args: _triangle(args, "0, -1"),
    "roll": lambda args: f"tf.roll({args[0]}, {args[1]}, {args[2]})",
    "float32": lambda args: f"tf.cast(tf.cast({args[0]}, tf.float32), G.dtype)",
    "inverse_gaps": _inverse_gaps,
    "recurrence": _recurrence,
    "matrix_recurrence": _matrix_recurrence,
    "phi": _phi,
    "mirror_lower": _mirror_lower,
    "eigenvalues": lambda args: f"tf.linalg.eigvalsh({args[0]})",
    "singular_values": lambda args: f"tf.linalg.svd({args[0]}, compute_uv=False)",
    "eigenvectors": lambda args: f"tf.linalg.eigh({args[0]})[1]",
    "left_singular": lambda args: f"tf.linalg.svd({args[0]})[1]",
    "right_singular": lambda args: f"tf.linalg.svd({args[0]})[2]",
    "pick": _pick,
    "put_slice": _put_slice,
    "take": lambda args: f"tf.gather({args[0]}, {args[1]}, axis={args[2]})",
    "one_hot": lambda args: f"tf.one_hot({args[0]}, {args[1]}, dtype=G.dtype)",
    "polygamma": lambda args: f"tf.math.polygamma(tf.cast({args[0]}, G.dtype), {args[1]})",
    "scalar": lambda args: f"tf.reshape({args[0]}, [])",
    "matvec": lambda args: f"tf.linalg.matvec({args[0]}, {args[1]})",
    "prod_others": lambda args: _prod_others(*args),
    "scatter_in_batches": _scatter_in_batches,
    "of_segment": _of_segment,
    "pinv": lambda args: f"tf.linalg.pinv({args[0]})",
    "expm": lambda args: f"tf.linalg.expm({args[0]})",
    "sqrtm": lambda args: f"tf.linalg.sqrtm({args[0]})",
}
"""By function: how it is written with several functions of TensorFlow, or with other arguments."""

ARGUMENT_TWICE = frozenset(["phi", "mirror_lower", "unbroadcast", "prod_others", "inverse_gaps"])
"""Functions that are written out with their first argument more than once."""
