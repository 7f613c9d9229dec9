"""What of TensorFlow and Keras a function may leave changed so that later verdicts change.

Much of it has no public name. All such names are in this module; one that a version does not have
is left out, and `test_every_name_of_tensorflow_is_there` says so.
"""

from __future__ import annotations

import contextlib
import importlib
import operator
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.run.workers.process_settings import Readers

_CONTEXT = (
    *("_seed", "_device_policy", "_default_is_async", "_optimizer_jit", "_jit_compile_rewrite"),
    *("_intra_op_parallelism_threads", "_inter_op_parallelism_threads"),
    *("_soft_device_placement", "_log_device_placement", "_operation_timeout_in_ms"),
)

_NAMESPACES = (
    *("", "math", "nn", "linalg", "image", "signal", "random", "sparse", "ragged", "strings"),
    "bitwise",
)

_CLASSES = ("Tensor", "Variable", "GradientTape")


def of_tensorflow() -> Readers:
    """Settings of TensorFlow; none where this process has not loaded it."""
    if "tensorflow" not in sys.modules:
        return {}
    tf = importlib.import_module("tensorflow")
    found: Readers = {}

    def add(name: str, make: Callable[[], Callable[[], Any]]) -> None:
        # A name that is not there, or does not answer, is left out.
        with contextlib.suppress(Exception):
            read = make()
            read()
            found[name] = read

    add("eager execution", lambda: tf.executing_eagerly)
    add("functions that run eagerly", lambda: tf.config.functions_run_eagerly)
    add("TensorFloat-32", lambda: tf.config.experimental.tensor_float_32_execution_enabled)
    add("deterministic ops", lambda: _module("framework.config").is_op_determinism_enabled)
    add("the checks of every op (check_numerics)", _op_callbacks)
    add("TensorFlow's context (seed, threads, placement, XLA)", _context)
    add("optimizer options", _optimizer_options)
    add("the default device", lambda: _local("device_name"))
    add("the name scope", lambda: _local("scope_name"))
    add("the default graph", _graphs)
    add("a tape that records", _tapes)
    add("the behaviour of TensorFlow 2", lambda: _module("tf2").enabled)
    add("numpy's behaviour of tensors", _numpy_behaviour)
    add("resource variables", lambda: tf.compat.v1.resource_variables_enabled)
    add("control flow of TensorFlow 2", lambda: tf.compat.v1.control_flow_v2_enabled)
    return found


def of_keras() -> Readers:
    """Settings of Keras; none where this process has not loaded it."""
    config = getattr(sys.modules.get("keras"), "config", None)
    if config is None:
        return {}
    return {
        "Keras' floatx": config.floatx,
        "Keras' epsilon": config.epsilon,
        "Keras' image data format": config.image_data_format,
        "Keras' dtype policy": lambda: config.dtype_policy().name,
    }


def namespaces_of_tensorflow() -> dict[str, Mapping[str, Any]]:
    """What everybody calls, by name, and what is registered."""
    found: dict[str, Mapping[str, Any]] = {}
    if "tensorflow" in sys.modules:
        tf = importlib.import_module("tensorflow")
        for name in _NAMESPACES:
            found[f"tf.{name}".rstrip(".")] = vars(getattr(tf, name) if name else tf)
        for name in _CLASSES:
            found[f"tf.{name}"] = vars(getattr(tf, name))
        with contextlib.suppress(Exception):
            found["the gradient registry"] = _module("framework.ops").gradient_registry._registry
    with contextlib.suppress(Exception):
        found["Keras' custom objects"] = sys.modules["keras"].saving.get_custom_objects()
    return found


def raw_ops() -> dict[str, Mapping[str, Any]]:
    """The ops themselves: so many that they are looked at only for a case that names one."""
    if "tensorflow" not in sys.modules:
        return {}
    return {"tf.raw_ops": vars(importlib.import_module("tensorflow").raw_ops)}


def keep_seed() -> Callable[[], None]:
    """What puts TensorFlow's seed back as it is now: the check of a layer sets it for good."""
    with contextlib.suppress(Exception):
        context = _module("eager.context").context()
        before = {
            name: getattr(context, name) for name in ("_seed", "_rng") if hasattr(context, name)
        }
        return lambda: context.__dict__.update(before)
    return lambda: None


def _module(name: str) -> Any:
    return importlib.import_module(f"tensorflow.python.{name}")


def _context() -> Callable[[], Any]:
    context = _module("eager.context").context()
    names = [name for name in _CONTEXT if hasattr(context, name)]
    read = operator.attrgetter(*names)
    return lambda: read(context)


def _optimizer_options() -> Callable[[], Any]:
    context = _module("eager.context").context()
    return lambda: dict(context._optimizer_experimental_options)


def _op_callbacks() -> Callable[[], Any]:
    context = _module("eager.context").context()
    return lambda: tuple(context.op_callbacks)


def _local(name: str) -> Callable[[], Any]:
    context = _module("eager.context").context()
    return lambda: getattr(context, name)


def _graphs() -> Callable[[], Any]:
    stack = _module("framework.ops")._default_graph_stack
    return lambda: len(stack.stack)


def _tapes() -> Callable[[], Any]:
    is_empty: Callable[[], Any] = _module("pywrap_tfe").TFE_Py_TapeSetIsEmpty
    return is_empty


def _numpy_behaviour() -> Callable[[], Any]:
    ops = _module("framework.ops")
    return lambda: (ops.is_auto_dtype_conversion_enabled(), ops.is_numpy_style_type_promotion())
