"""The list of allowed functions: nothing dangerous, all the usual."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import pytest

from gradcheck.spec.expression.allowlist import (
    ALLOWED,
    CALLABLE,
    LAYERS,
    equivalent,
    is_module,
    layer_parameters,
    nearest,
    nearest_layer,
    parameters,
    why_refused,
)
from gradcheck.spec.expression.control_flow import CONTROL_FLOW

ROOTS = ("keras", "tf.keras")

# fmt: off
DANGEROUS = [
    "tf.py_function", "tf.numpy_function", "tf.map_fn", "tf.while_loop", "tf.cond", "tf.case",
    "tf.switch_case", "tf.scan", "tf.foldl", "tf.foldr", "tf.vectorized_map", "tf.function",
    "tf.recompute_grad", "tf.custom_gradient", "tf.grad_pass_through", "tf.print", "tf.Assert",
    "tf.load_op_library", "tf.load_library", "tf.Variable", "tf.no_gradient",
    "tf.register_tensor_conversion_function", "tf.import_graph_def", "tf.init_scope",
    "tf.keras.activations.get", "tf.keras.activations.deserialize", "tf.keras.losses.deserialize",
    "tf.keras.losses.get", "tf.random.set_seed", "tf.random.set_global_generator",
    "tf.random.fixed_unigram_candidate_sampler", "tf.nn.fixed_unigram_candidate_sampler",
    "tf.image.decode_image", "tf.image.encode_png", "tf.nn.with_space_to_batch",
    "tf.raw_ops.PyFunc", "tf.raw_ops.EagerPyFunc", "tf.raw_ops.PyFuncStateless",
    "tf.raw_ops.WriteFile", "tf.raw_ops.ReadFile", "tf.raw_ops.Save", "tf.raw_ops.Restore",
    "tf.raw_ops.Print", "tf.raw_ops.Assert", "tf.raw_ops.Assign", "tf.raw_ops.InplaceAdd",
    "tf.raw_ops.Batch", "tf.raw_ops.Enter", "tf.raw_ops.Abort", "tf.raw_ops.DebugIdentityV2",
    "tf.raw_ops.CollectiveReduce", "tf.raw_ops.Copy", "tf.raw_ops.PartitionedCall",
    "tf.raw_ops.While", "tf.raw_ops.If", "tf.raw_ops.SdcaOptimizer",
    "tf.raw_ops.TensorArrayV3", "tf.raw_ops.TensorArrayReadV3", "tf.raw_ops.RandomGamma",
    "tf.raw_ops.DebugNumericSummary", "tf.raw_ops.OptionalHasValue",
    "tf.raw_ops.CompositeTensorVariantFromComponents", "tf.nn.experimental.general_dropout",
    "tf.random.experimental.set_global_generator", "tf.random.experimental.Generator",
    "tf.experimental.numpy.experimental_enable_numpy_behavior", "tf.sparse.map_values",
    "tf.ragged.map_flat_values", "tf.nest.map_structure", "tf.TensorArray",
    "keras.activations.get", "keras.activations.deserialize", "keras.losses.get",
    "keras.layers.deserialize", "keras.layers.Input", "keras.ops.custom_gradient",
    "keras.ops.vectorize", "keras.ops.vectorized_map", "keras.ops.map", "keras.ops.scan",
    "keras.ops.cond", "keras.ops.while_loop", "keras.ops.fori_loop", "keras.ops.jvp",
    "keras.ops.switch", "keras.ops.associative_scan", "keras.ops.convert_to_numpy",
    "tf.keras.ops.cond", "tf.keras.ops.while_loop", "tf.keras.utils.get_file",
]

# Layers that run code, read files or have nothing to differentiate.
NO_LAYERS = [
    "Lambda", "Layer", "Wrapper", "Input", "InputLayer", "TFSMLayer", "TorchModuleWrapper",
    "JaxLayer", "FlaxLayer", "StringLookup", "IntegerLookup", "TextVectorization", "Hashing",
    "HashedCrossing", "Discretization", "deserialize",
]
# fmt: on

# fmt: off
WANTED = [
    "tf.linalg.matmul", "tf.matmul", "tf.einsum", "tf.reduce_sum", "tf.math.reduce_sum",
    "tf.reshape", "tf.concat", "tf.cast", "tf.stop_gradient", "tf.identity", "tf.zeros", "tf.ones",
    "tf.constant", "tf.range", "tf.eye", "tf.fill", "tf.linspace", "tf.gather_nd", "tf.where",
    "tf.clip_by_value", "tf.nn.softmax", "tf.nn.conv2d", "tf.signal.stft", "tf.image.resize",
    "tf.random.normal", "tf.random.stateless_uniform", "tf.keras.activations.relu",
    "tf.keras.losses.mse", "tf.math.special.dawsn", "tf.linalg.svd", "tf.raw_ops.Roll",
    "tf.raw_ops.MatMul", "tf.raw_ops.StridedSlice", "tf.raw_ops.IdentityN",
    "tf.raw_ops.CheckNumerics", "tf.raw_ops.TensorListPushBack", "tf.raw_ops.RaggedTensorToTensor",
    "tf.raw_ops.SparseMatrixMatMul", "tf.nn.experimental.stateless_dropout",
    "tf.experimental.numpy.tanh", "tf.experimental.numpy.cross", "tf.linalg.cross",
    "tf.sparse.to_dense", "tf.sparse.sparse_dense_matmul", "tf.sparse.softmax",
    "tf.ragged.constant", "tf.RaggedTensor.from_row_lengths", "tf.SparseTensor",
    "tf.nn.embedding_lookup_sparse", "keras.ops.softmax", "keras.ops.image.resize",
    "keras.ops.nn.relu", "keras.activations.relu", "keras.losses.mean_squared_error",
    "keras.layers.add", "keras.random.normal", "tf.keras.ops.softmax",
]
# fmt: on


@pytest.mark.parametrize("name", DANGEROUS)
def test_nothing_dangerous_is_allowed(name: str) -> None:
    assert name not in ALLOWED


@pytest.mark.parametrize("name", WANTED)
def test_the_usual_functions_are_allowed(name: str) -> None:
    assert name in ALLOWED


def test_whole_modules_are_out() -> None:
    modules = "io debugging summary saved_model train data distribute config compat autograph"
    others = "queue lookup audio strings sets profiler tpu feature_column"
    keras = "saving utils models datasets callbacks config backend export src trees"
    prefixes = tuple(f"tf.{module}." for module in (modules + " " + others).split())
    prefixes += tuple(f"{root}.{module}." for module in keras.split() for root in ROOTS)
    assert not [name for name in CALLABLE | LAYERS if name.startswith(prefixes)]
    experimental = {name for name in CALLABLE if name.startswith("tf.experimental.")}
    assert all(name.startswith("tf.experimental.numpy.") for name in experimental)


def test_every_name_is_dotted_and_public() -> None:
    pattern = r"(tf|keras)(\.[A-Za-z][A-Za-z0-9_]*)+"
    assert all(re.fullmatch(pattern, name) for name in CALLABLE | LAYERS)


@pytest.mark.parametrize("name", NO_LAYERS)
def test_no_dangerous_layer_is_allowed(name: str) -> None:
    assert not {f"{root}.layers.{name}" for root in ROOTS} & (LAYERS | CALLABLE)
    assert why_refused(f"keras.layers.{name}")


@pytest.mark.parametrize(
    "name", ["keras.layers.Dense", "tf.keras.layers.Dense", "keras.Sequential"]
)
def test_layers_are_allowed(name: str) -> None:
    assert name in LAYERS


def test_what_takes_functions_is_for_expressions_alone() -> None:
    assert CONTROL_FLOW.keys() <= CALLABLE
    assert not CONTROL_FLOW.keys() & ALLOWED
    for name, flow in CONTROL_FLOW.items():
        wanted = {*flow.functions, flow.bound, *flow.start} - {""}
        assert wanted <= set(parameters(name).names), name


def test_nothing_is_both_allowed_and_refused() -> None:
    assert not [name for name in CALLABLE | LAYERS if why_refused(name)]


def test_the_parameters_of_functions_are_known() -> None:
    conv = parameters("tf.nn.conv2d")
    assert conv.required == {"input", "filters", "strides", "padding"}
    assert conv.takes("dilations")
    assert not conv.takes("dilation")
    assert parameters("tf.raw_ops.Roll").by_position == ()


def test_the_parameters_of_layers_are_known() -> None:
    dense = layer_parameters("tf.keras.layers.Dense")
    assert dense.init.required == {"units"}
    assert dense.init.takes("dtype")
    assert dense.call.required == {"inputs"}
    assert layer_parameters("keras.layers.Flatten").call.takes("training")
    assert layer_parameters("keras.losses.Huber").call.required == {"y_true", "y_pred"}
    assert "cell" not in layer_parameters("keras.layers.LSTM").init.names


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("tf.squar", "tf.square"),
        ("tf.linalg.matmull", "tf.linalg.matmul"),
        ("np.exp", "tf.exp"),
        ("sum", "tf.reduce_sum"),
        ("log", "tf.math.log"),
        ("tf.log", "tf.math.log"),
        ("tf.softmax", "tf.math.softmax"),
        ("tf.raw_ops.Matmul", "tf.raw_ops.MatMul"),
        ("tf.io.write_file", None),
        ("__import__", None),
        ("keras.ops.sofmax", "keras.ops.softmax"),
    ],
)
def test_the_nearest_name_is_found(name: str, near: str | None) -> None:
    assert nearest(name) == near


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("Dense", "keras.layers.Dense"),
        ("keras.layers.Dens", "keras.layers.Dense"),
        ("tf.keras.layers.dense", "keras.layers.Dense"),
        ("keras.MeanSquaredError", "keras.losses.MeanSquaredError"),
        ("Sequential", "keras.Sequential"),
        ("os.system", None),
    ],
)
def test_the_nearest_layer_is_found(name: str, near: str | None) -> None:
    assert nearest_layer(name) == near


def test_an_equivalent_is_never_a_guess() -> None:
    assert equivalent("numpy") is None
    assert equivalent("mean") == "tf.reduce_mean"


def test_modules_are_known_as_such() -> None:
    assert is_module("tf.linalg")
    assert not is_module("tf.linalg.matmul")


def found(name: str) -> Any:
    """What a dotted name stands for in what is installed; None where it has nothing."""
    root, *parts = name.split(".")
    value: Any = importlib.import_module({"tf": "tensorflow"}.get(root, root))
    for part in parts:
        value = getattr(value, part, None)
    return value


def test_the_list_fits_the_installed_tensorflow() -> None:
    missing = []
    for name in sorted(ALLOWED):
        # Names of Keras' are reached through TensorFlow too, as far as it has them.
        function = found(name.removeprefix("tf.") if name.startswith("tf.keras.") else name)
        function = found(name) if function is None else function
        if function is None:
            missing.append(name)
            continue
        assert callable(function), name
        assert not inspect.isclass(function) or function.__name__ in COMPOSITES, name
        for parameter in inspect.signature(function).parameters.values():
            must = parameter.default is inspect.Parameter.empty
            takes_code = re.fullmatch(r"f|fn|fun|func|body|callable|\w+_fn", parameter.name)
            # Kernels have tensors by the name of `f`, the gate of an LSTM.
            kernel = name.startswith("tf.raw_ops.")
            assert not (must and takes_code and not kernel), (
                f"{name} takes a callable: {parameter.name}"
            )
            assert not re.search("file|path", parameter.name), f"{name}: {parameter.name}"
    # Other versions have a few less.
    assert len(missing) < len(ALLOWED) // 10, missing


COMPOSITES = ("SparseTensor", "IndexedSlices")
"""Classes that make a tensor of tensors."""


def test_the_layers_fit_the_installed_keras() -> None:
    for name in sorted(LAYERS):
        if name.startswith("keras."):
            kind = found(name)
            assert kind is None or inspect.isclass(kind), name
            assert not re.search("file|path|function", allowed_words(name)), name


def allowed_words(name: str) -> str:
    return " ".join(layer_parameters(name).init.names)
