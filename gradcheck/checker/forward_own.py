"""Forward mode in the precision and the mode that it is for, beside what it is in double precision.

The formula is judged eagerly in float64. What runs for the user is another program: it has to give
the same, as far as its precision goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gradcheck.checker import limits, tolerances
from gradcheck.checker.numerics.rng import generator
from gradcheck.checker.numerics.vectors import epsilon_of, largest, name_of
from gradcheck.checker.subject.accumulator import Accumulator
from gradcheck.checker.subject.other_outputs import must_have_shapes
from gradcheck.model import Mode, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcheck.checker.duality import BothModes, Dual
    from gradcheck.model import Array


class OwnMoves:
    """What forward mode says in its own precision and mode."""

    def __init__(self, both: BothModes) -> None:
        """Nothing runs yet.

        Args:
            both: forward mode in double precision, which was judged.
        """
        problem = both.point.problem
        self._both, self._point = both, both.point
        self._values = [operand.value for operand in problem.operands]
        self._accumulator = Accumulator(problem.function, problem.operands, problem.mode)
        dtypes = [o.value.dtype for o in self._point.moved if o.value.dtype.name in tolerances.ULPS]
        self._unit = max(map(epsilon_of, dtypes), default=0.0)
        self._where = " and ".join(sorted(set(map(name_of, dtypes))))
        if problem.mode is not Mode.EAGER:
            self._where = f"{self._where} in {problem.mode}"

    def told(
        self, verdict: Verdict, dual: Dual, vectors: Array
    ) -> tuple[Stage, Verdict, str, Array]:
        """Who decides, what, why, and about which vectors.

        Without it `test_forward_mode_that_is_wrong_in_its_own_precision` fails.

        Args:
            verdict: in double precision; it stands where nothing else is to be said.
            dual: what is said in double precision along the vectors.
            vectors: a row each.
        """
        as_it_is = Stage.FORWARD, verdict, "", np.zeros(len(vectors), dtype=bool)
        # (Of no outputs nothing is to be said.)
        if not (self._unit and len(vectors) and self._point.base.size):
            return as_it_is
        moves, outputs = self._along(vectors, self._values)
        with np.errstate(all="ignore"):
            off = np.abs(moves - dual.forward)
        size = self._both.sizes(dual)
        allowed = np.sqrt(self._unit) * size
        apart = ~(off <= allowed) & np.isfinite(dual.forward) & np.isfinite(size)
        if not apart.any():
            return as_it_is
        another = self._another(outputs)
        if another:
            return Stage.PRECISION, Verdict.INCONCLUSIVE, another, apart
        rows = np.flatnonzero(apart)
        allowed[rows] += tolerances.ROUNDING_SAFETY * self._spread(rows, vectors, moves, dual)
        apart[rows] = ~(off[rows] <= allowed[rows])
        if not apart.any():
            return as_it_is
        row = int(np.argmax(np.where(apart, np.nan_to_num(off, nan=np.inf), -1.0)))
        told = (
            f"in {self._where} forward mode gives {moves[row]:.6g} where in float64 it gives "
            f"{dual.forward[row]:.6g}, and rounding explains {allowed[row]:.1g}"
        )
        fine = np.isfinite(moves[apart]).all()
        return Stage.PRECISION, Verdict.MISMATCH if fine else Verdict.NONFINITE, told, apart

    def _along(self, vectors: Array, values: Sequence[Array]) -> tuple[Array, Array]:
        """⟨u, Jv⟩ by vector, and the outputs."""
        point, found = self._point, []
        outputs = np.zeros(0)
        for vector in vectors:
            moved = self._accumulator(values, point.inputs.unflatten(vector))
            shapes = [output.shape for output in moved.outputs]
            mode = point.problem.mode
            where = self._where if mode is Mode.EAGER else str(mode)
            must_have_shapes(point.outputs.shapes, shapes, where)
            outputs = point.outputs.flatten(moved.outputs)
            moves = point.outputs.flatten(moved.moves)
            moves = np.where(np.isnan(moves) & ~np.isfinite(point.base), 0.0, moves)
            with np.errstate(all="ignore"):
                found.append(float(moves @ point.weights))
        return np.array(found), outputs

    def _another(self, outputs: Array) -> str:
        """How the function itself is another one in its precision, if it is: so is its derivative.

        Without it `test_forward_mode_of_another_function_in_low_precision` fails.
        """
        finite = np.isfinite(self._point.base)
        base, found = self._point.base[finite], outputs[finite]
        if not np.isfinite(found).all():
            return f"in {self._where} the function itself is not finite at this point"
        if largest(found - base) <= tolerances.ANOTHER_FUNCTION * largest(base):
            return ""
        return f"in {self._where} the function itself is another one at this point"

    def _spread(self, rows: Array, vectors: Array, moves: Array, dual: Dual) -> Array:
        """By row: how far the last digits of the inputs move what either precision says."""
        point, spread = self._point, np.zeros(len(rows))
        rng = generator(point.problem.seed, 0x6F776E)
        for _ in range(limits.DUAL_NEIGHBOURS):
            signs = rng.choice([-1.0, 1.0], size=point.at.shape)
            beside = point.inputs.unflatten(point.at * (1 + self._unit * signs))
            there = self._both.along(vectors[rows], self._both.beside(beside))
            given = iter(beside)
            own = [
                next(given).astype(value.dtype) if operand.differentiate else value
                for value, operand in zip(self._values, point.problem.operands, strict=True)
            ]
            low, _ = self._along(vectors[rows], own)
            with np.errstate(all="ignore"):
                for now, before in ((low, moves[rows]), (there.forward, dual.forward[rows])):
                    spread = np.maximum(spread, np.nan_to_num(np.abs(now - before)))
        return spread
