"""The change of a formula is the limit of its differences."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.tangents.tree_tangent import NoTangent, tangent

POSITIVE = {"x", "y", "s"}
FORMULAS = [
    "x * y + 2 * x - y / x", "x ** 3 + x ** -0.5 + 2 ** y + x ** y", "-x", "x + c", "c - v",
    "3 - x", "sum(x * y, 0)", "sum(v + c, 1, True)", "mean(exp(x), -1)", "matmul(x, mT(y))",
    "einsum('ij,kj,j->ik', x, y, v)", "unreduce(sum(x, 0), [2, 3], 0)", "x / c", "c / x",
    "unbroadcast(x * y, [1, 3])", "where(x > 1, x * x, y)", "where(x > 1, v, 0)",
    "concatenate([x, c, y], 1)", "stack([x, c], 0)", "softmax(x)", "softmax(x, 0)",
    "log_softmax(x, -1)", "logsumexp(x, 0)", "logsumexp(x)", "max(x, 1)", "min(x, 0, True)",
    "prod(x, 1)", "inv(s)", "det(s)", "solve(s, x)", "solve(s, b)", "solve(t, x)",
    "cholesky(s)", "qr(s)[1]", "qr(s)[0]",
    "eigenvalues(s)", "singular_values(x)", "reshape(x, [3, 2])", "transpose(x)",
    "expand_dims(x, 0)", "take(x, [0, 0, 1], 0)", "scatter_add(x, [1], expand_dims(v, 0), 0)",
    "cumsum(x, 1)", "roll(x, 1, 1)", "flip(x, 1)", "tril(s) + phi(s)", "diag_matrix(v)",
    "diagonal(s)", "split(x, 3, 1)[2]", "unstack(x, 0)[1]", "maximum(x, y)", "sigmoid(x)",
    "softplus(x)", "tanh(x) * erf(y)", "digamma(x) + lgamma(x)", "polygamma(1, x)",
    "square(x) + abs(y) + sqrt(x)", "power(x, y)", "arctan2(x, y)", "sign(x) * x",
    "log1p(x) + expm1(y) + sin(x) * cos(y)", "shape(x)[0] * x", "one_hot_max(x, 1) * x",
    "pick(x, '0, 1:')", "put_slice(x, '0, 1:', pick(x, '1, :2'))", "float32(0.5) * x",
]  # fmt: skip


def values(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    square = rng.uniform(0.5, 1.5, (2, 2))
    return {
        "x": rng.uniform(0.5, 1.9, (2, 3)),
        "y": rng.uniform(0.5, 1.9, (2, 3)),
        "v": rng.standard_normal(3),
        "s": square @ square.T + 2 * np.eye(2),
        "c": rng.uniform(0.5, 1.5, (2, 3)),
        "t": np.array([[2.0, 0.5], [0.1, 3.0]]),
        "b": rng.standard_normal((2, 1)),
    }


@pytest.mark.parametrize("text", FORMULAS)
def test_against_differences(text: str) -> None:
    tree = trees.read(text)
    moving = ("x", "y", "v", "s")
    found = tangent(tree, {name: ast.Name(f"{name}_dot") for name in moving})
    at, rng = values(1), np.random.default_rng(2)
    dots = {f"{name}_dot": rng.standard_normal(at[name].shape) for name in moving}
    dots["s_dot"] = dots["s_dot"] + dots["s_dot"].T

    def moved(step: float) -> np.ndarray:
        there = {n: v + step * dots[f"{n}_dot"] if n in moving else v for n, v in at.items()}
        return np.asarray(trees.run(tree, there))

    wanted = (8 * (moved(1e-4) - moved(-1e-4)) - moved(2e-4) + moved(-2e-4)) / 12e-4
    got = np.zeros_like(wanted) if found is None else np.asarray(trees.run(found, at | dots))
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-9)


def test_what_stands_still() -> None:
    assert tangent(trees.read("x * 2 + shape(y)[0]"), {"y": ast.Name("y_dot")}) is None
    assert tangent(trees.read("x > y"), {"y": ast.Name("y_dot")}) is None


def test_what_no_rule_says() -> None:
    for text in ("igamma(x, 1)", "linear_recurrence(x, x)", "betainc(x, 1, 2)"):
        with pytest.raises(NoTangent):
            tangent(trees.read(text), {"x": ast.Name("x_dot")})
