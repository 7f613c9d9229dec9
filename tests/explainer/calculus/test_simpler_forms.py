"""Rules that make a formula shorter: both sides are executed, at several shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.calculus.evaluate import evaluate
from gradcheck.explainer.calculus.indices import Space
from gradcheck.explainer.calculus.simplify import simplify
from gradcheck.explainer.calculus.translate import Translation
from gradcheck.explainer.calculus.values import tensor
from gradcheck.explainer.formula.matrix_form import formula_of

RULES = {
    # Equal factors are one power.
    "x / (sqrt(sum(square(x))) * sqrt(sum(square(x))))": "x / total(square(x))",
    "x / sqrt(s) / sqrt(s) / sqrt(s)": "x / s ** (3 / 2)",
    "square(s) * x / s": "s * x",
    "x ** 1 * y": "x * y",
    "y * sum(x * s / x)": "n * (s * y)",
    # A minus stands where the fewest are written.
    "-(y - x)": "x - y",
    "-(1 * (y - exp(x)))": "exp(x) - y",
    "-x * (y - x)": "x * (x - y)",
    "x - y * (exp(x) - 1)": "x + y * (1 - exp(x))",
    # A value and its mean.
    "2 * x / n - 2 * sum(x) / (n * n)": "2 / n * (x - mean(x))",
    "X * x / m - mean(X * x, 1, True) / m": "(X * x - mean(X * x, 1, True)) / m",
    "y * x - y * mean(x)": "y * (x - mean(x))",
    # A sum and a mean over some of the axes.
    "X - sum(X, 0, True) / m": "X - mean(X, 0, True)",
    "X - sum(X) / (m * n)": "X - mean(X)",
    # Decimals stay as they are written; halves are fractions.
    "x / 1.7": "x / 1.7",
    "0.5 * x": "x / 2",
    "0.044715 * x ** 3": "0.044715 * x ** 3",
    # What is known of a Cholesky factor.
    "matmul(mT(inv(cholesky(S))), inv(cholesky(S)))": "inv(S)",
    "phi(matmul(mT(cholesky(S)), diag_matrix(x)))": "diag(x * diagonal(cholesky(S))) / 2",
    # A square matrix that meets itself in an inverse; one that is not square does not.
    "matmul(B, inv(matmul(A, B)))": "inv(A)",
    "matmul(inv(matmul(A, B)), A)": "inv(B)",
    "matmul(mT(A), mT(inv(matmul(matmul(A, S), B))))": "mT(inv(matmul(S, B)))",
    "matmul(mT(X), inv(matmul(X, mT(X)) + n * eye(m)))": (
        "matmul(mT(X), inv(matmul(X, mT(X)) + n * eye(m)))"
    ),
    "matmul(X, inv(matmul(mT(X), X) + eye(n)))": "matmul(X, inv(matmul(mT(X), X) + eye(n)))",
    "matmul(Y, inv(matmul(mT(Y), Y)))": "matmul(Y, inv(matmul(mT(Y), Y)))",
    # What all terms share is written once.
    "x / sqrt(s) - y / sqrt(s)": "(x - y) / sqrt(s)",
    "x * y - sum(x * y) * x": "x * (y - scalar(matmul(row(x), column(y))))",
    "X * Z - X * sum(X * Z, 1, True)": "X * (Z - sum(X * Z, 1, True))",
}
"""By formula: the shorter one; n and m are sizes."""


def _values(n: int, m: int) -> dict[str, Any]:
    rng = np.random.default_rng(10 * n + m)
    values = {name: rng.uniform(0.3, 1.5, shape) for name, shape in _shapes(n, m).items()}
    values["S"] = values["S"] @ values["S"].T + np.eye(n)
    for square in "AB":
        values[square] = values[square] + n * np.eye(n)
    return values


def _shapes(n: int, m: int) -> dict[str, tuple[int, ...]]:
    return {
        "x": (n,), "y": (n,), "s": (), "X": (m, n), "Z": (m, n), "S": (n, n),
        **dict.fromkeys("AB", (n, n)), "Y": (n + 1, n),
    }  # fmt: skip


def _sized(text: str, n: int, m: int) -> str:
    tree = trees.substitute(trees.read(text), {"n": n, "m": m})
    return trees.text_of(tree)


@pytest.mark.parametrize(("n", "m"), [(3, 4), (5, 2), (2, 3)])
@pytest.mark.parametrize("text", RULES)
def test_a_rule_keeps_the_value(text: str, n: int, m: int) -> None:
    formula, values, space = _sized(text, n, m), _values(n, m), Space()
    known = {name: tensor(name, shape) for name, shape in _shapes(n, m).items()}
    value = Translation(space, known).value(formula)
    indices = space.axes(value.shape)
    plain = value.at(indices)
    node = simplify(plain, space)
    found = formula_of(node, indices, space)
    wanted = trees.run(formula, values)
    for result in (evaluate(plain, values, indices), evaluate(node, values, indices)):
        np.testing.assert_allclose(result, wanted, rtol=1e-11)
    np.testing.assert_allclose(np.broadcast_to(trees.run(found, values), wanted.shape), wanted)


@pytest.mark.parametrize("text", RULES)
def test_a_rule_makes_it_shorter(text: str) -> None:
    n, m = 3, 4
    space = Space()
    known = {name: tensor(name, shape) for name, shape in _shapes(n, m).items()}
    value = Translation(space, known).value(_sized(text, n, m))
    indices = space.axes(value.shape)
    found = formula_of(simplify(value.at(indices), space), indices, space)
    assert trees.text_of(found) == _sized(RULES[text], n, m)
