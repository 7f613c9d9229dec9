"""The list of all declared ops, and how to find one by name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gradcheck.ops.families import (
    activations,
    arithmetic,
    attention,
    basics,
    bessel,
    bias_embedding,
    complex_parts,
    convolution,
    cumulative,
    depthwise_convolution,
    einsum,
    fourier,
    gelu,
    gru,
    images,
    joining,
    keras_activations,
    linalg_determinants,
    linalg_diagonals,
    linalg_eigenvalues,
    linalg_factors,
    linalg_functions,
    linalg_inverses,
    linalg_least_squares,
    linalg_products,
    linalg_replaced,
    linalg_vectors,
    loops,
    losses,
    lstm,
    mean_losses,
    moments,
    neighbourhoods,
    normalisation,
    norms,
    ordering,
    padding,
    pooling,
    powers_logarithms,
    real_fourier,
    reductions,
    reshaping,
    resizing,
    scatters,
    segments,
    sequence_losses,
    signals,
    slicing,
    softmax,
    special_functions,
    special_orders,
    splitting_padding,
    statistics,
    transposed_convolution,
    trigonometry,
    vector_losses,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from gradcheck.ops.declaration import Op

FAMILIES = (
    arithmetic,
    basics,
    powers_logarithms,
    trigonometry,
    special_functions,
    special_orders,
    bessel,
    reductions,
    norms,
    cumulative,
    ordering,
    linalg_products,
    einsum,
    linalg_diagonals,
    linalg_replaced,
    linalg_inverses,
    linalg_determinants,
    linalg_factors,
    linalg_eigenvalues,
    linalg_vectors,
    linalg_functions,
    linalg_least_squares,
    reshaping,
    slicing,
    splitting_padding,
    padding,
    joining,
    segments,
    scatters,
    images,
    resizing,
    neighbourhoods,
    signals,
    fourier,
    real_fourier,
    complex_parts,
    activations,
    gelu,
    keras_activations,
    softmax,
    losses,
    mean_losses,
    vector_losses,
    sequence_losses,
    normalisation,
    moments,
    statistics,
    attention,
    lstm,
    gru,
    loops,
    bias_embedding,
    convolution,
    transposed_convolution,
    depthwise_convolution,
    pooling,
)


@cache
def all_ops() -> tuple[Op, ...]:
    """Every declared op, family by family."""
    return tuple(op for family in FAMILIES for op in family.OPS)


def names() -> tuple[str, ...]:
    """The ops' own names, in the order of `all_ops`."""
    return tuple(op.name for op in all_ops())


def find(name: str) -> Op | None:
    """The op with this name: its own, TensorFlow's, or another that TensorFlow has for it."""
    return _by_name().get(name)


def find_for(name: str, inputs: Collection[str], args: Collection[str]) -> Op | None:
    """The op that a call of this name is declared by.

    None where TensorFlow's name stands with inputs or arguments that the declaration does not
    know, or with tensors inside of others (`x[0]`): TensorFlow may know them, and the call is then
    one without a formula. Without it `test_arguments_beyond_the_declaration` fails.
    """
    op = find(name)
    if op is None or name == op.name:
        return op
    declared = {p.name for p in op.inputs}
    known = all(name.isidentifier() if op.variadic else name in declared for name in inputs)
    return op if known and all(op.has_arg(arg) for arg in args) else None


def find_part(name: str, place: int) -> Op | None:
    """The op that is one of several outputs of a TensorFlow function."""
    return next((op for op in all_ops() if op.part_of == (name, place)), None)


@cache
def _by_name() -> Mapping[str, Op]:
    return {key: op for op in all_ops() for key in _names_of(op)}


def _names_of(op: Op) -> tuple[str, ...]:
    if op.is_part:
        return (op.name,)
    names = (op.name, op.tf, *op.aliases)
    # (TensorFlow's Keras is Keras.)
    return (*names, *(n.removeprefix("tf.") for n in names if n.startswith("tf.keras.")))
