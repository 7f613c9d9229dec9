"""The printed code, run: in float64, in float32, and where exponentials overflow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer.page_code import run_code
from gradcheck.explainer.proof import Proof, moved_within, visible_within

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcheck.model import Array

__all__ = ["LOW_TOLERANCE", "CodePoint", "prove_code"]

LARGE = 200.0
"""e²⁰⁰ is beyond float32; logits of this size occur."""
CODE_TOLERANCE = 2.0**-36
"""Granted between the code and the tape in float64, relative to the gradient's largest element."""
LOW_TOLERANCE = 2.0**-12
"""Granted in float32, or some times the tape's own error there."""
TAPE_ERRORS = 16.0


@dataclass(frozen=True)
class CodePoint:
    """A function and the point at which the code of its gradients is run."""

    function: Callable[..., Any]
    values: Mapping[str, Array]
    upstream: tuple[Array, ...]
    several: bool
    """Whether G and the output are lists."""
    free: frozenset[str]
    """Inputs that may take any value."""
    structures: Mapping[str, str]
    beside: Mapping[str, Array] = field(default_factory=dict)
    """What the code names beside the inputs: arrays that the function holds."""
    draws: bool = False
    """Whether it draws random numbers, others in float32: then nothing is known of the tape's error
    there, and none is granted. Without it `test_a_wrong_gradient_under_a_mask_fails` fails."""
    float32_only: bool = False
    """Whether the function takes float32 alone: its code is then run in that alone."""
    float32_inside: bool = False
    """Whether it takes float64 and computes in float32: its code gives float32 then, too."""
    wanted: Mapping[str, Array] | None = None
    """What the code is held against in place of the tape: by gradient, what its formula gives."""


def prove_code(point: CodePoint, lines: Mapping[str, Sequence[str]]) -> list[Proof]:
    """By gradient: its lines, run at the point; nothing where TensorFlow cannot take the point."""
    written = {name: own for name, own in lines.items() if _is_written(name, own)}
    if not written:
        return []
    if point.float32_only:
        single = _Run(point, point.values, np.float32)
        return [
            single.proof(name, own, "code, float32", single.tape(name), LOW_TOLERANCE)
            for name, own in written.items()
        ]
    found: list[Proof] = []
    exact = _Run(point, point.values, np.float64)
    if point.float32_inside:
        exact.given_in = np.float32
        return [
            exact.proof(name, own, "code, float32", exact.tape(name), LOW_TOLERANCE)
            for name, own in written.items()
        ]
    for name, own in written.items():
        found.append(exact.proof(name, own, "code, float64", exact.tape(name), CODE_TOLERANCE))
    low = _Run.attempted(point, point.values)
    if low is not None:
        found += [
            low.proof(name, own, "code, float32", exact.tape(name), LOW_TOLERANCE)
            for name, own in written.items()
        ]
    large = _Run.attempted(point, _enlarged(point)) if point.free else None
    if large is not None:
        found += [
            large.proof(name, own, f"code, values of {LARGE:g}", large.tape(name), LOW_TOLERANCE)
            for name, own in written.items()
        ]
    return found


def _is_written(name: str, lines: Sequence[str]) -> bool:
    return any(line.startswith(f"d{name} = ") for line in lines)


def _enlarged(point: CodePoint) -> dict[str, Array]:
    """The free inputs moved out until their largest element is LARGE."""
    return {
        name: value * (LARGE / max(float(np.max(np.abs(value), initial=0.0)), 1e-3))
        if name in point.free
        else value
        for name, value in point.values.items()
    }


