"""What a parameter may be, guessed by its name and its annotation: a tensor, or plain data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcheck.model.findings import Taken

UNKNOWN = object()
"""Stands for plain data of which nothing can be guessed."""

WIDTH = 4
"""What sizes are guessed to be, and the last axis of what layers are called with: many a layer
wants the two to be the same, and two heads share it evenly."""

_DATA: tuple[tuple[str, Any], ...] = (
    (
        r"(num_)?heads|num_\w*heads|n_heads|groups|num_layers|n_layers|num_blocks|depth|order|rank",
        2,
    ),
    (r"(kernel|pool|window|filter|patch|block|crop)_?size|kernel|factor|upsampling|repeats?", 2),
    (r"strides?|dilation(_rate)?|padding_size|k|n|num_samples|lag", 1),
    (r"(vocab|vocabulary|dictionary)_size|input_dim|num_(embeddings|tokens)|max_\w*len(gth)?", 10),
    (r"(activation|act|nonlinearity)(_fn)?", "tanh"),
    (r"padding", "same"),
    (r"(\w*_)?axis|dim|dims", -1),
    (r"axes", [-1]),
    (r"shape|\w+_shape", [WIDTH]),
    (r"(\w*_)?(rate|dropout|prob|probability|ratio|momentum|decay|p)", 0.3),
    (r"eps|epsilon|\w*_eps(ilon)?", 1e-3),
    (r"alpha|beta|gamma|delta|lambda_?|lam|scale|temperature|tau|margin|slope|weight|power", 0.5),
    (
        r"(use|with|is|has|return|share|trainable)(_\w+)?|training|causal|reverse|transpose\w*",
        False,
    ),
    (r"(\w*_)?(layer|cell|module|network|base|backbone|encoder)", {"layer": "keras.layers.Dense"}),
    (r"dtype", "float64"),
    (r"name", "checked"),
)
"""By name, whole: what a parameter is that no tensor would be called after, in a class."""

_ARGUMENTS = re.compile(
    r"axis|axes|training|\w*_axis|dtype|name|num_\w+|n_\w+|\w+_size|k|rate|reduction|mode|padding"
    r"|strides?|perm|equation|shape|\w+_shape|depth|eps(ilon)?|keepdims|transpose_\w+|dims?|rank"
)
"""Names by which functions take plain data, where no annotation says otherwise."""

_INTEGERS = re.compile(
    r"(\w*_)?(ind(ices|ex|exes)|ids?|tokens?|labels?|positions?|lengths?|classes)"
)
_MASK = re.compile(r"(\w*_)?(mask|masks|condition|cond|where)")
_SEVERAL = re.compile(r"(\w*_)?states")
_IMAGE = re.compile(r"(\w*_)?(images?|img|imgs|pixels|feature_maps?)")
_PLAIN = re.compile(r"\b(int|float|bool|str|bytes|dtype|DType|Callable|Sequence|Iterable|Any)\b")
_TENSOR = re.compile(r"Tensor|ndarray|Array|Variable")


def is_tensor(parameter: Taken) -> bool:
    """Whether a function takes a tensor by this name."""
    if parameter.annotation and parameter.annotation != "Any":
        if _TENSOR.search(parameter.annotation):
            return True
        if _PLAIN.search(parameter.annotation):
            return False
    return not _ARGUMENTS.fullmatch(parameter.name)


def is_several(parameter: Taken) -> bool:
    """Whether a layer takes a list of tensors by this name, as a cell its states."""
    return _SEVERAL.fullmatch(parameter.name) is not None


def data_for(parameter: Taken) -> Any:
    """Plain data that it may take; UNKNOWN where there is no telling."""
    name, annotation = parameter.name, parameter.annotation
    wants = set(re.findall(r"\b(int|float|bool|str)\b", annotation))
    for pattern, value in _DATA:
        if re.fullmatch(pattern, name) and _fits(value, wants):
            return value
    for kind, value in (("int", WIDTH), ("float", 0.5), ("bool", False)):
        if kind in wants:
            return value
    if annotation and (wants or not _TENSOR.search(annotation)):
        return UNKNOWN
    # (A class whose parameter has no annotation and no telling name: most are sizes.)
    return WIDTH


def _fits(value: Any, wants: set[str]) -> bool:
    return not wants or type(value).__name__ in wants or not isinstance(value, int | float | str)


def special_input(parameter: Taken, shape: list[int]) -> dict[str, Any] | None:
    """What a tensor of that name holds, where it is not real numbers."""
    if _INTEGERS.fullmatch(parameter.name):
        return {"shape": shape, "sample": "integers(0, 3)", "dtype": "int32"}
    if _MASK.fullmatch(parameter.name):
        return {"shape": shape, "sample": "boolean", "dtype": "bool"}
    return None


def is_image(parameter: Taken) -> bool:
    """Whether it is called after pictures: those have four axes."""
    return bool(_IMAGE.fullmatch(parameter.name))
