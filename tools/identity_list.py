# ruff: noqa: E501  (a row of the table is a line)
"""Derivatives that the tables of matrix calculus have: an expression, an input, the known result.

Facts, written in the language of formulas; G is the gradient that reaches the expression, 1 where
the expression is a number.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["IDENTITIES", "Identity"]

SHAPES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys("abcxyzp", (3,)),
    **dict.fromkeys("ABCXYWS", (3, 3)),
    "s": (),
    "T": (4, 3),
    "t": (4,),
    "Q": (2, 3),
    **dict.fromkeys("KV", (4, 3)),
}
"""By name: its shape in every row."""


@dataclass(frozen=True)
class Identity:
    """One row."""

    expr: str
    by: str
    known: str

    @property
    def names(self) -> list[str]:
        """The inputs of the expression, in the order in which they stand."""
        import ast

        nodes = ast.walk(ast.parse(self.expr, mode="eval"))
        found = [n.id for n in nodes if isinstance(n, ast.Name) and n.id not in ("tf",)]
        return list(dict.fromkeys(found))


def _dot(a: str, b: str) -> str:
    return f"tf.reduce_sum({a} * {b})"


def _quad(m: str, x: str = "x") -> str:
    return f"tf.reduce_sum({x} * tf.linalg.matvec({m}, {x}))"


def _mv(m: str, x: str = "x") -> str:
    return f"tf.linalg.matvec({m}, {x})"


def _mm(*parts: str) -> str:
    text = parts[0]
    for part in parts[1:]:
        text = f"tf.matmul({text}, {part})"
    return text


def _t(m: str) -> str:
    return f"tf.transpose({m})"


def _tr(m: str) -> str:
    return f"tf.linalg.trace({m})"


_MV = "reshape(matmul({}, column({})), [{}])"
"""A matrix times a vector."""


def _mult(m: str, v: str, size: int = 3) -> str:
    return _MV.format(m, v, size)


def _outer(a: str, b: str) -> str:
    return f"matmul(column({a}), row({b}))"


_XTX = _mm(_t("T"), "T")
_R = f"({_mv('T')} - t)"

_ATTENTION = "tf.nn.softmax(tf.matmul(Q, K, transpose_b=True) / 1.7)"
_P = "softmax(matmul(Q, mT(K)) / 1.7, -1)"
_DP = f"({_P} * (matmul(G, mT(V)) - sum({_P} * matmul(G, mT(V)), -1, True)))"
_CENTRED = "tf.reduce_mean(X, -1, keepdims=True)"
_SPREAD = "sqrt(mean(square(X - mean(X, -1, True)), -1, True) + 0.001)"
_HAT = f"(X - mean(X, -1, True)) / {_SPREAD}"
_GELU = "0.5 * x * (1.0 + tf.tanh(0.79788 * (x + 0.044715 * x ** 3)))"
_TANH = "tanh(0.79788 * (x + 0.044715 * x ** 3))"

_ROWS = [
    # Linear and quadratic forms.
    (_dot("a", "x"), "x", "a"),
    (_dot("x", "x"), "x", "2 * x"),
    (_quad("A"), "x", _mult("A + mT(A)", "x")),
    (_quad("A"), "A", _outer("x", "x")),
    (_dot("a", _mv("X", "b")), "X", _outer("a", "b")),
    (_dot("a", _mv(_t("X"), "b")), "X", _outer("b", "a")),
    (_dot("a", _mv("X", "a")), "X", _outer("a", "a")),
    (_dot("b", _mv(_mm(_t("X"), "X"), "c")), "X", f"matmul(X, {_outer('b', 'c')} + {_outer('c', 'b')})"),
    (_dot(_mv("X", "b"), _mv("C", _mv("X", "b"))), "X", f"matmul(matmul(C + mT(C), X), {_outer('b', 'b')})"),
    (_dot(f"({_mv('X', 'b')} + c)", f"({_mv('X', 'b')} + c)"), "X", f"2 * matmul(column({_mult('X', 'b')} + c), row(b))"),
    (_dot("(x - y)", _mv("W", "(x - y)")), "x", _mult("W + mT(W)", "x - y")),
    (_dot("(x - y)", _mv("W", "(x - y)")), "y", "-" + _mult("W + mT(W)", "x - y")),
    (_dot("(x - y)", _mv("W", "(x - y)")), "W", _outer("(x - y)", "(x - y)")),
    (f"tf.reduce_sum(tf.square({_R}))", "x", "2 * " + _mult("mT(T)", _mult("T", "x", 4) + " - t")),
    (f"tf.reduce_sum(tf.square({_R})) / 2.0", "x", _mult("mT(T)", _mult("T", "x", 4) + " - t")),
    (f"tf.reduce_sum(tf.square({_R}))", "t", f"2 * (t - {_mult('T', 'x', 4)})"),
    (f"tf.reduce_sum(tf.square({_R}))", "T", f"2 * matmul(column({_mult('T', 'x', 4)} - t), row(x))"),
    (f"tf.norm({_R})", "x", f"{_mult('mT(T)', _mult('T', 'x', 4) + ' - t')} / sqrt(sum(square({_mult('T', 'x', 4)} - t)))"),
    ("tf.norm(x)", "x", "x / sqrt(sum(square(x)))"),
    ("tf.norm(x - a)", "x", "(x - a) / sqrt(sum(square(x - a)))"),
    ("tf.reduce_sum(tf.square(x)) / 2.0", "x", "x"),
    ("tf.norm(X)", "X", "X / sqrt(sum(square(X)))"),
    ("tf.reduce_sum(tf.square(X))", "X", "2 * X"),
    (f"tf.reduce_sum(tf.square({_mm('A', 'X')} - B))", "X", "2 * matmul(mT(A), matmul(A, X) - B)"),
    (f"tf.reduce_sum(tf.square({_mm('X', 'A')} - B))", "X", "2 * matmul(matmul(X, A) - B, mT(A))"),
    # Traces.
    (_tr("X"), "X", "eye(3)"),
    (_tr(_mm("X", "A")), "X", "mT(A)"),
    (_tr(_mm("A", "X", "B")), "X", "matmul(mT(A), mT(B))"),
    (_tr(_mm("A", _t("X"), "B")), "X", "matmul(B, A)"),
    (_tr(_mm(_t("X"), "A")), "X", "A"),
    (_tr(_mm("A", _t("X"))), "X", "A"),
    (_tr(_mm("X", "X")), "X", "2 * mT(X)"),
    (_tr(_mm("X", "X", "B")), "X", "mT(matmul(X, B) + matmul(B, X))"),
    (_tr(_mm(_t("X"), "X")), "X", "2 * X"),
    (_tr(_mm("X", _t("X"))), "X", "2 * X"),
    (_tr(_mm(_t("X"), "B", "X")), "X", "matmul(B, X) + matmul(mT(B), X)"),
    (_tr(_mm("X", "B", _t("X"))), "X", "matmul(X, B) + matmul(X, mT(B))"),
    (_tr(_mm("A", "X", "B", "X")), "X", "matmul(matmul(mT(A), mT(X)), mT(B)) + matmul(matmul(mT(B), mT(X)), mT(A))"),
    (_tr(_mm("A", "X", "B", _t("X"), "C")), "X", "matmul(matmul(matmul(mT(A), mT(C)), X), mT(B)) + matmul(matmul(matmul(C, A), X), B)"),
    (_tr(_mm(_t("B"), _t("X"), "C", "X", "B")), "X", "matmul(matmul(matmul(mT(C), X), B), mT(B)) + matmul(matmul(matmul(C, X), B), mT(B))"),
    (_tr(_mm("X", "X", "X")), "X", "3 * mT(matmul(X, X))"),
    (_tr("A * X"), "X", "diag(diagonal(A))"),
    ("tf.reduce_sum(A * X)", "X", "A"),
    # Inverses and determinants.
    (_tr("tf.linalg.inv(X)"), "X", "-mT(matmul(inv(X), inv(X)))"),
    (_tr(_mm("A", "tf.linalg.inv(X)", "B")), "X", "-mT(matmul(matmul(matmul(inv(X), B), A), inv(X)))"),
    (_dot("a", _mv("tf.linalg.inv(X)", "b")), "X", f"-matmul(matmul(mT(inv(X)), {_outer('a', 'b')}), mT(inv(X)))"),
    ("tf.linalg.inv(X)", "X", "-matmul(matmul(mT(inv(X)), G), mT(inv(X)))"),
    ("tf.linalg.det(X)", "X", "det(X) * mT(inv(X))"),
    (f"tf.linalg.det({_mm('A', 'X', 'B')})", "X", "det(matmul(matmul(A, X), B)) * mT(inv(X))"),
    ("tf.math.log(tf.linalg.det(S))", "S", "mT(inv(S))"),
    ("tf.linalg.logdet(S)", "S", "mT(inv(S))"),
    (f"tf.linalg.logdet({_XTX})", "T", "2 * matmul(T, inv(matmul(mT(T), T)))"),
    ("tf.linalg.det(X) * tf.linalg.det(X)", "X", "2 * square(det(X)) * mT(inv(X))"),
    ("tf.linalg.solve(A, B)", "B", "matmul(mT(inv(A)), G)"),
    ("tf.linalg.solve(A, B)", "A", "-matmul(matmul(mT(inv(A)), G), mT(matmul(inv(A), B)))"),
    # Products.
    (_mm("A", "B"), "A", "matmul(G, mT(B))"),
    (_mm("A", "B"), "B", "matmul(mT(A), G)"),
    (_mm("A", "X", "B"), "X", "matmul(matmul(mT(A), G), mT(B))"),
    (_t("X"), "X", "mT(G)"),
    (_mv("A"), "x", _mult("mT(A)", "G")),
    (_mv("A"), "A", _outer("G", "x")),
    ("A * B", "A", "G * B"),
    ("A + B", "B", "G"),
    ("s * X", "s", "sum(G * X)"),
    ("s * X", "X", "s * G"),
    ("x / tf.norm(x)", "x", "(G - x / sum(square(x)) * sum(G * x)) / sqrt(sum(square(x)))"),
    # Functions of each element, and sums of them.
    ("tf.reduce_sum(tf.exp(x))", "x", "exp(x)"),
    ("tf.reduce_sum(tf.math.log(p))", "p", "1 / p"),
    ("tf.reduce_sum(p * tf.math.log(p))", "p", "log(p) + 1"),
    ("tf.reduce_sum(p * (tf.math.log(p) - tf.math.log(y)))", "p", "log(p) - log(y) + 1"),
    ("tf.reduce_sum(tf.sin(x))", "x", "cos(x)"),
    ("tf.reduce_sum(tf.tanh(x))", "x", "1 - square(tanh(x))"),
    ("tf.reduce_sum(tf.sigmoid(x))", "x", "sigmoid(x) * (1 - sigmoid(x))"),
    ("tf.reduce_sum(tf.nn.softplus(x))", "x", "sigmoid(x)"),
    ("tf.reduce_sum(tf.nn.relu(x))", "x", "where(x > 0, 1, 0)"),
    ("tf.reduce_sum(tf.math.log(1.0 + tf.exp(-y * z)))", "z", "-y * sigmoid(-y * z)"),
    (f"tf.exp({_dot('a', 'x')})", "x", "a * exp(sum(a * x))"),
    (f"tf.sigmoid({_dot('a', 'x')})", "x", "a * (sigmoid(sum(a * x)) * (1 - sigmoid(sum(a * x))))"),
    # Statistics and losses.
    ("tf.reduce_mean(x)", "x", "ones(3) / 3"),
    ("tf.math.reduce_variance(x)", "x", "2 * (x - mean(x)) / 3"),
    ("tf.math.reduce_std(x)", "x", "(x - mean(x)) / (3 * sqrt(mean(square(x - mean(x)))))"),
    ("tf.reduce_logsumexp(z)", "z", "softmax(z, -1)"),
    ("tf.reduce_sum(y * tf.nn.log_softmax(z))", "z", "y - softmax(z, -1) * sum(y)"),
    ("-tf.reduce_sum(y * tf.math.log(tf.nn.softmax(z)))", "z", "softmax(z, -1) * sum(y) - y"),
    ("tf.nn.softmax(z)", "z", "softmax(z, -1) * (G - sum(G * softmax(z, -1)))"),
    ("tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(y, z))", "z", "sigmoid(z) - y"),
    ("-tf.reduce_sum(y * tf.math.log(tf.sigmoid(z)) + (1.0 - y) * tf.math.log(1.0 - tf.sigmoid(z)))", "z", "sigmoid(z) - y"),
    ("tf.reduce_mean(tf.square(x - y))", "x", "2 * (x - y) / 3"),
    ("tf.reduce_mean(tf.square(x - tf.reduce_mean(x)))", "x", "2 * (x - mean(x)) / 3"),
    ("tf.reduce_sum(tf.nn.softplus(z) - y * z)", "z", "sigmoid(z) - y"),
    ("tf.reduce_sum(tf.nn.softplus(-y * z))", "z", "-y * sigmoid(-y * z)"),
    ("-tf.reduce_sum(y * tf.math.log_sigmoid(z) + (1.0 - y) * tf.math.log_sigmoid(-z))", "z", "sigmoid(z) - y"),
    ("tf.math.log(tf.reduce_sum(tf.exp(z)))", "z", "softmax(z, -1)"),
    ("tf.exp(z) / tf.reduce_sum(tf.exp(z))", "z", "softmax(z, -1) * (G - sum(G * softmax(z, -1)))"),
    # Layers.
    ("1.0 / (1.0 + tf.exp(-x))", "x", "G * (sigmoid(x) * (1 - sigmoid(x)))"),
    ("(tf.exp(x) - tf.exp(-x)) / (tf.exp(x) + tf.exp(-x))", "x", "G * (1 - square(tanh(x)))"),
    (_GELU, "x", f"G * (0.5 * (1 + {_TANH}) + 0.5 * x * (1 - square({_TANH})) * 0.79788 * (1 + 0.134145 * x ** 2))"),
    (f"tf.matmul({_ATTENTION}, V)", "V", f"matmul(mT({_P}), G)"),
    (f"tf.matmul({_ATTENTION}, V)", "K", f"matmul(mT({_DP}), Q) / 1.7"),
    (f"tf.matmul({_ATTENTION}, V)", "Q", f"matmul({_DP}, K) / 1.7"),
    (f"(X - {_CENTRED}) / tf.sqrt(tf.math.reduce_variance(X, -1, keepdims=True) + 0.001)", "X", f"(G - mean(G, -1, True) - {_HAT} * mean(G * {_HAT}, -1, True)) / {_SPREAD}"),
    (f"tf.reduce_sum(tf.math.log(1.0 + tf.exp(-t * {_mv('T')})))", "x", "-" + _mult("mT(T)", f"t * sigmoid(-t * {_mult('T', 'x', 4)})")),
    # Factors of symmetric matrices.
    ("tf.reduce_sum(tf.math.log(tf.linalg.diag_part(tf.linalg.cholesky(S))))", "S", "inv(S) / 2"),
    ("tf.reduce_sum(tf.linalg.eigvalsh(S))", "S", "eye(3)"),
]  # fmt: skip

IDENTITIES: tuple[Identity, ...] = tuple(Identity(*row) for row in _ROWS)
