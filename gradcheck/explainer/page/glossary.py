"""What the less usual functions of a formula mean, in the words of the language itself."""

from __future__ import annotations

import ast

from gradcheck.explainer.trees import called, equation_of
from gradcheck.ops.language.vocabulary import FUNCTIONS

__all__ = ["glossary"]

_EXPLAINED = {
    "unreduce": "spread",
    **{
        name: name
        for name in (
            "unbroadcast", "one_hot_max", "prod_others", "scatter_add", "put_slice", "part",
            "take", "flip", "roll", "cumsum", "cumprod", "tril", "triu", "diag", "diagonal",
            "windows", "unwindows", "polygamma", "scatter_nd", "gather_nd", "one_hot", "phi",
            "mirror_lower", "eigenvectors", "left_singular", "right_singular", "band_part",
            "cross", "tile", "segment_sum", "segment_prod", "segment_max", "segment_min",
            "unsorted_max", "unsorted_min", "of_segment", "others_in_segment", "scatter_max",
            "scatter_min", "scatter_update", "order", "ranks", "take_along", "take_in_batches",
            "scatter_in_batches", "sylvester", "expm", "expm_change",
            "sqrtm", "pinv", "dct_matrix", "idct_matrix", "ramp",
            "inverse_gaps", "eigh", "svd", "fft", "ifft", "fft2d", "ifft2d", "rfft", "irfft",
            "fft_matrix", "occurrences", "recurrence", "matrix_recurrence", "tanh_recurrence",
            "ctc_loss", "ctc_occupancy", "linear_weights", "nearest_weights",
        )
    },
}  # fmt: skip
"""By function: the name under which formulas show it."""


def glossary(formulas: tuple[ast.expr, ...]) -> tuple[str, ...]:
    """A line for each function that a reader may not know."""
    used = {
        called(node) for formula in formulas for node in ast.walk(formula) if not _has_a_sign(node)
    }
    inner = [i for formula in formulas for i in _inner_equations(formula)]
    family = ["(…) with indices below: the array of these elements"] if any(inner) else []
    return (*family, *_words(used))


def _has_a_sign(node: ast.AST) -> bool:
    """Whether it is written without its name: one slice of an array is x[2]."""
    return (
        called(node) == "take"
        and isinstance(node, ast.Call)
        and isinstance(node.args[1], ast.Constant)
    )


def _inner_equations(formula: ast.expr) -> list[str]:
    """The letters of the arrays that are written by their elements inside of a formula."""
    return [
        equation_of(n).partition("->")[2]
        for n in ast.walk(formula)
        if n is not formula and isinstance(n, ast.expr)
    ]


def _words(used: set[str]) -> tuple[str, ...]:
    return tuple(
        f"{_EXPLAINED[name]}: {_sentence(FUNCTIONS[name].__doc__ or '')}"
        for name in sorted(used & set(_EXPLAINED))
    )


def _sentence(text: str) -> str:
    first = text.strip().splitlines()[0]
    ordinary = first[1:2].islower() or first[1:2] == " "
    return first[0].lower() + first[1:] if ordinary else first
