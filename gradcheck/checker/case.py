"""One Case → one Result, in this process."""

from __future__ import annotations

import time
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck import ops
from gradcheck.checker import limits
from gradcheck.checker.check import check_problem
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.subject.build_function import build, claims, formulas
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.problem import Operand, Problem
from gradcheck.checker.subject.tensors import is_differentiable
from gradcheck.errors import GradcheckError
from gradcheck.model import Array, Case, Comparison, Input, Result, Sample, TargetKind, Verdict
from gradcheck.ops.declaration import ANYWHERE, Domain, Kind, Parameter
from gradcheck.ops.samples.registry import SAMPLES, draw

if TYPE_CHECKING:
    from collections.abc import Collection


def check_case(case: Case, *, allow: Collection[str] = (), root: str = ".") -> Result:
    """Run one case; never raises for what the case does."""
    started = time.perf_counter()
    try:
        problem = problem_of(case, allow=allow, root=root)
    except Ended as ended:
        return _ended(case, ended.verdict, ended.message, started)
    except GradcheckError as error:
        return _ended(case, Verdict.ERROR, f"{case.target.location}: {error}", started)
    except ValueError as error:
        return _ended(case, Verdict.ERROR, f"{case.location}: {error}", started)
    result = check_problem(problem, case.id)
    return replace(
        result,
        case=case,
        comparisons=tuple(_light(comparison) for comparison in result.comparisons),
        seconds=time.perf_counter() - started,
    )


def problem_of(case: Case, *, allow: Collection[str], root: str) -> Problem:
    """What the case asks; raises GradcheckError or ValueError where that cannot be built."""
    return Problem(
        function=build(case, allow=allow, root=root),
        operands=tuple(_operand(case, i) for i in range(len(case.inputs))),
        upstream=case.upstream,
        formulas=formulas(case),
        claims=claims(case),
        mode=case.mode,
        checks=case.checks,
        seed=case.seed,
        tolerance=case.tolerance,
    )


def _ended(case: Case, verdict: Verdict, message: str, started: float) -> Result:
    seconds = time.perf_counter() - started
    return Result(case.id, verdict, message=message, seconds=seconds, case=case)


def _light(comparison: Comparison) -> Comparison:
    """Without the arrays that are too large to travel and that nobody would read."""
    if comparison.elements <= limits.KEPT_ELEMENTS:
        return comparison
    return replace(comparison, analytic=None, numeric=None, bound=None, formula=None)


def _operand(case: Case, position: int) -> Operand:
    given = case.inputs[position]
    parameter = _parameter(case, given)
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


def _parameter(case: Case, given: Input) -> Parameter:
    """What the op's declaration says about this input."""
    op = ops.find(case.target.text) if case.target.kind is TargetKind.OP else None
    if op is not None:
        if op.variadic:
            return op.inputs[0]
        for parameter in op.inputs:
            if parameter.name == given.name:
                return parameter
    return Parameter(given.name, ANYWHERE)


def _value(case: Case, given: Input, parameter: Parameter) -> Array:
    """The input's values: given or drawn, in the dtype they are to have."""
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
    if parameter.kind is Kind.INTEGER:
        return "int32"
    if parameter.kind is Kind.BOOLEAN or (
        given.values is not None and np.asarray(given.values).dtype == np.bool_
    ):
        return "bool"
    return case.dtype


def _dtype(name: str) -> np.dtype[Any]:
    if name == "bfloat16":
        import tensorflow as tf

        name = tf.bfloat16.as_numpy_dtype
    return np.dtype(name)
