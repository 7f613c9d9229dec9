"""What programs in plain TensorFlow show of known faults, and of what is no fault."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from gradcheck.checker.subject.jacobian_ways import Way
from gradcheck.hunter import described, meant_call
from gradcheck.hunter import second_opinion as second_opinion_module
from gradcheck.hunter.documented import demands_a_shape, of_a_lower_rank, without_gradient
from gradcheck.hunter.drafts import Draft, mode_of, task_case
from gradcheck.hunter.failures import Failure, FailureKind
from gradcheck.hunter.random_kernels import drawn_in
from gradcheck.hunter.script import program_of
from gradcheck.hunter.second_opinion import second_opinion

WRONG, NONE, NONFINITE = FailureKind.WRONG, FailureKind.DISCONNECTED, FailureKind.NONFINITE
RAISES, MISSING = FailureKind.RAISES, FailureKind.MISSING


def kernel(name: str, inputs: dict[str, Any], **keys: Any) -> Draft:
    entries = {n: v if isinstance(v, dict) else {"values": v} for n, v in inputs.items()}
    return {"op": f"tf.raw_ops.{name}", "inputs": entries, **keys}


def opinion(draft: Draft, kind: FailureKind, wrong: str) -> dict[str, Any]:
    told = {RAISES: f"gradient raised: {wrong}", MISSING: ""}
    failure = Failure(
        kind,
        (wrong,) if kind in (WRONG, NONE, NONFINITE) else (),
        about=wrong if kind is MISSING else "",
        text=told.get(kind, ""),
    )
    if draft.get("check") == "jacobian":
        failure = replace(failure, text=Way.VECTORISED.value)
    return opinion_of(draft, failure)


def opinion_of(draft: Draft, failure: Failure) -> dict[str, Any]:
    program = program_of(draft, failure)
    request = {
        "script": program.text,
        "draft": draft,
        "kind": failure.kind,
        "about": failure.about,
        "text": failure.text,
        "names": program.names,
        "wrong": program.wrong,
        "dtype": str(draft.get("dtype", "float64")),
        "mode": mode_of(draft).value,
    }
    case = task_case("opinion", 1, request, timeout=60.0)
    answer: dict[str, Any] = json.loads(second_opinion(case, allow=(), root=".").message)
    return answer


INT: dict[str, Any] = {"values": 0, "dtype": "int32"}
MOST_LINES = 24
NOT_INVERTIBLE = "InvalidArgumentError: Input is not invertible."

_SEGMENTS = {
    "data": [[1.0, 1.0], [1.0, 1.0]],
    "indices": {**INT, "values": [1]},
    "segment_ids": {**INT, "values": [0]},
    "num_segments": {**INT, "values": 3},
}

FOUND = [
    (kernel("Cumprod", {"x": [0.0, 3.0], "axis": INT}), WRONG, "x"),
    (kernel("Xlogy", {"x": "1+1j", "y": "1+2j"}, dtype="complex128"), WRONG, "y"),
    (kernel("BesselI1", {"x": 0.0}), WRONG, "x"),
    (kernel("BesselI0", {"x": 0.0}, check="second"), WRONG, "x"),
    (kernel("Zeta", {"x": 2.0, "q": 1.5}), NONE, "x"),
    (kernel("Lu", {"input": [[1.0, 2.0], [3.0, 4.0]]}), MISSING, "Lu"),
    (kernel("MatrixDeterminant", {"input": [[0.0]]}), RAISES, NOT_INVERTIBLE),
    (kernel("Atan2", {"y": [1.5], "x": [300.0]}, dtype="float16"), WRONG, "y"),
    (
        kernel(
            "SparseSegmentSqrtNWithNumSegments",
            {
                "data": [1.0],
                "indices": {**INT, "values": [0]},
                "segment_ids": {**INT, "values": [1]},
                "num_segments": {**INT, "values": 3},
            },
            check="jacobian",
        ),
        WRONG,
        "data",
    ),
    # Rows that stand where others belong: to be seen, each has a weight of its own.
    (kernel("SparseSegmentSumWithNumSegments", _SEGMENTS, check="jacobian"), WRONG, "data"),
]


@pytest.mark.parametrize(("draft", "kind", "wrong"), FOUND, ids=lambda v: str(v)[:40])
def test_what_is_wrong_is_shown(draft: Draft, kind: FailureKind, wrong: str) -> None:
    answer = opinion(draft, kind, wrong)
    assert answer["confirmed"], answer
    # ... and by a program for an issue tracker: imports, inputs, a function, a tape, two numbers.
    assert answer["short"], answer
    assert len([line for line in answer["short"].splitlines() if line]) <= MOST_LINES


_TOUT = {"Tout": "float64"}
NO_FAULT = [
    # A gradient that is right.
    (kernel("Exp", {"x": [0.5]}), WRONG, "x", "agree"),
    (kernel("Exp", {"x": [0.5]}), RAISES, "", "nothing was raised"),
    # Something else is raised than what the check has seen.
    (
        kernel("MatrixDeterminant", {"input": [[0.0]]}),
        RAISES,
        "InvalidArgumentError: Incompatible shapes",
        "something else",
    ),
    # Of symmetric matrices it says as much with one half of the elements.
    (kernel("Cholesky", {"input": [[2.0, 0.5], [0.5, 3.0]]}), WRONG, "input", "symmetric"),
    # What a step of the tiny number does is lost in the other one.
    (kernel("AddV2", {"x": 1e-100, "y": 1.0}), WRONG, "x", "poor"),
    # Ties: close by it is another derivative.
    (
        kernel("NthElement", {"input": [1.0, 1.0, 1.0], "n": {**INT, "values": 1}}),
        WRONG,
        "input",
        "",
    ),
    # A jump.
    (kernel("Ceil", {"x": 1.0}), NONE, "x", ""),
    # The Jacobians of real and of complex outputs of complex numbers.
    (
        kernel("ComplexAbs", {"x": "1+1j"}, dtype="complex128", check="jacobian", args=_TOUT),
        *(WRONG, "x", "agree"),
    ),
    (kernel("Exp", {"x": ["1+1j"]}, dtype="complex128", check="jacobian"), WRONG, "x", "agree"),
    # It rounds on purpose, and its gradient goes straight through.
    (kernel("FakeQuantWithMinMaxArgs", {"inputs": [0.51]}, dtype="float32"), WRONG, "inputs", ""),
]


@pytest.mark.parametrize(("draft", "kind", "wrong", "why"), NO_FAULT, ids=lambda v: str(v)[:40])
def test_what_is_meant_so_is_not_confirmed(
    draft: Draft, kind: FailureKind, wrong: str, why: str
) -> None:
    answer = opinion(draft, kind, wrong)
    assert not answer["confirmed"], answer
    assert why in answer["why"]


_JUMP = kernel("TruncateMod", {"x": [2.0, 4.0], "y": [1.0, 2.0]})
_EMPTY = kernel(
    "RFFT3D",
    {"input": {"shape": [0, 2, 2]}, "fft_length": {**INT, "values": [2, 2, 2]}},
    args={"Tcomplex": "complex128"},
)
_STILL = kernel(
    "MatrixSolveLs",
    {
        "matrix": {"values": [[2.0]], "grad": False},
        "rhs": {"values": [[1.0]], "grad": False},
        "l2_regularizer": 1.0,
    },
    args={"fast": False},
)


@pytest.mark.parametrize(
    ("draft", "wrong", "why"),
    [
        (_JUMP, "TruncateMod", "moves in steps|kink or a jump|does not move|not finite"),
        (_STILL, "Gradient not defined", "does not move"),
        (_EMPTY, "RFFT3D", "no elements"),
    ],
    ids=["a jump", "what does not matter", "nothing"],
)
def test_a_gradient_that_nobody_misses(draft: Draft, wrong: str, why: str) -> None:
    answer = opinion(draft, MISSING, wrong)
    assert not answer["confirmed"], answer
    assert re.search(why, answer["why"]), answer


def test_what_is_documented_is_no_finding() -> None:
    draft = kernel("ParallelConcat", {}, args={"shape": [2]})
    draft["inputs"] = {"values": {"list": [{"values": [1.0]}, {"values": [2.0]}]}}
    answer = opinion(draft, MISSING, "ParallelConcat")
    assert not answer["confirmed"], answer
    assert "tf.parallel_stack" in answer["why"]
    assert without_gradient("ExtractGlimpseV2")
    assert without_gradient("SparseReduceMax")
    assert not any(map(without_gradient, ("Lu", "RFFT3D", "Mod", "AdjustContrastv2")))


def test_repeated_indices_promise_nothing_where_the_description_says_so() -> None:
    inputs: dict[str, Any] = {
        "tensor": {"values": [1.0, 2.0, 3.0], "grad": False},
        "indices": {**INT, "values": [[1], [2], [1]]},
        "updates": [1.0, 2.0, 3.0],
    }
    answer = opinion(kernel("TensorScatterUpdate", inputs), WRONG, "updates")
    assert not answer["confirmed"], answer
    assert "twice" in answer["why"]
    inputs["indices"] = {**INT, "values": [[1], [2], [0]]}
    assert "agree" in opinion(kernel("TensorScatterUpdate", inputs), WRONG, "updates")["why"]


def test_numbers_out_of_the_range_that_is_documented() -> None:
    answer = opinion(kernel("RGBToHSV", {"images": [-0.5, -0.94, -0.03]}), WRONG, "images")
    assert not answer["confirmed"], answer
    assert "[0,1]" in answer["why"]


def _averaged(mode: str) -> Draft:
    """The average of ones is one, whatever is averaged."""
    ones = [[[[1.0]] * 5] * 2]
    args = {"pooling_ratio": [1.0, 1.5, 1.5, 1.0], "deterministic": True}
    return kernel("FractionalAvgPool", {"value": ones}, args=args, mode=mode)


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_what_draws_and_does_not_show_it(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meant_call, "drawn_in", lambda *_: "")
    answer = opinion(_averaged(mode), WRONG, "value")
    assert not answer["confirmed"], answer
    expected = "agree" if mode == "eager" else "another one each time"
    assert expected in answer["why"]


def test_what_draws_with_a_fixed_seed() -> None:
    assert "draws" in opinion(_averaged("eager"), WRONG, "value")["why"]
    seed = {"values": 3, "dtype": "int64"}
    numbers = {"num_to_sample": {**seed, "values": 1}, "seed": seed, "num_retries_per_sample": seed}
    draft = kernel(
        "KmeansPlusPlusInitialization", {"points": [[1.0], [2.0]], **numbers}, dtype="float32"
    )
    answer = opinion(draft, MISSING, "KmeansPlusPlusInitialization")
    assert not answer["confirmed"], answer
    assert "draws" in answer["why"]
    # ... and kernels that only gradients of such run, but not those that others run, too.
    whose = {"draft": kernel("Exp", {"x": 1.0})}
    for about in ("FractionalMaxPoolGrad", "RandomGammaGrad"):
        assert "of the gradient" in drawn_in(lambda: None, about, whose)
    assert not any(drawn_in(lambda: None, each, whose) for each in ("Log1p", "MaxPoolGrad", "Qr"))
    # Of a user's code, what is drawn of nothing is a constant.
    draw = partial(tf.raw_ops.StatelessRandomNormal, shape=[2], seed=[1, 2])
    assert drawn_in(draw, "", whose)
    assert not drawn_in(draw, "", {"draft": {"function": "mine:f", "inputs": {}}})
    gamma = partial(tf.raw_ops.StatelessRandomGammaV2, shape=[2], seed=[1, 2], alpha=[1.0, 2.0])
    assert drawn_in(gamma, "", {"draft": {"function": "mine:f", "inputs": {}}})


def test_what_fails_outside_of_what_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of labels that are broadcast has the shape of what they are broadcast to."""
    features = {"values": [[1.0, 2.0], [0.5, 1.5]], "grad": False}
    inputs = {"features": features, "labels": [[0.5, 0.5]]}
    broadcast = kernel("SoftmaxCrossEntropyWithLogits", inputs, outputs=[0])
    assert opinion(broadcast, WRONG, "labels")["confirmed"]
    monkeypatch.setattr(described, "demands_a_shape", lambda _draft: True)
    answer = opinion(broadcast, WRONG, "labels")
    assert not answer["confirmed"], answer
    assert "it is right with the shapes" in answer["why"]
    # ... and what is wrong in any shape is wrong in the described one: that of the other output.
    del broadcast["outputs"]
    assert opinion(broadcast, WRONG, "labels")["confirmed"]


