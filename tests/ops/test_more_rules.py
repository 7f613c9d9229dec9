"""The shape rules of the ops that came later: what does not fit is refused in a sentence."""

from __future__ import annotations

from typing import Any

import pytest

from gradcheck.errors import ShapeError
from gradcheck.ops import find

CELL = {"inputs": (2, 3), "h": (2, 2), "recurrent_kernel": (2, 6), "bias": (6,)}


@pytest.mark.parametrize(
    ("name", "shapes", "args", "words"),
    [
        ("segment_sum", {"data": (3,)}, {"segment_ids": [0, 1]}, "one for each row"),
        ("segment_sum", {"data": (3,)}, {"segment_ids": [0, 2, 1]}, "must not fall"),
        (
            "unsorted_segment_sum",
            {"data": (3, 2), "segment_ids": (2,)},
            {"num_segments": 2},
            "need the shape of data",
        ),
        (
            "tensor_scatter_nd_add",
            {"tensor": (4,), "indices": (2, 1), "updates": (3,)},
            {},
            "need [2]",
        ),
        (
            "tensor_scatter_nd_update",
            {"tensor": (4,), "updates": (1,)},
            {"indices": [[4]]},
            "leave the tensor",
        ),
        (
            "tensor_scatter_nd_update",
            {"tensor": (4,), "updates": (1,)},
            {"indices": [["a"]]},
            "list of lists of whole numbers",
        ),
        ("scatter_nd", {"indices": (3, 2), "updates": (3,)}, {"shape": [4]}, "shape only 1"),
        ("huber", {"y_true": (2,), "y_pred": (3,)}, {}, "same shape"),
        ("categorical_crossentropy", {"y_true": (2, 1), "y_pred": (2, 1)}, {}, "two classes"),
        ("sort", {"values": (2,)}, {"direction": "UP"}, "'ASCENDING' or 'DESCENDING'"),
        ("top_k", {"input": (2,)}, {"k": 3}, "does not have so many"),
        (
            "conv2d_transpose",
            {"input": (1, 2, 2, 1), "filters": (2, 2, 1, 1)},
            {"output_shape": [1, 9, 4, 1], "strides": 2},
            "gives [5, 2] places",
        ),
        (
            "conv3d",
            {"input": (1, 2, 2, 2, 1), "filters": (1, 1, 1, 1, 1)},
            {"strides": [2, 1, 1, 1, 1], "padding": "VALID"},
            "begins and ends with 1",
        ),
        (
            "depthwise_conv2d",
            {"input": (1, 3, 3, 2), "filter": (2, 2, 1, 1)},
            {"strides": [1, 1, 1, 1], "padding": "VALID"},
            "the channels",
        ),
        ("lstsq", {"matrix": (2, 3), "rhs": (2, 1)}, {}, "wider than tall"),
        ("expm", {"input": (2, 3)}, {}, "square matrices"),
        ("space_to_depth", {"input": (1, 3, 4, 1)}, {"block_size": 2}, "blocks of 2 fill"),
        ("depth_to_space", {"input": (1, 1, 1, 3)}, {"block_size": 2}, "2·2 divides"),
        ("fft", {"input": ()}, {}, "needs an axis"),
        ("fft2d", {"input": (4,)}, {}, "needs 2 axes"),
        ("rfft", {"input_tensor": (4,)}, {"fft_length": [4, 4]}, "a list of one number"),
        ("irfft", {"input_tensor": (1,)}, {}, "give fft_length"),
        ("resize", {"images": (2, 2, 1)}, {"size": [3]}, "a height and a width"),
        ("resize", {"images": (2, 2)}, {"size": [3, 3]}, "need rank 3 or 4"),
        ("svd", {"tensor": (3,)}, {}, "rank 2 or more"),
        ("glu", {"x": (3,)}, {}, "cannot be halved"),
        (
            "linear_recurrence",
            {"a": (3,), "x": (3,), "start": (2,)},
            {},
            "that of one step",
        ),
        (
            "simple_rnn",
            {
                "inputs": (1, 2, 3),
                "h": (1, 2),
                "kernel": (3, 3),
                "recurrent_kernel": (2, 2),
                "bias": (2,),
            },
            {},
            "must fit to it",
        ),
        (
            "ctc_loss",
            {"labels": (1, 2), "logits": (4, 1, 3)},
            {"label_length": [3], "logit_length": [4]},
            "at most 2",
        ),
        (
            "ctc_loss",
            {"labels": (1, 2), "logits": (4, 1, 3)},
            {"label_length": [2], "logit_length": [4], "blank_index": 3},
            "one of the 3 symbols",
        ),
        ("dct", {"input": (4,)}, {"norm": "unit"}, "norm is 'ortho' or none"),
        ("linspace", {"start": (), "stop": ()}, {"num": 1}, "at least 2"),
        ("boolean_mask", {"tensor": (3,)}, {"mask": [True, False]}, "mask has shape [2]"),
        ("boolean_mask", {"tensor": (2,)}, {"mask": [1, 0]}, "true and false"),
        ("gru_cell", {**CELL, "kernel": (3, 8)}, {}, "kernel has shape [3, 8]"),
        ("norm", {"tensor": (2, 3)}, {"ord": 0.5}, "a number from 1 on"),
        ("norm", {"tensor": (2, 3)}, {"ord": 1, "axis": [0, 1]}, "a norm of matrices"),
        ("norm", {"tensor": (3,)}, {"ord": "fro"}, "name two axes"),
        ("pad", {"tensor": (2,)}, {"paddings": [[2, 0]], "mode": "REFLECT"}, "cannot be padded"),
        ("pad", {"tensor": (2,)}, {"paddings": [[1, 0]], "mode": "WRAP"}, "mode is 'CONSTANT'"),
        ("repeat", {"input": (3,)}, {"repeats": [1, 2], "axis": 0}, "one for each slice"),
        (
            "gather",
            {"params": (2, 3), "indices": (3, 1)},
            {"batch_dims": 1},
            "differ in the first 1 axes",
        ),
        ("gather", {"params": (2, 3), "indices": (2,)}, {"batch_dims": 2}, "batch_dims"),
        (
            "matvec",
            {"a": (3, 3), "b": (3,)},
            {"transpose_a": True, "adjoint_a": True},
            "not both true",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    name: str, shapes: dict[str, tuple[int, ...]], args: dict[str, Any], words: str
) -> None:
    op = find(name)
    assert op is not None
    with pytest.raises(ShapeError) as caught:
        op.shape(op.call(shapes, args))
    assert words in str(caught.value)
