"""The inputs of a case as operands: their values given or drawn, in the dtype they are to have."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.subject.operand import Operand
from gradcheck.checker.subject.tensors import is_differentiable
from gradcheck.model import Array, Case, Input, Sample
from gradcheck.ops.declaration import Domain, Kind, Parameter
from gradcheck.ops.samples.registry import SAMPLES, draw

if TYPE_CHECKING:
    from gradcheck.spec.resolve import ResolvedCase


def operands(resolved: ResolvedCase) -> tuple[Operand, ...]:
    """One for each input, in their order; raises ValueError for a shape that cannot be drawn."""
    case = resolved.case
    return tuple(_operand(case, given, resolved.parameter(given.name)) for given in case.inputs)


def _operand(case: Case, given: Input, parameter: Parameter) -> Operand:
    value = _value(case, given, parameter)
    sample = given.sample or parameter.domain.sample
    structure = SAMPLES[sample.name].structure if given.values is None else "general"
    return Operand(
        name=given.name,
        value=value,
        differentiate=given.grad and is_differentiable(value.dtype),
        variable=given.variable,
        low=parameter.domain.low,
        high=parameter.domain.high,
        structure=structure,
    )


def _value(case: Case, given: Input, parameter: Parameter) -> Array:
    dtype = _dtype(given.dtype or _natural_dtype(case, given, parameter))
    if given.values is not None:
        return np.asarray(given.values).astype(dtype)
    # Each input draws from a stream of its own, so that adding one leaves the others as they are.
    rng = generator(case.seed, zlib.crc32(given.name.encode()))
    sample = given.sample or parameter.domain.sample
    if given.sample is None and dtype.kind in "iu" and parameter.kind is Kind.REAL:
        sample = Sample("integers")
    domain = (
        parameter.domain
        if given.sample is None
        else Domain(parameter.domain.low, parameter.domain.high, sample, parameter.domain.kinks)
    )
    return draw(sample, given.shape, dtype.kind == "c", rng, domain).astype(dtype)


def _natural_dtype(case: Case, given: Input, parameter: Parameter) -> str:
    """What an input has of which the spec says nothing."""
    if parameter.kind is Kind.INTEGER:
        return "int32"
    if parameter.kind is Kind.BOOLEAN or (
        given.values is not None and np.asarray(given.values).dtype == np.bool_
    ):
        return "bool"
    if parameter.kind is Kind.COMPLEX and given.values is None:
        return {"float64": "complex128", "float32": "complex64"}.get(case.dtype, case.dtype)
    return case.dtype


def _dtype(name: str) -> np.dtype[Any]:
    if name == "bfloat16":
        import tensorflow as tf

        name = tf.bfloat16.as_numpy_dtype
    return np.dtype(name)