def test_decimals_that_are_no_classes() -> None:
    """Of a class that there is none of, the probability is 0: the loss is a root of nothing."""
    inputs = {
        "y_true": {"values": [[-1.56], [0.4]]},
        "y_pred": {"values": [[0.2, 0.8], [0.5, 0.5]]},
    }
    loss: Draft = {"layer": "keras.losses.CategoricalGeneralizedCrossEntropy", "inputs": inputs}
    answer = opinion(loss, NONFINITE, "y_pred")
    assert not answer["confirmed"], answer
    assert "y_true is read as whole numbers" in answer["why"]
    # ... and what is wrong for the classes that there are is wrong.
    inputs["y_true"]["values"] = [[0.5], [0.4]]
    inputs["y_pred"]["values"] = [[0.0, 0.8], [0.5, 0.5]]
    assert "whole numbers" not in opinion(loss, NONFINITE, "y_pred")["why"]


def test_shapes_that_are_demanded() -> None:
    demanded = {name: demands_a_shape(kernel(name, {})) for name in _DEMANDS}
    assert demanded == _DEMANDS


_DEMANDS = {"TensorStridedSliceUpdate": True, "Mul": False, "Cumprod": False, "Conv2D": False}


def test_a_gradient_that_is_promised_only_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = opinion(kernel("Qr", {"input": [[0.0]]}), NONFINITE, "input")
    assert not answer["confirmed"], answer
    assert "linearly independent" in answer["why"]
    told = "the gradient is defined only where somebody has said so"
    monkeypatch.setattr(second_opinion_module, "only_somewhere", lambda _draft: told)
    assert opinion(kernel("Cumprod", {"x": [0.0, 3.0], "axis": INT}), WRONG, "x")["why"] == told
    # ... and what is wrong at any number is wrong where it is promised.
    logs = kernel("Xlogy", {"x": "1+1j", "y": "1+2j"}, dtype="complex128")
    assert opinion(logs, WRONG, "y")["confirmed"]


