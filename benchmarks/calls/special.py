"""Special functions, and samples that are reparametrised."""

from __future__ import annotations

from benchmarks.calls.declaration import BF16, F16, F32, F64, each, op
from benchmarks.subjects import normal, uniform

FAMILY = "special functions"
SAMPLES = "random samples"

CALLS = (
    op("lgamma of 6", FAMILY, F32, uniform(0.5, 5, (6,)), lambda tf: tf.math.lgamma),
    op("lgamma 5×5", FAMILY, F64, uniform(0.5, 5, (5, 5)), lambda tf: tf.math.lgamma),
    op("digamma of 6", FAMILY, F64, uniform(1, 5, (6,)), lambda tf: tf.math.digamma),
    op("erf 1×3×2", FAMILY, F32, normal((1, 3, 2)), lambda tf: tf.math.erf),
    op("erf 1×3×2", FAMILY, F16, normal((1, 3, 2)), lambda tf: tf.math.erf),
    op("erfc of 10", FAMILY, BF16, normal((10,)), lambda tf: tf.math.erfc),
    op(
        "erfinv of 8",
        FAMILY,
        F64,
        uniform(-0.9, 0.9, (8,)),
        lambda tf: tf.math.erfinv,
    ),
    op("ndtri of 9", FAMILY, F32, uniform(0.1, 0.9, (9,)), lambda tf: tf.math.ndtri),
    op(
        "igamma of 4 and 4",
        FAMILY,
        F64,
        uniform(0.5, 4, (4,), (4,)),
        lambda tf: tf.math.igamma,
    ),
    op(
        "igammac of 3 in x",
        FAMILY,
        F32,
        uniform(0.5, 4, (3,)),
        lambda tf: lambda x: tf.math.igammac(tf.constant([1.0, 2.0, 3.0], x.dtype), x),
    ),
    op(
        "betainc of 10 in x",
        FAMILY,
        F64,
        uniform(0.1, 0.9, (10,)),
        lambda tf: lambda x: tf.math.betainc(tf.constant(2.0, x.dtype), 3.0, x),
    ),
    op(
        "polygamma 2 of 5 in x",
        FAMILY,
        F64,
        uniform(1, 4, (5,)),
        lambda tf: lambda x: tf.math.polygamma(tf.constant(2.0, x.dtype), x),
    ),
    op(
        "zeta of 5 in q",
        FAMILY,
        F64,
        uniform(1, 4, (5,)),
        lambda tf: lambda q: tf.math.zeta(tf.constant(3.0, q.dtype), q),
    ),
    op(
        "bessel i0e of 10",
        FAMILY,
        F64,
        uniform(0.5, 5, (10,)),
        lambda tf: tf.math.bessel_i0e,
    ),
    op(
        "bessel j1 of 10",
        FAMILY,
        F32,
        uniform(0.5, 5, (10,)),
        lambda tf: tf.math.special.bessel_j1,
    ),
    op(
        "lbeta 3×4",
        FAMILY,
        F64,
        uniform(0.5, 3, (3, 4)),
        lambda tf: tf.math.lbeta,
    ),
    op(
        "xlogy of 6 and 6",
        FAMILY,
        F32,
        uniform(0.5, 2, (6,), (6,)),
        lambda tf: tf.math.xlogy,
    ),
    op(
        "normal sample 3×4 by mean and scale",
        SAMPLES,
        F32,
        each(normal((4,)), uniform(0.5, 2, (4,))),
        lambda tf: lambda m, s: m + s * tf.random.stateless_normal((3, 4), (1, 2), dtype=m.dtype),
    ),
    op(
        "Gumbel softmax of 5",
        SAMPLES,
        F32,
        normal((5,)),
        lambda tf: (
            lambda logits: tf.nn.softmax(
                (logits - tf.math.log(-tf.math.log(tf.random.stateless_uniform((5,), (3, 4)))))
                / 0.7
            )
        ),
    ),
    op(
        "dropout with a seed 4×6",
        SAMPLES,
        F32,
        normal((4, 6)),
        lambda tf: lambda x: tf.nn.experimental.stateless_dropout(x, 0.4, seed=(1, 2)),
    ),
)
