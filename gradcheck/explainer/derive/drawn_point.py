"""Values for the inputs of an op or an expression, drawn where they may lie, by name and seed."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.model import Sample
from gradcheck.ops.declaration import ANYWHERE, Domain, Kind
from gradcheck.ops.samples.registry import SAMPLES, draw

if TYPE_CHECKING:
    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.model import Array, Shape
    from gradcheck.ops.declaration import Parameter

__all__ = ["domains_to_try", "drawn", "drawn_input"]


def drawn(domain: Domain, shape: Shape, name: str, seed: int, *, is_complex: bool = False) -> Array:
    """Values within a domain."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    return draw(domain.sample, shape, is_complex, rng, domain)


def drawn_input(parameter: Parameter, shape: Shape, name: str, seed: int) -> Array:
    """Values for an input of an op."""
    is_complex = parameter.kind is Kind.COMPLEX
    values = drawn(parameter.domain, shape, name, seed, is_complex=is_complex)
    return values.astype(np.int32) if parameter.kind is Kind.INTEGER else values


_KEEPS_STRUCTURE = frozenset(["add", "add_n", "multiply", "divide", "negative", "identity"])
"""Ops of which matrices of a kind come from matrices of that kind: sums and multiples."""


_KEPT = ("symmetric", "lower")
"""Kinds of matrices of which sums are of that kind again."""


def _note_structures(graph: Graph, found: dict[str, Domain]) -> None:
    """Inputs that matrices of a kind are made of: a kernel plus noise is one if the kernel is.

    Without it `test_a_sum_that_must_be_positive_definite` fails: the gradient of what is not
    symmetric is none that differences find.
    """
    wanted: dict[str, Domain] = {}
    for step in reversed(graph.steps):
        parameters = {p.name: p.domain for p in step.op.inputs}
        for parameter, value in step.differentiable.items():
            domain = parameters.get(parameter, ANYWHERE)
            if SAMPLES[domain.sample.name].structure in _KEPT:
                wanted.setdefault(value, domain)
        if step.name in wanted and step.op.name in _KEEPS_STRUCTURE:
            for value in step.differentiable.values():
                if graph.shapes[value] == step.shape:
                    wanted.setdefault(value, wanted[step.name])
    found |= {name: domain for name, domain in wanted.items() if name in graph.inputs}
    if wanted:
        numbers = [n for n, shape in graph.inputs.items() if not shape and n not in found]
        found |= dict.fromkeys(numbers, Domain(sample=Sample("positive")))


def domains_to_try(graph: Graph) -> list[dict[str, Domain]]:
    """By input of an expression: the domains of the ops that take it, then safer and safer ones."""
    direct: dict[str, Domain] = {}
    for step in graph.steps:
        parameters = {p.name: p for p in step.op.inputs}
        for parameter, value in step.differentiable.items():
            if value in graph.inputs and parameter in parameters:
                domain = parameters[parameter].domain
                if domain != ANYWHERE:
                    direct.setdefault(value, domain)
    _note_structures(graph, direct)
    positive, unit = (Domain(sample=Sample(name)) for name in ("positive", "unit"))
    return [direct, dict.fromkeys(graph.inputs, positive), dict.fromkeys(graph.inputs, unit), {}]