def test_an_input_that_may_have_any_shape() -> None:
    places = ("begin", [0, 0]), ("end", [1, 0]), ("strides", [1, 1])
    inputs: dict[str, Any] = {"input": [[1.0, 2.0], [3.0, 4.0]]}
    inputs |= {name: {**INT, "values": values} for name, values in places}
    inputs["value"] = [[5.0, 6.0]]
    raised = "InvalidArgumentError: Incompatible shapes: [1,0] vs. [1,2]"
    answer = opinion(kernel("TensorStridedSliceUpdate", inputs), RAISES, raised)
    assert not answer["confirmed"], answer
    assert "value_ is not read" in answer["why"]
    cut = {"input": [[1.0, 1.0], [1.0, 1.0]], "fft_length": {**INT, "values": [1, 1]}}
    raised = "InvalidArgumentError: Matrix size-incompatible: In[0]: [2,1], In[1]: [1,1]"
    answer = opinion(kernel("RFFT2D", cut, dtype="float32"), RAISES, raised)
    assert answer["confirmed"], answer


def test_fewer_axes_than_are_described() -> None:
    flat = kernel("Conv2D", {"input": [[1.0]], "filter": [[1.0]]}, args=_POOL)
    answer = opinion(flat, FailureKind.CRASH, "input")
    assert not answer["confirmed"], answer
    assert "described as 4-D" in answer["why"]
    # What public functions take, and kernels are not described to, is wrong where it is.
    args = {"output_dtype": "float64"}
    vector = kernel("IsotonicRegression", {"input": [1.0]}, args=args)
    assert opinion(vector, WRONG, "input")["confirmed"]
    assert of_a_lower_rank(flat)
    taken: dict[str, dict[str, Any]] = {
        "L2Loss": {"t": [1.0]},
        "Softmax": {"logits": [[[1.0]]]},
        "Exp": {"x": 1.0},
        "AvgPool": {"value": [[[[1.0]]]]},
        "MatrixInverse": {"input": [[1.0]]},
    }
    assert not any(of_a_lower_rank(kernel(name, inputs)) for name, inputs in taken.items())


