"""The cases of a sweep: every declared op, in its range of shapes and arguments, by dtype and seed.

A plain sweep draws as specs do, from the samples that the ops declare. A wild one then moves the
values far away: to other magnitudes, to zero, to the edges of the domain.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.model import Case, Expectation, Input, Location, Result, Target, TargetKind
from gradcheck.spec import load
from tests.ops.calls import USES, Use

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.model import Array
    from gradcheck.ops.declaration import Op

DTYPES = ("float64", "float32", "bfloat16", "float16", "complex128", "complex64")

DECADES = {"float64": 12, "complex128": 12, "float32": 3, "complex64": 3}
"""How far a wild sweep goes in each direction, in powers of ten."""

DECADES_OF_FEW_BITS = 3

SCALABLE = ("general", "symmetric", "lower", "invertible")
"""What an input may be so that multiples of it are of the same kind."""

KNOWN_BUGS = tuple(map(str, sorted(Path(__file__).parents[1].glob("specs/*/known_bugs.yaml"))))

_HERE = Location("sweep", 1, 1)


def cases(dtypes: Collection[str], seeds: Collection[int]) -> Iterator[Case]:
    """All of them, a round of all the ops for each seed."""
    for seed in seeds:
        for use in USES:
            for dtype in dtypes:
                if _is_computed_in(use.op, dtype):
                    yield _case(use, dtype, seed)


def _is_computed_in(op: Op, dtype: str) -> bool:
    """Whether inputs of this dtype can be drawn, and what is declared holds for them."""
    if op.float32_only:
        return dtype == "float32"
    if op.real_only and dtype.startswith("complex"):
        return False
    return not op.is_complex or dtype not in ("float16", "bfloat16")


def _case(use: Use, dtype: str, seed: int) -> Case:
    name = f"{use}[{dtype},{seed}]"
    return Case(
        id=name,
        path="sweep",
        name=name,
        location=_HERE,
        target=Target(TargetKind.OP, use.op.name, _HERE),
        inputs=tuple(Input(input_, shape, _HERE) for input_, shape in use.shapes.items()),
        args=use.args,
        dtype=dtype,
        expect=_known().get((use.op.name, dtype.replace("complex64", "complex128"))),
        seed=seed,
    )


@cache
def known_somewhere() -> frozenset[tuple[str, str]]:
    """Ops and low precisions with a known bug that only some magnitudes show."""
    return frozenset(
        (case.target.text, case.dtype)
        for case in load(KNOWN_BUGS).cases
        if case.dtype not in DECADES and any(given.values is not None for given in case.inputs)
    )


@cache
def _known() -> dict[tuple[str, str], Expectation]:
    """The verdicts of the known bugs, by op and dtype, but for those that only some values show."""
    return {
        (case.target.text, case.dtype): case.expect
        for case in load(KNOWN_BUGS).cases
        if all(given.values is None for given in case.inputs)
    }


def check_wild(case: Case, *, allow: Collection[str], root: str) -> Result:
    """Check the case at a point far from where its sample would be."""
    from gradcheck.checker.case import problem_of
    from gradcheck.checker.check import check_problem

    problem = problem_of(case, allow=allow, root=root)
    if case.seed % 2:
        # A formula may save what the numbers cannot tell; they are to be tried alone too.
        problem = replace(problem, formulas={})
    rng = np.random.default_rng([case.seed, zlib.crc32(case.id.encode()), 0x77696C64])
    operands = tuple(_moved_away(operand, rng) for operand in problem.operands)
    return check_problem(replace(problem, operands=operands), case.id)


def _moved_away(operand: Operand, rng: np.random.Generator) -> Operand:
    value = operand.value
    if not operand.differentiate or operand.structure not in SCALABLE:
        return operand
    reach = DECADES.get(value.dtype.name, DECADES_OF_FEW_BITS)
    wide = np.complex128 if value.dtype.kind == "c" else np.float64
    # One magnitude for all, which keeps a structure, or one for each element.
    each = operand.structure == "general" and rng.integers(2)
    shape = value.shape if each else ()
    factor = 10.0 ** rng.uniform(-reach, reach, size=shape)
    moved = _scaled(value.astype(wide), factor, operand, rng)
    return replace(operand, value=np.asarray(moved).astype(value.dtype))


def _scaled(value: Array, factor: Array, operand: Operand, rng: np.random.Generator) -> Array:
    low, high = operand.low, operand.high
    if np.isinf(low) and np.isinf(high):
        return value * factor
    if np.isinf(high):
        return low + (value - low) * factor
    if np.isinf(low):
        return high - (high - value) * factor
    # Between two ends: towards one of them.
    factor = np.minimum(factor, 1 / factor)
    if rng.integers(2):
        return low + (value - low) * factor
    return high - (high - value) * factor
