"""Calls of the ops that came later, by family: shapes and args, as `calls.py` has them."""

from __future__ import annotations

from typing import Any

Some = tuple[tuple[dict[str, tuple[int, ...]], dict[str, Any]], ...]
Calls = dict[str, Some]

_SORTED: Some = (
    ({"data": (4,)}, {"segment_ids": [0, 0, 1, 2]}),
    ({"data": (4, 2)}, {"segment_ids": [0, 0, 0, 2]}),
    ({"data": (3, 2, 2)}, {"segment_ids": [0, 1, 1]}),
)
_UNSORTED: Some = (
    ({"data": (5,), "segment_ids": (5,)}, {"num_segments": 2}),
    ({"data": (4, 2), "segment_ids": (4,)}, {"num_segments": 3}),
    ({"data": (2, 3, 2), "segment_ids": (2, 3)}, {"num_segments": 2}),
)
_SCATTERED: Some = (
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

_PAIRS: Some = (
    ({"y_true": (3,), "y_pred": (3,)}, {}),
    ({"y_true": (2, 4), "y_pred": (2, 4)}, {}),
    ({"y_true": (2, 2, 3), "y_pred": (2, 2, 3)}, {}),
)

LOSSES: Calls = {
    **dict.fromkeys(
        [
            "mean_squared_error",
            "mean_absolute_error",
            "mean_absolute_percentage_error",
            "mean_squared_logarithmic_error",
            "log_cosh",
            "poisson",
            "hinge",
            "squared_hinge",
            "kl_divergence",
            "binary_crossentropy",
            "categorical_crossentropy",
        ],
        _PAIRS,
    ),
    "huber": (*_PAIRS, ({"y_true": (2, 4), "y_pred": (2, 4)}, {"delta": 0.4})),
    "cosine_similarity": (*_PAIRS, ({"y_true": (2, 4), "y_pred": (2, 4)}, {"axis": 0})),
    "weighted_cross_entropy_with_logits": (
        ({"labels": (3,), "logits": (3,)}, {"pos_weight": 2.0}),
        ({"labels": (2, 3), "logits": (2, 3)}, {"pos_weight": 0.5}),
    ),
}  # fmt: skip

CONVOLUTIONS: Calls = {
    **{
        name: (
            ({"input": (2, 4, 2)}, {"ksize": 2, "strides": 2, "padding": "VALID"}),
            ({"input": (1, 5, 1)}, {"ksize": 3, "strides": 2, "padding": "SAME"}),
        )
        for name in ("max_pool1d", "avg_pool1d")
    },
    **{
        f"{kind}_pool3d": (
            (
                {"input": (1, 2, 4, 2, 2)},
                {"ksize": 2, "strides": 2, "padding": "VALID"},
            ),
            (
                {"input": (2, 2, 3, 2, 1)},
                {"ksize": [2, 1, 2], "strides": [1, 2, 1], "padding": "SAME"},
            ),
        )
        for kind in ("max", "avg")
    },
    "conv3d": (
        (
            {"input": (1, 3, 3, 2, 2), "filters": (2, 2, 2, 2, 1)},
            {"strides": [1, 1, 1, 1, 1], "padding": "VALID"},
        ),
        (
            {"input": (1, 2, 3, 2, 1), "filters": (2, 1, 2, 1, 2)},
            {"strides": [1, 1, 2, 1, 1], "padding": "SAME"},
        ),
    ),
    "conv1d_transpose": (
        ({"input": (2, 3, 2), "filters": (2, 3, 2)}, {"output_shape": [2, 6, 3], "strides": 2}),
        (
            {"input": (1, 3, 1), "filters": (3, 2, 1)},
            {"output_shape": [1, 5, 2], "strides": 1, "padding": "VALID"},
        ),
    ),
    "conv2d_transpose": (
        (
            {"input": (1, 2, 2, 2), "filters": (3, 2, 1, 2)},
            {"output_shape": [1, 4, 3, 1], "strides": 2},
        ),
        (
            {"input": (2, 2, 2, 1), "filters": (2, 2, 2, 1)},
            {"output_shape": [2, 3, 3, 2], "strides": [1, 1], "padding": "VALID"},
        ),
    ),
    "conv3d_transpose": (
        (
            {"input": (1, 1, 2, 1, 2), "filters": (2, 2, 2, 1, 2)},
            {"output_shape": [1, 2, 3, 2, 1], "strides": 2},
        ),
        (
            {"input": (1, 2, 2, 1, 1), "filters": (2, 2, 1, 2, 1)},
            {"output_shape": [1, 3, 3, 1, 2], "strides": 1, "padding": "VALID"},
        ),
    ),
    "depthwise_conv2d": (
        (
            {"input": (2, 3, 4, 2), "filter": (2, 2, 2, 2)},
            {"strides": [1, 1, 1, 1], "padding": "VALID"},
        ),
        (
            {"input": (1, 4, 4, 1), "filter": (3, 2, 1, 2)},
            {"strides": [1, 2, 2, 1], "padding": "SAME"},
        ),
    ),
}

_PLACES: tuple[tuple[int, ...], ...] = ((), (3,), (2, 1, 3))

ORDERS: Calls = {
    "polygamma": tuple(({"x": shape}, {"a": a}) for shape in _PLACES for a in (1.0, 2.0)),
    "zeta": tuple(({"q": shape}, {"x": x}) for shape in _PLACES for x in (2.0, 3.5)),
    "igamma": tuple(({"x": shape}, {"a": a}) for shape in _PLACES for a in (0.5, 2.0)),
    "igammac": tuple(({"x": shape}, {"a": a}) for shape in _PLACES for a in (0.5, 2.0)),
    "betainc": tuple(({"x": shape}, {"a": 2.0, "b": b}) for shape in _PLACES for b in (0.5, 3.0)),
    "sort": (
        ({"values": (4,)}, {}),
        ({"values": (2, 3)}, {"direction": "DESCENDING"}),
        ({"values": (3, 2, 2)}, {"axis": 0}),
        ({"values": (2, 3, 2)}, {"axis": 1, "direction": "DESCENDING"}),
    ),
    "top_k": (
        ({"input": (4,)}, {}),
        ({"input": (2, 4)}, {"k": 3}),
        ({"input": (2, 1, 3)}, {"k": 3}),
    ),
    "cumulative_logsumexp": (
        ({"x": (4,)}, {}),
        ({"x": (2, 3)}, {"axis": -1, "reverse": True}),
        ({"x": (2, 3)}, {"axis": 1}),
    ),
}

MATRICES: Calls = {
    "expm": (({"input": (3, 3)}, {}), ({"input": (2, 2, 2)}, {})),
    "sqrtm": (({"input": (3, 3)}, {}), ({"input": (2, 2, 2)}, {})),
    "pinv": (({"a": (3, 2)}, {}), ({"a": (2, 3)}, {}), ({"a": (2, 3, 2)}, {})),
    "lstsq": (
        ({"matrix": (4, 2), "rhs": (4, 3)}, {}),
        ({"matrix": (3, 2), "rhs": (3, 1)}, {"l2_regularizer": 0.5}),
        ({"matrix": (2, 3, 2), "rhs": (2, 3, 2)}, {}),
    ),
    "cholesky_solve": (
        ({"chol": (3, 3), "rhs": (3, 2)}, {}),
        ({"chol": (2, 2, 2), "rhs": (2, 2, 1)}, {}),
    ),
    "slogdet": (({"input": (3, 3)}, {}), ({"input": (2, 2, 2)}, {})),
    "eigh": (({"tensor": (3, 3)}, {}), ({"tensor": (2, 2, 2)}, {}), ({"tensor": (1, 1)}, {})),
    "svd": (
        ({"tensor": (3, 2)}, {}),
        ({"tensor": (2, 3)}, {}),
        ({"tensor": (3, 3)}, {}),
        ({"tensor": (2, 3, 2)}, {}),
    ),
}

IMAGES: Calls = {
    "space_to_depth": (
        ({"input": (1, 2, 4, 1)}, {"block_size": 2}),
        ({"input": (2, 2, 2, 2)}, {"block_size": 2}),
    ),
    "depth_to_space": (
        ({"input": (1, 1, 2, 4)}, {"block_size": 2}),
        ({"input": (2, 1, 1, 8)}, {"block_size": 2}),
    ),
    "resize": (
        ({"images": (1, 2, 3, 1)}, {"size": [4, 5]}),
        ({"images": (2, 4, 3, 2)}, {"size": [2, 2]}),
        ({"images": (3, 2, 1)}, {"size": [2, 5]}),
    ),
    "resize_nearest": (
        ({"images": (1, 2, 3, 1)}, {"size": [4, 5]}),
        ({"images": (2, 4, 3, 2)}, {"size": [2, 2]}),
        ({"images": (3, 2, 1)}, {"size": [5, 3]}),
    ),
    "extract_patches": tuple(
        (
            {"images": shape},
            {
                "sizes": [1, *size, 1],
                "strides": [1, *strides, 1],
                "rates": [1, *rates, 1],
                "padding": padding,
            },
        )
        for shape, size, strides, rates, padding in (
            ((1, 3, 4, 2), (2, 2), (1, 2), (1, 1), "VALID"),
            ((2, 3, 3, 1), (3, 2), (2, 1), (1, 1), "SAME"),
            ((1, 4, 5, 1), (2, 2), (1, 1), (1, 2), "SAME"),
        )
    ),
    "local_response_normalization": (
        ({"input": (1, 2, 1, 4)}, {"depth_radius": 1, "bias": 2.0}),
        ({"input": (2, 1, 2, 3)}, {"depth_radius": 2, "alpha": 0.5, "beta": 0.75}),
    ),
    "flip_left_right": (({"image": (2, 3, 1)}, {}), ({"image": (2, 1, 3, 2)}, {})),
    "flip_up_down": (({"image": (2, 3, 1)}, {}), ({"image": (2, 3, 1, 2)}, {})),
    "frame": (
        ({"signal": (5,)}, {"frame_length": 3, "frame_step": 1}),
        ({"signal": (2, 6)}, {"frame_length": 2, "frame_step": 3}),
    ),
    "overlap_and_add": (
        ({"signal": (3, 2)}, {"frame_step": 1}),
        ({"signal": (2, 2, 3)}, {"frame_step": 2}),
    ),
    **{
        name: (({"input": (4,)}, {}), ({"input": (2, 3)}, {}), ({"input": (2, 2, 5)}, {}))
        for name in ("fft", "ifft")
    },
    **{name: (({"input": (2, 3)}, {}), ({"input": (2, 4, 2)}, {})) for name in ("fft2d", "ifft2d")},
    "rfft": (
        ({"input_tensor": (4,)}, {}),
        ({"input_tensor": (2, 3)}, {}),
        ({"input_tensor": (3,)}, {"fft_length": [5]}),
        ({"input_tensor": (2, 2, 4)}, {"fft_length": [6]}),
    ),
    "irfft": (
        ({"input_tensor": (3,)}, {}),
        ({"input_tensor": (2, 3)}, {"fft_length": [5]}),
        ({"input_tensor": (3,)}, {"fft_length": [8]}),
        ({"input_tensor": (2, 1, 2)}, {}),
    ),
    **{
        name: (
            ({"input": (4,)}, {}),
            ({"input": (2, 3)}, {"norm": "ortho"}),
            ({"input": (2, 2, 5)}, {}),
        )
        for name in ("dct", "idct")
    },
}

LOOPS: Calls = {
    "linear_recurrence": (
        ({"a": (4,), "x": (4,), "start": ()}, {}),
        ({"a": (1, 2), "x": (1, 2), "start": (2,)}, {}),
        ({"a": (3, 2, 2), "x": (3, 2, 2), "start": (2, 2)}, {}),
    ),
    "simple_rnn": tuple(
        (
            {
                "inputs": (batch, steps, n), "h": (batch, units), "kernel": (n, units),
                "recurrent_kernel": (units, units), "bias": (units,),
            },
            {},
        )
        for batch, steps, n, units in ((2, 3, 2, 2), (1, 4, 1, 3), (2, 1, 3, 2))
    ),
    "ctc_loss": (
        (
            {"labels": (1, 2), "logits": (5, 1, 3)},
            {"label_length": [2], "logit_length": [5]},
        ),
        (
            {"labels": (3, 2), "logits": (5, 3, 4)},
            {"label_length": [2, 1, 0], "logit_length": [5, 4, 2]},
        ),
        (
            {"labels": (2, 2), "logits": (4, 2, 4)},
            {"label_length": [2, 1], "logit_length": [4, 3], "blank_index": 3},
        ),
    ),
    "dropout": (
        ({"x": (4,), "mask": (4,)}, {}),
        ({"x": (2, 3), "mask": (2, 3)}, {"rate": 0.25}),
    ),
    "celu": (({"x": (4,)}, {"alpha": 0.5}),),
    "soft_shrink": (({"x": (4,)}, {"threshold": 0.5}), ({"x": (4,)}, {"threshold": 0.25})),
    "squareplus": (({"x": (4,)}, {"b": 1}),),
    "glu": (
        ({"x": (4,)}, {}),
        ({"x": (2, 3)}, {"axis": 0}),
        ({"x": (2, 4, 2)}, {"axis": 1}),
    ),
}  # fmt: skip

BASICS: Calls = {
    "add_n": (({"p": (2, 3), "q": (2, 3)}, {}), ({"p": (), "q": (), "r": ()}, {})),
    "cast": (({"x": (3,)}, {"dtype": "float32"}), ({"x": (2, 2)}, {"dtype": "float32"})),
    "linspace": (
        ({"start": (), "stop": ()}, {"num": 3}),
        ({"start": (2,), "stop": (2,)}, {"num": 4}),
        ({"start": (2, 3), "stop": (2, 3)}, {"num": 2}),
    ),
    "boolean_mask": (
        ({"tensor": (4,)}, {"mask": [True, False, False, True]}),
        ({"tensor": (3, 2)}, {"mask": [False, True, True]}),
        ({"tensor": (2, 2, 3)}, {"mask": [[True, False], [True, True]]}),
    ),
    "clip_by_norm": (
        ({"t": (3,)}, {"clip_norm": 0.5}),
        ({"t": (2, 3)}, {"clip_norm": 100.0}),
        ({"t": (4, 2)}, {"clip_norm": 1.2, "axes": [1]}),
    ),
    "set_diag": (
        ({"input": (3, 3), "diagonal": (3,)}, {}),
        ({"input": (2, 4), "diagonal": (2,)}, {}),
        ({"input": (2, 3, 2), "diagonal": (2, 2)}, {}),
    ),
    "adjoint": (({"matrix": (2, 3)}, {}), ({"matrix": (2, 3, 4)}, {})),
    "moments": (
        ({"x": (4,)}, {"axes": [0]}),
        ({"x": (2, 3)}, {"axes": [1], "keepdims": True}),
        ({"x": (2, 3, 2)}, {"axes": [0, 1]}),
    ),
    "batch_norm_training": (
        ({"x": (4, 2), "scale": (2,), "offset": (2,)}, {}),
        ({"x": (2, 3, 2), "scale": (2,), "offset": (2,)}, {"epsilon": 0.1}),
    ),
    "rms_norm": (
        ({"x": (3,), "scale": (3,)}, {}),
        ({"x": (2, 2, 4), "scale": (4,)}, {"epsilon": 0.1}),
    ),
    "normalize": (
        ({"tensor": (3,)}, {}),
        ({"tensor": (2, 3)}, {"axis": 0}),
        ({"tensor": (2, 3)}, {}),
    ),
    "scaled_dot_product_attention": (
        ({"query": (2, 3), "key": (4, 3), "value": (4, 2)}, {}),
        ({"query": (2, 2, 2), "key": (2, 3, 2), "value": (2, 3, 1)}, {}),
    ),
    "gru_cell": (
        (
            {
                "inputs": (2, 3), "h": (2, 2), "kernel": (3, 6), "recurrent_kernel": (2, 6),
                "bias": (6,),
            },
            {},
        ),
    ),
    "lstm_cell": (
        (
            {
                "inputs": (2, 3), "h": (2, 2), "c": (2, 2), "kernel": (3, 8),
                "recurrent_kernel": (2, 8), "bias": (8,),
            },
            {},
        ),
    ),
}  # fmt: skip

MORE_CALLS: Calls = (
    BASICS | LOOPS | IMAGES | MATRICES | ORDERS | SEGMENTS | SCATTERS | LOSSES | CONVOLUTIONS
)
