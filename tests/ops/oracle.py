"""The formula of an op and TensorFlow's tape, both evaluated at one drawn point."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.phases import HAS_PHASE, with_fixed_phase
from gradcheck.explainer.page_code import in_float32
from gradcheck.ops import Kind, Op
from gradcheck.ops.language.vocabulary import lookup, unbroadcast
from gradcheck.ops.samples.registry import SAMPLES, draw
from gradcheck.spec.expression.expression import parse_formula

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcheck.model import Array, Shape


@dataclass(frozen=True)
class Point:
    """The inputs, the upstream, the output and the gradients of one call."""

    values: dict[str, Array]
    upstream: Any
    out: Any
    """Lists where the op has several outputs."""
    tape: dict[str, Array]
    formula: dict[str, Array]


def resolve(name: str) -> Any:
    """The TensorFlow object of a dotted name."""
    import tensorflow as tf

    found: Any = tf
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


def drawn(
    op: Op, shapes: Mapping[str, Shape], complex_: bool, rng: np.random.Generator
) -> dict[str, Array]:
    """Values for the inputs, as the declaration says."""
    domains = {parameter.name: parameter.domain for parameter in op.inputs}
    kinds = {parameter.name: parameter.kind for parameter in op.inputs}
    return {
        name: draw(domain.sample, shape, complex_ or kinds.get(name) is Kind.COMPLEX, rng, domain)
        for name, shape in shapes.items()
        # A variadic op declares one parameter for inputs of any names.
        for domain in [domains.get(name, op.inputs[0].domain)]
    }


def forward(op: Op, tensors: Mapping[str, Any], args: Mapping[str, Any]) -> Any:
    """What TensorFlow computes."""
    import tensorflow as tf

    if op.float32_only and all(t.dtype != tf.float32 for t in tensors.values()):
        single = in_float32(
            lambda *given: forward(op, dict(zip(tensors, given, strict=True)), args)
        )
        return single(*tensors.values())
    if op.build is not None:
        return op.build(tf, list(tensors.values()), args)
    function = resolve(op.tf)
    # (The sign of an eigenvector is free: it is made the same on both sides.)
    function = with_fixed_phase(op.tf, function) if op.tf in HAS_PHASE else function
    return function(**tensors, **args)


def tolerance(op: Op, exact: float) -> float:
    """What is granted between the formulas of an op and TensorFlow."""
    return 1e-5 if op.float32_only else exact


def evaluate(
    op: Op,
    shapes: Mapping[str, Shape],
    args: Mapping[str, Any],
    *,
    complex_: bool = False,
    values: dict[str, Array] | None = None,
) -> Point:
    """Both oracles at a point drawn from a seed that follows from the call."""
    import tensorflow as tf

    rng = np.random.default_rng(zlib.crc32(f"{op.name}{shapes}{args}".encode()))
    values = values or drawn(op, shapes, complex_, rng)
    kinds = {parameter.name: parameter.kind for parameter in op.inputs}
    real = [name for name in values if kinds.get(name, Kind.REAL).is_differentiated]
    call = op.call(shapes, args)
    tensors = {name: tf.constant(value) for name, value in values.items()}
    with tf.GradientTape() as tape:
        tape.watch([tensors[name] for name in real])
        result = forward(op, tensors, call.args)
    outs = list(result) if op.outputs else [result]

    def random(out: Any) -> Array:
        drawn_ = rng.standard_normal(out.shape)
        return np.asarray(
            drawn_ + 1j * rng.standard_normal(out.shape) if out.dtype.is_complex else drawn_
        )

    upstreams = [random(out) for out in outs]
    found = tape.gradient(
        outs, [tensors[name] for name in real], [tf.constant(u) for u in upstreams]
    )
    upstream: Any = upstreams if op.outputs else upstreams[0]
    out: Any = [o.numpy() for o in outs] if op.outputs else np.asarray(outs[0])
    known = {**call.args, **values, "G": upstream, "out": out}
    formula = {}
    for name, text in op.formulas(call).items():
        with np.errstate(all="ignore"):
            value = parse_formula(text, known).evaluate(known, lookup)
        formula[name] = unbroadcast(value, shapes[name])
    tape_values = {
        name: tf.convert_to_tensor(gradient).numpy()
        for name, gradient in zip(real, found, strict=True)
    }
    return Point(values, upstream, out, tape_values, formula)


def structure_of(op: Op, name: str) -> str:
    """The structure of the matrices that an input holds."""
    parameters = {p.name: p for p in op.inputs}
    return SAMPLES[parameters.get(name, op.inputs[0]).domain.sample.name].structure


def within(gradient: Any, structure: str) -> Array:
    """The part of a gradient that changes within a structure can see."""
    gradient = np.asarray(gradient)
    if structure == "symmetric":
        return np.asarray((gradient + np.conj(np.swapaxes(gradient, -1, -2))) / 2)
    return np.tril(gradient) if structure == "lower" else gradient