_TWICE: dict[str, list[Any]] = {
    "of one list": [[0, 0]],
    "of two": [[0], [0]],
    "of none": [0, 0],
    "of a list and none": [[0, 1], 0],
}


@pytest.mark.parametrize("lists", _TWICE.values(), ids=_TWICE.keys())
def test_places_that_are_merged_twice(lists: list[Any]) -> None:
    """One function says which value is kept, the other that the result may be invalid."""
    data = {"list": [{"values": np.arange(1.0, 1.0 + np.size(e)).tolist()} for e in lists]}
    data["list"] = [
        {"values": v["values"] if np.ndim(e) else v["values"][0]}
        for v, e in zip(data["list"], lists, strict=True)
    ]
    indices = {"list": [{**INT, "values": each} for each in lists]}
    draft = kernel("ParallelDynamicStitch", {"indices": indices, "data": data})
    answer = opinion(draft, WRONG, "data[0]")
    assert "twice" in answer["why"], answer
    draft["op"] = "tf.raw_ops.DynamicStitch"
    assert opinion(draft, WRONG, "data[0]")["confirmed"]


def test_an_input_that_does_not_matter() -> None:
    """The deviation of one number; but the power of zero, of a kernel, is taken for what it is."""
    answer = opinion({"op": "keras.ops.std", "inputs": {"x": {"values": 1.0}}}, NONFINITE, "x")
    assert not answer["confirmed"], answer
    assert "does not depend on it" in answer["why"]
    for power, keys in ((0.0, {}), (1.0, {"check": "second"})):
        inputs = {"x": 0.0, "y": {"values": power, "grad": False}}
        assert opinion(kernel("Pow", inputs, **keys), NONFINITE, "x")["confirmed"]