class _Run:
    """The function and its tape at values of one dtype."""

    def __init__(self, point: CodePoint, values: Mapping[str, Array], dtype: Any) -> None:
        import tensorflow as tf

        from gradcheck.checker.subject.tensors import call

        self.point = point
        self.given_in: Any = None
        """The dtype in which code is run, where that is not the tape's."""
        self.tensors = {name: tf.constant(_cast(value, dtype)) for name, value in values.items()}
        watched = {
            n: t for n, t in self.tensors.items() if t.dtype.is_floating or t.dtype.is_complex
        }
        self.beside = {n: tf.constant(_cast(v, dtype)) for n, v in point.beside.items()}
        self.upstream = [tf.constant(_cast(g, dtype)) for g in point.upstream]
        self.outs: list[Any] = []
        if point.wanted is not None:
            return
        with tf.GradientTape() as tape:
            tape.watch(list(watched.values()))
            self.outs = call(point.function, list(self.tensors.values()))
        given = [tf.cast(g, out.dtype) for g, out in zip(self.upstream, self.outs, strict=False)]
        self.gradients = tape.gradient(self.outs, watched, given)

    @classmethod
    def attempted(cls, point: CodePoint, values: Mapping[str, Array]) -> _Run | None:
        """In float32; None where the function takes no float32, or is not finite there."""
        try:
            run = cls(point, values, np.float32)
        except Exception:  # float64 was written into the expression
            return None
        finite = all(np.isfinite(np.asarray(out)).all() for out in run.outs)
        return run if finite else None

    def tape(self, name: str) -> Array:
        """What the tape gives, dense."""
        import tensorflow as tf

        if self.point.wanted is not None:
            return self.point.wanted[name]
        found = self.gradients[name]
        if found is None:
            return np.zeros(self.tensors[name].shape)
        return _wide(tf.convert_to_tensor(found))

    def known(self) -> dict[str, Any]:
        """Every name that the code may use."""
        several = self.point.several
        found = {
            **self.tensors,
            **self.beside,
            "G": self.upstream if several else self.upstream[0],
            "out": list(self.outs) if several else next(iter(self.outs), None),
        }
        return found if self.given_in is None else _cast_all(found, self.given_in)

    def proof(
        self, name: str, lines: Sequence[str], label: str, wanted: Array, tolerance: float
    ) -> Proof:
        """The code's value beside what is wanted, where that is finite."""
        try:
            value = _wide(run_code(lines, self.known())[f"d{name}"])
        except Exception as error:  # whatever TensorFlow says of the code is the finding
            told = " ".join(str(error).split())[:80]
            return Proof(name, f"{label}: {told}", np.inf, np.nan, np.nan, holds=False)
        if value.shape != wanted.shape:
            return Proof(name, f"{label}: its shape", np.inf, np.nan, np.nan, holds=False)
        structure = self.point.structures.get(name, "")
        finite = np.isfinite(wanted) & np.isfinite(self.tape(name))
        own = 0.0 if self.point.draws else _apart(self.tape(name), wanted, finite)
        wanted, value = np.where(finite, wanted, 0.0), np.where(finite, value, 0.0)
        value, wanted = moved_within(value, structure), moved_within(wanted, structure)
        seen = visible_within(np.ones_like(wanted), structure) != 0
        off = _apart(value, wanted, seen)
        return Proof(
            name, label, off, np.nan, np.nan, holds=off <= max(tolerance, TAPE_ERRORS * own)
        )


def _cast_all(values: Mapping[str, Any], dtype: Any) -> dict[str, Any]:
    import tensorflow as tf

    return {
        name: tf.nest.map_structure(
            lambda t: tf.cast(t, dtype) if t.dtype.is_floating else t, value
        )
        for name, value in values.items()
    }


def _apart(one: Array, other: Array, where: Array) -> float:
    scale = max(1.0, float(np.max(np.abs(other), initial=0.0, where=where)))
    with np.errstate(all="ignore"):
        difference = np.abs(one - other)
    worst = np.max(np.where(np.isnan(difference), np.inf, difference), initial=0.0, where=where)
    return float(worst) / scale


def _wide(value: Any) -> Array:
    array = np.asarray(value)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _cast(value: Array, dtype: Any) -> Array:
    if value.dtype.kind == "c":
        return value.astype(np.result_type(dtype, np.complex64))
    return value.astype(dtype) if value.dtype.kind == "f" else value
