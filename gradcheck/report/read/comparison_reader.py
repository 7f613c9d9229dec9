"""One input of a result, read back from a JSON report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.model import (
    Array,
    CheckKind,
    CloseUp,
    CodePlace,
    Comparison,
    Diagnosis,
    Element,
    Scalar,
    Shape,
    Stage,
    Verdict,
)
from gradcheck.report.error_shades import MOST_SHADED, SHADES
from gradcheck.report.read import typed_json as typed
from gradcheck.report.read.typed_json import DamagedError

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_AXES = 64
"""More than TensorFlow has, and as many as numpy can take."""

_MOST_DRAWN = 1024
"""Steps of a close-up, rows and columns of a Jacobian: a picture has no room for more."""


def read_stage(data: Mapping[str, Any]) -> Stage | None:
    """The stage that decided; none in reports of before it was told, nor one that is not known.

    A later gradcheck may have more of them, in reports of the same version.
    """
    if data.get("decided_by") is None:
        return None
    name = typed.text(data, "decided_by")
    return Stage(name) if name in list(Stage) else None


def read_comparison(data: Any) -> Comparison:
    """One input of a result."""
    shape = _shape(data)
    return Comparison(
        name=typed.text(data, "name"),
        verdict=typed.choice(Verdict, data, "verdict"),
        shape=shape,
        dtype=typed.text(data, "dtype"),
        check=typed.choice(CheckKind, data, "check"),
        decided_by=read_stage(data),
        note=typed.text(data, "note"),
        judged=typed.count(data, "judged"),
        directions=typed.count(data, "directions"),
        max_abs_error=typed.maybe(_real, data, "max_abs_error"),
        max_rel_error=typed.maybe(_real, data, "max_rel_error"),
        error_bar=typed.maybe(_real, data, "error_bar"),
        worst=tuple(_element(item) for item in typed.items(data, "worst")),
        failing=typed.count(data, "failing"),
        analytic=_array(data, "analytic", shape),
        numeric=_array(data, "numeric", shape),
        bound=_array(data, "bound", shape),
        formula=_array(data, "formula", shape),
        diagnosis=typed.maybe(_diagnosis, data, "diagnosis"),
        # (Reports of before they were told have none.)
        places=tuple(_place(i) for i in typed.items(data, "places")) if "places" in data else (),
        shades=_shades(data, shape) if data.get("shades") is not None else "",
        close_up=_close_up(data["close_up"]) if data.get("close_up") is not None else None,
        jacobian=_jacobian(data) if data.get("jacobian") is not None else (),
    )


def _shape(data: Any) -> Shape:
    shape = typed.counts(data, "shape")
    if len(shape) > _MOST_AXES or math.prod(shape) > typed.MOST_COUNTED:
        raise DamagedError("`shape` is that of no tensor")
    return shape


def _element(data: Any) -> Element:
    return Element(
        index=typed.counts(data, "index"),
        value=_scalar(data, "value"),
        analytic=_scalar(data, "analytic"),
        numeric=_scalar(data, "numeric"),
        bound=_real(data, "bound"),
        formula=typed.maybe(_scalar, data, "formula"),
        left=typed.maybe(_scalar, data, "left"),
        right=typed.maybe(_scalar, data, "right"),
    )


def _diagnosis(data: Any, key: str) -> Diagnosis:
    told = data[key]
    return Diagnosis(typed.text(told, "cause"), typed.text(told, "text"))


def _place(data: Any) -> CodePlace:
    return CodePlace(
        typed.text(data, "path"), typed.count(data, "line"), typed.text(data, "function")
    )


def _shades(data: Mapping[str, Any], shape: Shape) -> str:
    digits = typed.text(data, "shades")
    known = "".join(str(i) for i in range(len(SHADES)))
    if not len(digits) == math.prod(shape) <= MOST_SHADED or set(digits) - set(known):
        raise DamagedError("`shades` should have a digit for each element")
    return digits


def _close_up(data: Any) -> CloseUp:
    steps = _series(data, "steps")
    if len(steps) > _MOST_DRAWN:
        raise DamagedError("`steps` are too many for a picture")
    series = {name: _series(data, name) for name in ("errors", "right", "left")}
    if any(len(values) != len(steps) for values in series.values()):
        raise DamagedError("a `close_up` should have as many `errors` as `steps`")
    return CloseUp(
        index=typed.counts(data, "index"),
        imaginary=typed.flag(data, "imaginary"),
        analytic=_real(data, "analytic"),
        numeric=_real(data, "numeric"),
        bound=_real(data, "bound"),
        chosen=_real(data, "chosen"),
        steps=steps,
        **series,
    )


def _series(data: Any, key: str) -> tuple[float, ...]:
    return tuple(typed.real(value, key) for value in typed.items(data, key))


def _jacobian(data: Mapping[str, Any]) -> tuple[str, ...]:
    rows = typed.texts(data, "jacobian")
    width = len(rows[0]) if rows else 0
    if max(len(rows), width) > _MOST_DRAWN or any(
        len(row) != width or set(row) - set("+-0?") for row in rows
    ):
        raise DamagedError("`jacobian` should have rows of as many signs each")
    return rows


def _real(data: Any, key: str) -> float:
    return typed.real(typed.member(data, key), key)


def _scalar(data: Any, key: str) -> Scalar:
    return _number(typed.member(data, key), key)


def _number(value: Any, key: str) -> Scalar:
    if isinstance(value, dict):
        return complex(_real(value, "re"), _real(value, "im"))
    return typed.real(value, key)


def _array(data: Any, key: str, shape: Shape) -> Array | None:
    told = typed.member(data, key)
    if told is None:
        return None
    try:
        array = np.array(_nested(told, key))
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"`{key}` should be an array of numbers") from error
    if array.shape != shape and array.size:
        raise DamagedError(f"`{key}` should have the shape {list(shape)}")
    return array


def _nested(value: Any, key: str) -> Any:
    return (
        [_nested(item, key) for item in value] if isinstance(value, list) else _number(value, key)
    )