def test_what_is_huge_and_cancels() -> None:
    """Both neighbours of each pixel are one: no edge is there, but for rounding."""
    image = {"values": [[[[1.0], [1.0]], [[1e100], [1.0]]]]}
    answer = opinion({"op": "tf.image.sobel_edges", "inputs": {"image": image}}, WRONG, "image")
    assert not answer["confirmed"], answer


def test_vectors_whose_phase_is_free() -> None:
    matrix = {"values": [["1+1j", "2-1j"], ["0.5j", "-1+0.3j"]]}
    keys: dict[str, Any] = {"dtype": "complex128", "check": "second"}
    answer = opinion({"op": "tf.linalg.svd", "inputs": {"tensor": matrix}, **keys}, WRONG, "tensor")
    assert "phase" in answer["why"], answer
    # ... which singular values do not have.
    keys = {"dtype": "complex128", "args": {"compute_uv": False}}
    answer = opinion({"op": "tf.linalg.svd", "inputs": {"tensor": matrix}, **keys}, WRONG, "tensor")
    assert "agree" in answer["why"], answer


def test_what_a_tiny_step_does_not_show() -> None:
    """It is rounded away beside the one in eˣ - 1."""
    answer = opinion(kernel("Elu", {"features": -1e-100}), WRONG, "features")
    assert not answer["confirmed"], answer
    # What is wrong at a small number is found.
    numbers = {"x": "1e-4+1e-4j", "y": {"values": "1+2j", "grad": False}}
    assert opinion(kernel("Xlogy", numbers, dtype="complex128"), WRONG, "x")["confirmed"]


def test_an_argument_of_zero() -> None:
    call: Draft = {"op": "keras.ops.celu", "inputs": {"x": {"values": -1.0}}}
    answer = opinion({**call, "args": {"alpha": 0.0}}, NONFINITE, "x")
    assert not answer["confirmed"], answer
    zeros = kernel("Cumprod", {"x": [0.0, 3.0], "axis": INT})
    assert opinion(zeros, WRONG, "x")["confirmed"]


def test_what_raises_is_shown_beside_a_difference() -> None:
    answer = opinion(kernel("Lu", {"input": [[1.0, 2.0], [3.0, 4.0]]}), MISSING, "Lu")
    assert "difference, at" in answer["short"]


