"""The `init` of a layer: plain data and layers inside; nothing that Keras would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.spec.conftest import Good, Problem

HEAD = "layer: keras.layers.Dense\ninputs: {inputs: [2, 4]}\n"


def test_plain_data_and_layers(good: Good) -> None:
    case = good(HEAD + "init: {units: 3, activation: tanh, use_bias: false}\n")
    assert case.init == {"units": 3, "activation": "tanh", "use_bias": False}
    inner = "{layer: keras.layers.LSTM, init: {units: 3}}"
    text = f"layer: keras.layers.Bidirectional\ninit: {{layer: {inner}}}\n"
    case = good(text + "inputs: {sequences: [2, 3, 2]}\n")
    assert case.init == {"layer": {"layer": "keras.layers.LSTM", "init": {"units": 3}}}


def test_a_mixed_policy_takes_float32(good: Good) -> None:
    assert good(HEAD + "init: {units: 3, dtype: mixed_float16}\n").dtype == "float32"
    assert good(HEAD + "init: {units: 3}\n").dtype == "float64"


@pytest.mark.parametrize(
    ("init", "marked", "words"),
    [
        ("{units: 3, unit: 4}", "unit:", "did you mean `units`?"),
        ("{activation: tanh}", "init", "`keras.layers.Dense` needs `units`"),
        ("{units: 99999999999}", "9", "too large"),
        # What Keras would make an object of, by importing what it names.
        ("{units: 3, activation: {class_name: relu, config: {}}}", "{class", "no key `layer`"),
        ("{units: 3, kernel_initializer: {module: os, class_name: system}}", "{mod", "no key"),
        ("{units: 3, dtype: {module: keras, class_name: DTypePolicy}}", "{mod", "no key `layer`"),
        ("{units: 3, activation: [{registered_name: x}]}", "{reg", "no key `layer`"),
        ("{units: 3, activation: {layer: os.system}}", "os", "not on the list of Keras' layers"),
        ("{units: 3, activation: {layer: 'os:system'}}", "'os", "`os` is not allowed"),
        ("{units: 3, activation: {layer: keras.layers.Lambda}}", "keras", "a Python function"),
        ("{units: 3, activation: {layer: keras.layers.ReLU, module: os}}", "module", "no key"),
        ("{units: 3, activation: {layer: keras.layers.ReLU, init: {a: 1}}}", "a: 1", "no `init`"),
        ("{units: 3, activation: {layer: keras.layers.Dense}}", "layer:", "needs `units`"),
    ],
)
def test_what_is_refused(problem: Problem, init: str, marked: str, words: str) -> None:
    line = f"init: {init}"
    problem(f"{HEAD}{line}\n", (3, line.index(marked) + 1), words)


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        ("keras.layers.Lambda", "takes a Python function"),
        ("keras.layers.TFSMLayer", "reads from the disk"),
        ("keras.layers.TorchModuleWrapper", "code of another framework"),
        ("keras.layers.StringLookup", "from a file"),
        ("keras.layers.TextVectorization", "from a file"),
        ("keras.layers.Layer", "base class"),
        ("tf.keras.layers.Lambda", "takes a Python function"),
        ("keras.saving.load_model", "not on the list"),
        ("keras.Model", "not on the list"),
        ("Dense", "did you mean `keras.layers.Dense`?"),
        ("keras.layers.add", "write `op: keras.layers.add`"),
        ("keras.layers.Dense.__init__", "not on the list"),
        ("mypkg.layers:Attention", "--allow mypkg"),
    ],
)
def test_classes_that_are_refused(problem: Problem, layer: str, words: str) -> None:
    problem(f"layer: {layer}\ninputs: {{inputs: [2, 4]}}\n", (1, 8), words)


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("op: square\ninit: {a: 1}\ninputs: {x: [2]}\n", (2, 1), "`init` goes with `layer`"),
        ("expr: x\ncall: {a: 1}\ninputs: {x: [2]}\n", (2, 1), "`call` goes with `layer`"),
        (HEAD + "init: {units: 3}\nargs: {training: true}\n", (4, 1), "takes no `args`"),
        (HEAD + "init: {units: 3}\ncall: {trainin: true}\n", (4, 8), "did you mean `training`?"),
        (
            "layer: keras.layers.Dense\ninit: {units: 3}\ninputs: {x: [2, 4]}\n",
            (3, 10),
            "has no input `x`",
        ),
        (
            "function: keras.layers:Dense\nargs: {units: 4}\ninputs: {x: [2]}\n",
            (1, 11),
            "write `layer: keras.layers.Dense`",
        ),
        ("op: keras.layers.Dense\ninputs: {x: [2]}\n", (1, 5), "write `layer: keras.layers.Dense`"),
    ],
)
def test_keys_that_do_not_go_together(
    problem: Problem, text: str, at: tuple[int, int], words: str
) -> None:
    problem(text, at, words)


def test_a_user_class_that_is_allowed(good: Good) -> None:
    text = "layer: mypkg:Mine\ninit: {any: [1, 2]}\ncall: {flag: true}\ninputs: {x: [2]}\n"
    case = good(text, allow=("mypkg",))
    assert (case.init, case.args) == ({"any": [1, 2]}, {"flag": True})


def test_a_layer_needs_no_input_with_a_gradient(good: Good, problem: Problem) -> None:
    text = "layer: keras.layers.Embedding\ninit: {input_dim: 5, output_dim: 2}\n"
    text += "inputs: {inputs: {values: [1, 2], dtype: int32}}\n"
    assert good(text).variables
    problem(text + "variables: false\n", (3, 1), "no input has a gradient")
