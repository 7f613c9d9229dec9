"""Calls of the ops that came later, by family: shapes and args, as `calls.py` has them."""

from __future__ import annotations

from typing import Any

Calls = dict[str, tuple[tuple[dict[str, tuple[int, ...]], dict[str, Any]], ...]]

_SORTED = (
    ({"data": (4,)}, {"segment_ids": [0, 0, 1, 2]}),
    ({"data": (4, 2)}, {"segment_ids": [0, 0, 0, 2]}),
    ({"data": (3, 2, 2)}, {"segment_ids": [0, 1, 1]}),
)
_UNSORTED = (
    ({"data": (5,), "segment_ids": (5,)}, {"num_segments": 2}),
    ({"data": (4, 2), "segment_ids": (4,)}, {"num_segments": 3}),
    ({"data": (2, 3, 2), "segment_ids": (2, 3)}, {"num_segments": 2}),
)
_SCATTERED = (
    ({"tensor": (4,), "indices": (3, 1), "updates": (3,)}, {}),
    ({"tensor": (3, 2), "indices": (2, 1), "updates": (2, 2)}, {}),
    ({"tensor": (2, 3), "indices": (4, 2), "updates": (4,)}, {}),
)

SEGMENTS: Calls = {
    **{f"segment_{kind}": _SORTED for kind in ("sum", "mean", "max", "min", "prod")},
    **{
        f"unsorted_segment_{kind}": _UNSORTED
        for kind in ("sum", "mean", "max", "min", "prod", "sqrt_n")
    },
}

SCATTERS: Calls = {
    **{f"tensor_scatter_nd_{kind}": _SCATTERED for kind in ("add", "sub", "max", "min")},
    "tensor_scatter_nd_update": (
        ({"tensor": (4,), "updates": (2,)}, {"indices": [[1], [3]]}),
        ({"tensor": (3, 2), "updates": (2, 2)}, {"indices": [[2], [0]]}),
        ({"tensor": (2, 3), "updates": (2,)}, {"indices": [[0, 2], [1, 1]]}),
    ),
}

_PAIRS = (
    ({"y_true": (3,), "y_pred": (3,)}, {}),
    ({"y_true": (2, 4), "y_pred": (2, 4)}, {}),
    ({"y_true": (2, 2, 3), "y_pred": (2, 2, 3)}, {}),
)

LOSSES: Calls = {
    **{
        name: _PAIRS
        for name in (
            "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error",
            "mean_squared_logarithmic_error", "log_cosh", "poisson", "hinge", "squared_hinge",
            "kl_divergence", "binary_crossentropy", "categorical_crossentropy",
        )
    },
    "huber": (*_PAIRS, ({"y_true": (2, 4), "y_pred": (2, 4)}, {"delta": 0.4})),
    "cosine_similarity": (*_PAIRS, ({"y_true": (2, 4), "y_pred": (2, 4)}, {"axis": 0})),
    "weighted_cross_entropy_with_logits": (
        ({"labels": (3,), "logits": (3,)}, {"pos_weight": 2.0}),
        ({"labels": (2, 3), "logits": (2, 3)}, {"pos_weight": 0.5}),
    ),
}  # fmt: skip

MORE_CALLS: Calls = SEGMENTS | SCATTERS | LOSSES
