"""The factory of elementwise ops: one line of formula for each input, broadcasting included.

For complex inputs TensorFlow's gradient of a holomorphic f is G·conj(f′); hence the `conj` in the
formulas. Inputs that were broadcast get the formula's value summed back to their shape by the
checker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.ops.declaration import ANYWHERE, Derivation, Domain, Example, Op, Parameter
from gradcheck.ops.rules import broadcast_call

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Shape
    from gradcheck.ops.declaration import Call, Formulas


def elementwise(
    name: str,
    tf: str,
    summary: str,
    *aliases: str,
    forward: str,
    family: str = "elementwise",
    related: tuple[str, ...] = (),
    slope: Derivation = (),
    undefined: tuple[str, ...] = (),
    shape: Callable[[Call], Shape] = broadcast_call,
    args: dict[str, Any] | None = None,
    required: tuple[str, ...] = (),
    positions: tuple[str, ...] = (),
    example: Example | None = None,
    domains: dict[str, Domain] | None = None,
    pitfalls: tuple[str, ...] = (),
    complex_finding: str = "",
    float32_only: bool = False,
    code: Callable[[Call], Formulas] | None = None,
    **formula: str,
) -> Op:
    """An op whose inputs are the keywords of `formula`, broadcast against each other."""
    domains = domains or {}
    return Op(
        name=name,
        tf=tf,
        family=family,
        summary=summary,
        inputs=tuple(Parameter(key, domains.get(key, ANYWHERE)) for key in formula),
        formula=formula,
        shape=shape,
        args=args or {},
        required=required,
        positions=positions,
        example=example,
        aliases=aliases,
        pitfalls=pitfalls,
        complex_finding=complex_finding,
        float32_only=float32_only,
        forward=forward,
        code=code or {},
        related=related,
        slope=slope,
        undefined=undefined,
    )
