"""The claims of written derivations, evaluated at a random point with a random change."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.explainer import trees
from gradcheck.ops.samples.registry import SAMPLES
from tests.ops.oracle import drawn, within

if TYPE_CHECKING:
    from gradcheck.explainer import Subject

STEP = 2.0**-13


def random_like(rng: np.random.Generator, like: Any) -> Any:
    """Random numbers of the shape, complex if it is."""
    drawn_ = rng.standard_normal(np.shape(like))
    return drawn_ + 1j * rng.standard_normal(np.shape(like)) if np.iscomplexobj(like) else drawn_


def failing_claims(subject: Subject) -> list[str]:
    """The claims that do not hold; `dout` is found by differences of the printed forward."""
    op, call = subject.op, subject.call
    rng = np.random.default_rng(zlib.crc32(f"{op.name}{call.shapes}".encode()))
    values = drawn(op, call.shapes, False, rng)
    parameters = {p.name: p for p in op.inputs}
    moves = {
        name: within(
            random_like(rng, values[name]),
            SAMPLES[parameters.get(name, op.inputs[0]).domain.sample.name].structure,
        )
        for name in subject.differentiable
    }
    assert subject.forward is not None
    forward = subject.forward

    def at(distance: float) -> list[Any]:
        moved = {n: v + distance * moves[n] if n in moves else v for n, v in values.items()}
        out = trees.run(forward, {**call.args, **moved})
        return list(out) if op.outputs else [out]

    # Two central differences, extrapolated: an error of order h⁴.
    slopes = [
        (4 * (b - a) / STEP - (d - c) / (2 * STEP)) / 3
        for a, b, c, d in zip(at(-STEP / 2), at(STEP / 2), at(-STEP), at(STEP), strict=True)
    ]
    outs = at(0.0)
    upstream = [random_like(rng, o) for o in outs]
    known: dict[str, Any] = {
        **call.args,
        **values,
        **{f"d{n}": m for n, m in moves.items()},
        "out": outs if op.outputs else outs[0],
        "dout": slopes if op.outputs else slopes[0],
        "G": upstream if op.outputs else upstream[0],
    }
    failed = []
    for step in (*subject.derivation, *op.slope_steps(call)):
        if " := " in step.claim:
            name, text = step.claim.split(" := ")
            known[name] = trees.run(subject.tree(text), known)
        elif step.claim:
            left, right = (
                np.asarray(trees.run(subject.tree(t), known)) for t in step.claim.split(" == ")
            )
            scale = max(1.0, float(np.max(np.abs(right), initial=0.0)))
            left, right = np.broadcast_arrays(left, right)
            if not np.max(np.abs(left - right), initial=0.0) < 1e-7 * scale:
                failed.append(step.claim)
    return failed
