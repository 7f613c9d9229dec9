"""The shape rules refuse what does not fit, in words that say which sizes."""

from __future__ import annotations

from typing import Any

import pytest

from gradcheck.errors import ShapeError
from gradcheck.ops import find


@pytest.mark.parametrize(
    ("name", "shapes", "args", "words"),
    [
        (
            "add",
            {"x": (2, 3), "y": (4,)},
            {},
            "[2, 3] and [4] do not broadcast: axis -1 is 3 against 4",
        ),
        ("where", {"condition": (2,), "x": (3,), "y": ()}, {}, "do not broadcast"),
        ("matmul", {"a": (3, 4), "b": (3, 5)}, {}, "a has 4 columns, but b has 3 rows"),
        ("matmul", {"a": (4, 3), "b": (3, 5)}, {"transpose_a": True}, "as turned by transpose"),
        ("matmul", {"a": (4,), "b": (4, 5)}, {}, "rank 2 or more"),
        ("matmul", {"a": (2, 3, 4), "b": (5, 4, 1)}, {}, "axis -1 is 2 against 5"),
        ("matmul", {"a": (2, 2), "b": (2, 2)}, {"transpose_a": 1}, "transpose_a is true or false"),
        (
            "matmul",
            {"a": (2, 2), "b": (2, 2)},
            {"transpose_b": True, "adjoint_b": True},
            "exclude each other",
        ),
        ("einsum", {"p": (2, 3), "q": (4, 5)}, {"equation": "ij,jk->ik"}, "index 'j'"),
        ("einsum", {"p": (2, 3)}, {"equation": "ij,jk->ik"}, "2 operands, but the case has 1"),
        ("einsum", {"p": (2, 3)}, {"equation": "i->i"}, "name 1 axes"),
        ("einsum", {"p": (2,)}, {"equation": "...ij->ij"}, "'...ij' name 2 axes"),
        ("einsum", {"p": (2,)}, {"equation": "i->ii"}, "stands twice in the output"),
        ("einsum", {"p": (2,)}, {"equation": "i->j"}, "in no input"),
        ("einsum", {"p": (2, 3)}, {"equation": "...i->i"}, "the output needs one too"),
        ("einsum", {"p": (2,)}, {"equation": "i=>i"}, "not of the form"),
        ("einsum", {"p": (2,)}, {"equation": "i......->i"}, "not of the form"),
        ("einsum", {"p": (2,)}, {"equation": 3}, "equation is text"),
        ("reduce_sum", {"input_tensor": (2, 3)}, {"axis": 2}, "rank 2 has axes -2 to 1"),
        ("reduce_sum", {"input_tensor": ()}, {"axis": 0}, "a scalar has no axes"),
        ("reduce_sum", {"input_tensor": (2, 3)}, {"axis": [0, -2]}, "names an axis twice"),
        ("reduce_sum", {"input_tensor": (2, 3)}, {"axis": "0"}, "whole number, not '0'"),
        ("reduce_sum", {"input_tensor": (2, 3)}, {"axis": True}, "whole number, not True"),
        ("reduce_sum", {"input_tensor": (2, 3)}, {"keepdims": "on"}, "true or false, not 'on'"),
        ("cumsum", {"x": (2,)}, {"reverse": "yes"}, "reverse is true or false"),
        ("softmax", {"logits": ()}, {}, "a scalar has no axes"),
        ("transpose", {"a": (2, 3)}, {"perm": [0, 0]}, "does not name each of the axes 0 to 1"),
        ("transpose", {"a": (2, 3)}, {"perm": 1}, "list of whole numbers"),
        ("reshape", {"tensor": (2, 3)}, {"shape": [4, 2]}, "has 6 elements"),
        ("reshape", {"tensor": (2, 3)}, {"shape": [4, -1]}, "has 6 elements"),
        ("reshape", {"tensor": (2, 3)}, {"shape": [-1, -1]}, "at most one is -1"),
        ("expand_dims", {"input": (2,)}, {"axis": 3}, "out of range"),
        ("squeeze", {"input": (2, 1)}, {"axis": 0}, "has size 2, not 1"),
        ("broadcast_to", {"input": (3,)}, {"shape": [3, 2]}, "do not broadcast"),
        ("broadcast_to", {"input": (2, 3)}, {"shape": [3]}, "does not broadcast to [3]"),
        ("getitem", {"x": (2, 3)}, {"index": "2"}, "out of bounds"),
        ("getitem", {"x": (2, 3)}, {"index": "0, 0, 0"}, "too many indices"),
        ("getitem", {"x": (2, 3)}, {"index": "a"}, "'a' is not an index"),
        ("slice", {"input_": (4,)}, {"begin": [1], "size": [4]}, "begin 1 and size 4 leave it"),
        ("slice", {"input_": (4,)}, {"begin": [1, 2], "size": [1]}, "one per axis"),
        ("gather", {"params": (4,), "indices": (2,)}, {"axis": 1}, "out of range"),
        ("reverse", {"tensor": (4,)}, {"axis": 0}, "list of whole numbers"),
        ("roll", {"input": (4,)}, {"shift": [1, 2], "axis": [0]}, "the same length"),
        ("concat", {"p": (2, 3), "q": (2, 4)}, {"axis": 0}, "axis 1 is 3 in p, but 4 in q"),
        ("concat", {"p": (2, 3), "q": (2,)}, {"axis": 0}, "stack makes a new one"),
        ("stack", {"p": (2, 3), "q": (2,)}, {}, "stack takes equal shapes"),
        ("trace", {"x": (2,)}, {}, "rank 2 or more"),
        ("inv", {"input": (2, 3)}, {}, "square matrices"),
        ("solve", {"matrix": (2, 2), "rhs": (3, 1)}, {}, "must agree in all sizes but the last"),
        (
            "tile",
            {"input": (3,)},
            {"multiples": [-2]},
            "multiples is a list of numbers",
        ),
        ("repeat", {"input": (3,)}, {"repeats": -2, "axis": 0}, "not negative, not -2"),
        (
            "pad",
            {"tensor": (3,)},
            {"paddings": [[-5, 0]]},
            "paddings is a list of numbers",
        ),
        ("split", {"value": (3,)}, {"num_or_size_splits": [4, -1]}, "not negative, not [4, -1]"),
        ("split", {"value": (3,)}, {"num_or_size_splits": True}, "list of whole numbers, not True"),
        ("scatter_nd", {"indices": (3, 1), "updates": (3,)}, {"shape": [-4]}, "shape is a list of"),
        ("tensordot", {"a": (2, 2), "b": (2, 2)}, {"axes": -1}, "not negative, or two lists"),
        (
            "conv1d",
            {"input": (1, 4, 2), "filters": (2, 2, 3)},
            {"stride": 0, "padding": "VALID"},
            "stride is a whole number above 0 or a list of 1, not 0",
        ),
        (
            "avg_pool2d",
            {"input": (1, 4, 4, 2)},
            {"ksize": [2, "a"], "strides": 1, "padding": "VALID"},
            "ksize is a whole number above 0 or a list of 2",
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
