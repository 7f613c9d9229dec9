"""Layers: made of plain data, built on the inputs, their weights drawn."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gradcheck.checker.subject.build_function import build
from gradcheck.model import Argument, Case, Group, Verdict
from gradcheck.spec.resolve import resolve
from tests.checker.cases import ROOT, case, run, shape, values

CODE = "tests.checker.user_code"


def layer_of(given: Case) -> Any:
    """The built layer of a case."""
    return build(resolve(given), allow=["tests.checker"], root=str(ROOT)).target


def weights(given: Case) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(w.numpy()) for w in layer_of(given).trainable_variables]


DENSE = {"init": {"units": 3}}
CONV = {"filters": 1, "kernel_size": 2}


def test_a_layer_of_keras_is_checked() -> None:
    result = run("layer", "keras.layers.Dense", shape("inputs", 2, 4), **DENSE)
    assert result.verdict is Verdict.PASS, result.message
    assert result.comparisons[0].name == "inputs"


def test_the_target_is_the_layer_itself() -> None:
    import keras

    built = layer_of(case("layer", "tf.keras.layers.Dense", shape("inputs", 2, 4), **DENSE))
    assert isinstance(built, keras.layers.Dense)
    assert built.built
    assert [w.path for w in built.trainable_variables] == ["dense/kernel", "dense/bias"]


def test_no_weight_is_left_at_zero() -> None:
    kernel, bias = weights(case("layer", "keras.layers.Dense", shape("inputs", 2, 4), **DENSE))
    assert bias.all()
    assert len(set(bias)) == 3
    gamma, _ = weights(case("layer", "keras.layers.LayerNormalization", shape("inputs", 2, 40)))
    assert 0.7 < gamma.mean() < 1.3
    assert kernel.dtype == gamma.dtype == np.float64


def test_weights_that_are_not_trained_stay() -> None:
    built = layer_of(case("layer", "keras.layers.BatchNormalization", shape("inputs", 2, 3)))
    assert [w.numpy().tolist() for w in built.non_trainable_variables[:2]] == [[0.0] * 3, [1.0] * 3]


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("keras.layers.Dense", DENSE),
        (f"{CODE}:Inside", {}),
        (f"{CODE}:Weights", {}),
        ("keras.layers.LSTM", {"init": {"units": 2}}),
    ],
)
def test_the_weights_are_those_of_the_seed(text: str, rest: dict[str, Any]) -> None:
    name = {"keras.layers.Dense": "inputs", "keras.layers.LSTM": "sequences"}.get(text, "x")
    given = shape(name, 2, 3, 3) if "LSTM" in text else shape(name, 2, 3)
    first, again = (weights(case("layer", text, given, **rest)) for _ in range(2))
    other = weights(case("layer", text, given, **rest, seed=1))
    for one, two, three in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(one, two)
        assert not np.allclose(one, three)


def test_the_state_of_the_process_is_left_as_it_was() -> None:
    import keras

    random.seed(5)
    np.random.seed(5)
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]
    layer_of(case("layer", f"{CODE}:Inside", shape("x", 2, 3)))
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index]
    assert keras.config.floatx() == "float32"
    assert keras.config.dtype_policy().name == "float32"


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_layers_inside_compute_in_the_dtype_of_the_case(dtype: str) -> None:
    built = layer_of(case("layer", f"{CODE}:Inside", shape("x", 2, 3), dtype=dtype))
    assert built.compute_dtype == dtype
    assert built.inner.compute_dtype == dtype


def test_a_policy_of_its_own() -> None:
    init = {"units": 3, "dtype": "mixed_float16"}
    given = case("layer", "keras.layers.Dense", shape("inputs", 2, 4), init=init, dtype="float32")
    built = layer_of(given)
    assert (built.compute_dtype, built.variable_dtype) == ("float16", "float32")


def test_layers_inside_of_layers() -> None:
    inner = {"layer": "keras.layers.GRU", "init": {"units": 2}}
    given = shape("sequences", 2, 3, 2)
    result = run("layer", "keras.layers.Bidirectional", given, init={"layer": inner})
    assert result.verdict is Verdict.PASS, result.message
    model = {"layers": [{"layer": "keras.layers.Dense", "init": {"units": n}} for n in (3, 1)]}
    built = layer_of(case("layer", "keras.Sequential", shape("inputs", 2, 4), init=model))
    assert [layer.name for layer in built.layers] == ["dense", "dense_1"]


def test_a_loss_is_built_like_a_layer() -> None:
    inputs = shape("y_true", 3, 4, grad=False), shape("y_pred", 3, 4)
    result = run("layer", "keras.losses.Huber", *inputs, init={"delta": 0.3})
    assert result.verdict is Verdict.PASS, result.message


def test_a_layer_that_takes_one_by_position() -> None:
    tokens = values("inputs", [[0, 2], [1, 1]], dtype="int32", grad=False)
    name = "keras.layers.CategoryEncoding"
    init = {"num_tokens": 3, "output_mode": "count"}
    result = run("layer", name, tokens, shape("count_weights", 2, 2), init=init)
    # It is called; that TensorFlow has no gradient for what it calls is another matter.
    assert "DenseBincount has no gradient" in result.message


def test_a_module_and_a_plain_class() -> None:
    assert run("layer", f"{CODE}:Weights", shape("x", 2, 3)).verdict is Verdict.PASS
    result = run("layer", f"{CODE}:Scale", values("x", [1.0, 2.0]), init={"factor": 4.0})
    assert result.verdict is Verdict.PASS, result.message
    np.testing.assert_allclose(
        np.abs(np.asarray(result.comparisons[0].numeric)) % 4, 0.0, atol=4, rtol=0
    )


def test_a_list_of_tensors_and_the_call_of_a_layer() -> None:
    inputs = shape("inputs[0]", 2, 3), shape("inputs[1]", 2, 3)
    argument = Argument("inputs", Group("list", ("inputs[0]", "inputs[1]")))
    result = run("layer", "keras.layers.Multiply", *inputs, arguments=(argument,))
    assert [c.name for c in result.comparisons] == ["inputs[0]", "inputs[1]"]
    assert result.verdict is Verdict.PASS, result.message
    norm = "keras.layers.BatchNormalization"
    trained = run("layer", norm, shape("inputs", 4, 3), args={"training": True})
    assert trained.verdict is Verdict.PASS, trained.message
    plain = run("layer", norm, shape("inputs", 4, 3))
    assert not np.allclose(
        np.asarray(trained.comparisons[0].analytic), np.asarray(plain.comparisons[0].analytic)
    )


@pytest.mark.parametrize(
    ("text", "inputs", "rest", "words"),
    [
        ("keras.layers.Dense", "inputs", {}, "`keras.layers.Dense` needs `units`"),
        ("keras.layers.Dense", "x", DENSE, "has no input `x`"),
        ("keras.layers.Dense", "inputs", {"init": {"units": -1}}, "cannot be made: ValueError"),
        ("keras.layers.Dense", "inputs", {"init": {"units": 3, "unit": 3}}, "'unit'"),
        (f"{CODE}:Scale", "x", {"init": {"fctor": 3}}, "did you mean `factor`?"),
        (f"{CODE}:subtract", "x", {}, "is no class: write `function:"),
        ("keras.layers.Lambda", "x", {}, "not on the list of Keras' layers"),
        ("os:system", "x", {}, "not among the allowed packages"),
        (f"{CODE}:TFSMLayer", "x", {"init": {"filepath": "/"}}, "is defined in `keras.src"),
        (
            "keras.layers.Dense",
            "inputs",
            {"init": {"units": 3, "dtype": "f3"}},
            "no such dtype",
        ),
    ],
)
def test_what_cannot_be_built(text: str, inputs: str, rest: dict[str, Any], words: str) -> None:
    result = run("layer", text, shape(inputs, 2, 4), **rest)
    assert result.verdict is Verdict.ERROR
    assert words in result.message


@pytest.mark.parametrize(
    "config",
    [
        {"class_name": "Lambda", "config": {}},
        {"module": "os", "class_name": "system", "config": {"command": "true"}},
        {"layer": "keras.layers.Dense", "module": "os"},
    ],
)
def test_keras_makes_no_object_of_a_mapping(config: dict[str, Any]) -> None:
    init = {"units": 3, "kernel_initializer": config}
    result = run("layer", "keras.layers.Dense", shape("inputs", 2, 4), init=init)
    assert result.verdict is Verdict.ERROR
    assert "must be a layer" in result.message


@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_what_a_layer_raises_is_told_with_its_reason(mode: Any) -> None:
    result = run("layer", f"{CODE}:Raises", shape("x", 2, 3), args={"training": True}, mode=mode)
    assert result.verdict is Verdict.ERROR
    assert "ValueError: the reason is this (in Raises.call)" in result.message


@pytest.mark.parametrize(
    ("text", "inputs", "init", "words"),
    [
        (
            "keras.layers.LSTM",
            shape("sequences", 2, 3),
            {"units": 2},
            "ndim=3, found ndim=2",
        ),
        (
            "keras.layers.Conv1D",
            shape("inputs", 2, 3),
            {"filters": 1, "kernel_size": 2},
            "min_ndim=3",
        ),
        (
            "keras.Sequential",
            shape("inputs", 2, 3),
            {"layers": [{"layer": f"{CODE}:Raises"}]},
            "the reason is this",
        ),
    ],
)
def test_inputs_that_a_layer_does_not_take(text: str, inputs: Any, init: Any, words: str) -> None:
    result = run("layer", text, inputs, init=init)
    assert result.verdict is Verdict.ERROR
    assert words in result.message
    assert "•" not in result.message


def test_names_do_not_depend_on_other_layers() -> None:
    import keras

    lstm = case("layer", "keras.layers.LSTM", shape("sequences", 2, 3, 2), init={"units": 2})
    first = [w.path for w in layer_of(lstm).trainable_variables]
    keras.layers.LSTM(2)
    assert [w.path for w in layer_of(lstm).trainable_variables] == first
    assert first[0] == "lstm/lstm_cell/kernel"
    # Keras itself counts on.
    assert keras.layers.Dense(1).name != keras.layers.Dense(1).name