_SLICES = kernel(
    "SparseSegmentSqrtN",
    {
        "data": [1.0, 1.0],
        "indices": {**INT, "values": [1, 1]},
        "segment_ids": {**INT, "values": [0, 0]},
    },
    args={"sparse_gradient": True},
    check="forward",
)
_NO_TANGENTS = "TensorFlow makes no tangents of slices that a gradient gives"
_TENSOR_ARRAY = "InvalidArgumentError: TensorArray dtype is complex128 but Op is trying to write"
_RFFT = kernel(
    "RFFT",
    {"input": [1.0, 2.0], "fft_length": {**INT, "values": [2]}},
    args={"Tcomplex": "complex128"},
    check="jacobian",
)


@pytest.mark.parametrize(
    ("draft", "kind", "text"),
    [
        (_SLICES, RAISES, f"forward mode does not go through an op: {_NO_TANGENTS}"),
        (_RFFT, RAISES, f"{Way.LOOPED.value}: {_TENSOR_ARRAY}"),
    ],
    ids=["tangents of slices", "a Jacobian of complex numbers"],
)
def test_what_derivatives_made_of_gradients_cannot_do(
    draft: Draft, kind: FailureKind, text: str
) -> None:
    wrong = next(iter(draft["inputs"]))
    answer = opinion_of(draft, Failure(kind, (wrong,), text=text))
    assert answer["confirmed"], answer
    assert answer["short"]


_FAULTS = "tests.hunter.layers_with_faults"
_TWO = {"inputs": {"values": [[1.0, 2.0]]}}
LAYERS = [
    ({"layer": f"{_FAULTS}:Scale", "inputs": _TWO}, "scale/scale", True),
    ({"layer": f"{_FAULTS}:Scale", "inputs": _TWO}, "inputs", False),
    ({"layer": f"{_FAULTS}:Swish", "inputs": _TWO}, "inputs", True),
    ({"layer": f"{_FAULTS}:Both", "inputs": _TWO}, "both/scale/scale", True),
    ({"layer": f"{_FAULTS}:Both", "inputs": _TWO}, "both/dense/kernel", False),
    (
        {"layer": f"{_FAULTS}:Both", "inputs": _TWO, "init": {"units": 2}, "mode": "graph"},
        "both/scale/scale",
        True,
    ),
    (
        {
            "layer": "keras.layers.TimeDistributed",
            "init": {"layer": {"layer": f"{_FAULTS}:Both", "init": {"units": 2}}},
            "inputs": {"inputs": {"values": [[[1.0, 2.0]]]}},
        },
        "time_distributed/scale/scale",
        True,
    ),
    ({"layer": "keras.layers.Dense", "init": {"units": 2}, "inputs": _TWO}, "dense/kernel", False),
    (
        {
            "layer": "keras.layers.Dense",
            "init": {"units": 2, "activation": "tanh"},
            "inputs": _TWO,
            "check": "second",
            "dtype": "float32",
        },
        "dense/kernel",
        False,
    ),
]


@pytest.mark.parametrize(("draft", "wrong", "is_fault"), LAYERS, ids=lambda v: str(v)[:60])
def test_layers_and_their_weights(draft: Draft, wrong: str, is_fault: bool) -> None:
    answer = opinion(draft, WRONG, wrong)
    assert answer["raised"] == "", answer
    assert answer["confirmed"] == is_fault, answer
    assert is_fault or "agree" in answer["why"]


def test_a_name_that_the_program_has_itself_is_changed() -> None:
    draft = kernel("AvgPool", {"value": [[[[1.0]]]]}, args=_POOL)
    answer = opinion(draft, WRONG, "value")
    assert "agree" in answer["why"], answer
    assert "value_ = tf.constant" in program_of(draft, Failure(WRONG, ("value",))).text


_POOL = {"ksize": [1, 1, 1, 1], "strides": [1, 1, 1, 1], "padding": "VALID"}


@pytest.mark.parametrize(("mode", "check"), [("xla", None), ("graph", "forward"), (None, "second")])
def test_programs_of_all_modes_run(mode: str | None, check: str | None) -> None:
    keys = {k: v for k, v in (("mode", mode), ("check", check)) if v is not None}
    answer = opinion(kernel("Cumsum", {"x": [1.0, 2.0], "axis": INT}, **keys), WRONG, "x")
    assert answer["raised"] == "", answer
    assert not answer["confirmed"]
