"""The list of allowed functions: nothing dangerous, all the usual."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from gradcheck.spec.expression.allowlist import ALLOWED, equivalent, is_module, nearest

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
    others = (
        "queue lookup audio strings sparse sets ragged profiler tpu experimental feature_column"
    )
    prefixes = tuple(f"tf.{module}." for module in (modules + " " + others).split())
    assert not [name for name in ALLOWED if name.startswith(prefixes)]


def test_every_name_is_dotted_and_public() -> None:
    assert all(re.fullmatch(r"tf(\.[A-Za-z][A-Za-z0-9_]*)+", name) for name in ALLOWED)


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
    ],
)
def test_the_nearest_name_is_found(name: str, near: str | None) -> None:
    assert nearest(name) == near


def test_an_equivalent_is_never_a_guess() -> None:
    assert equivalent("numpy") is None
    assert equivalent("mean") == "tf.reduce_mean"


def test_modules_are_known_as_such() -> None:
    assert is_module("tf.linalg")
    assert not is_module("tf.linalg.matmul")


def test_the_list_fits_the_installed_tensorflow() -> None:
    import tensorflow as tf

    missing = []
    for name in sorted(ALLOWED):
        function: Any = tf
        for part in name.split(".")[1:]:
            function = getattr(function, part, None)
        if function is None:
            missing.append(name)
            continue
        assert callable(function), name
        assert not inspect.isclass(function), name
        for parameter in inspect.signature(function).parameters.values():
            must = parameter.default is inspect.Parameter.empty
            takes_code = re.fullmatch(r"f|fn|func|body|callable|\w+_fn", parameter.name)
            # Kernels have tensors by the name of `f`, the gate of an LSTM.
            kernel = name.startswith("tf.raw_ops.")
            assert not (must and takes_code and not kernel), (
                f"{name} takes a callable: {parameter.name}"
            )
            assert not re.search("file|path", parameter.name), f"{name}: {parameter.name}"
    # Other versions have a few less.
    assert len(missing) < len(ALLOWED) // 10, missing
