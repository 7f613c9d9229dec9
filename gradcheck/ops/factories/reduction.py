"""The factory of reductions: ops that combine the elements along one axis, several, or all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gradcheck.ops.declaration import ANYWHERE, Derivation, Domain, Example, Op, Parameter
from gradcheck.ops.rules import flag, only, several_axes

if TYPE_CHECKING:
    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call


def reduced_shape(call: Call) -> Shape:
    """What the named axes leave; with `keepdims` they stay, with size 1."""
    shape = only(call)
    gone = several_axes(call.args["axis"], len(shape))
    if flag(call, "keepdims"):
        return tuple(1 if axis in gone else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in gone)


def count(call: Call) -> int:
    """How many elements come together in one of the output."""
    shape = only(call)
    return math.prod(shape[axis] for axis in several_axes(call.args["axis"], len(shape)))


def reduction(
    name: str,
    summary: str,
    forward: str,
    formula: str,
    *pitfalls: str,
    related: tuple[str, ...],
    domain: Domain = ANYWHERE,
    tangent: str = "",
    derivation: Derivation = (),
    undefined: tuple[str, ...] = (),
    tf: str = "",
) -> Op:
    """A reduction over `axis` (one, several, or None for all), named `tf.<name>`.

    COUNT in the formula stands for how many elements come together in one of the output.
    """
    return Op(
        name=name,
        tf=tf or f"tf.{name}",
        family="reduce",
        summary=summary,
        inputs=(Parameter("input_tensor", domain),),
        formula=(
            (lambda call: {"input_tensor": formula.replace("COUNT", str(count(call)))})
            if "COUNT" in formula
            else {"input_tensor": formula}
        ),
        shape=reduced_shape,
        args={"axis": None, "keepdims": False},
        aliases=() if tf else (f"tf.math.{name}",),
        pitfalls=pitfalls,
        forward=forward,
        tangent=tangent,
        derivation=derivation,
        related=related,
        undefined=undefined,
        example=Example({"input_tensor": (2, 3)}, {"axis": 1}),
    )
