"""Prints the pure TensorFlow functions that a spec may name, one dotted name a line.

Run by hand on a TensorFlow upgrade, and read the difference before keeping it:

    python tools/allowlist.py > gradcheck/spec/expression/allowed_tensorflow.txt

A function is listed when it maps tensors to tensors and touches nothing else: no files, no global
state, no Python callables.
"""

from __future__ import annotations

import inspect
import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Modules whose functions are pure unless a rule below says otherwise; "" is `tf` itself.
MODULES = (
    "",
    "dtypes",
    "image",
    "keras.activations",
    "keras.losses",
    "linalg",
    "math",
    "math.special",
    "nn",
    "quantization",
    "random",
    "signal",
)

# fmt: off
DENIED = frozenset({
    # Control flow, and what takes or answers Python callables.
    "case", "cond", "control_dependencies", "custom_gradient", "function", "grad_pass_through",
    "inverse_stft_window_fn", "nondifferentiable_batch_function", "numpy_function", "py_function",
    "recompute_grad", "with_space_to_batch",
    # The outside, and TensorFlow's own state.
    "Assert", "assert_equal", "assert_greater", "assert_less", "assert_rank", "check_pinned",
    "create_rng_state", "device", "executing_eagerly", "get_current_name_scope",
    "get_global_generator", "get_logger", "group", "import_graph_def", "init_scope",
    "inside_function", "load_library", "load_op_library", "no_gradient", "no_op", "print",
    "register_tensor_conversion_function", "set_global_generator", "set_seed", "timestamp",
    "variable_creator_scope", "compute_average_loss", "scale_regularization_loss",
    # Answers that are no tensors, or no numbers; Keras' way from a text to an object.
    "as_dtype", "as_string", "broadcast_dynamic_shape", "broadcast_static_shape", "deserialize",
    "edit_distance", "extract_jpeg_shape", "fingerprint", "get", "get_static_value", "gradients",
    "hessians", "is_jpeg", "is_symbolic_tensor", "is_tensor", "make_ndarray", "make_tensor_proto",
    "parallel_stack", "ragged_fill_empty_rows", "ragged_fill_empty_rows_grad",
    "required_space_to_batch_paddings", "serialize", "tuple", "type_spec_from_value",
})
# fmt: on
DENIED_PREFIXES = ("decode_", "encode_", "embedding_lookup_sparse", "safe_embedding_lookup_sparse")

# A required parameter of such a name takes a Python callable.
CALLABLE_PARAMETER = re.compile(r"^(f|fn|func|function|body|callable|\w+_fns?|\w+_func)$")

# A parameter of such a name reads the disk, whether it is required or not.
FILE_PARAMETER = re.compile(r"file|path|directory", re.IGNORECASE)

# Kernels that talk to the outside, to other devices or to a debugger, write into their inputs, or
# are pieces of control flow that mean nothing alone.
DENIED_KERNELS = re.compile(
    r"Py(Func|thon)|EagerPy|File|Dataset|Save|Restore|IO|Print|Assert|Debug|Send|Recv|Collective"
    r"|TPU|Tpu|Xla|XLA|Infeed|Outfeed|HostCompute|Nccl|Dump|Summary|Stage|Queue|Barrier|Iterator"
    r"|TRT|Mlir|Symbolic|Cudnn|BatchFunction|Unbatch|Copy|Abort|Mutex|Custom|Remote|Checkpoint"
    r"|Uniform(De)?[Qq]uant|Requant|Inplace|Sdca|BoostedTrees|SparseCore|Ragged|CheckPinned"
    r"|^(Batch|Enter|Exit|Merge|Switch|NextIteration|EditDistance)$"
)

DIFFERENTIABLE = frozenset({"half", "bfloat16", "float", "double", "complex64", "complex128"})
PLAIN = DIFFERENTIABLE | {
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
}  # fmt: skip


def public_functions(tf: Any) -> Iterator[str]:
    """The dotted names of the pure functions in MODULES."""
    for path in MODULES:
        module = tf
        for part in filter(None, path.split(".")):
            module = getattr(module, part)
        for name in dir(module):
            value = getattr(module, name)
            if name.startswith("_") or not callable(value) or inspect.isclass(value):
                continue
            if name in DENIED or name.startswith(DENIED_PREFIXES) or not _plain_parameters(value):
                continue
            yield ".".join(filter(None, ("tf", path, name)))


def _plain_parameters(function: Callable[..., Any]) -> bool:
    """Whether a call needs no callable and can name no file."""
    parameters = inspect.signature(function).parameters.values()
    return not any(
        FILE_PARAMETER.search(p.name)
        or (CALLABLE_PARAMETER.match(p.name) and p.default is inspect.Parameter.empty)
        for p in parameters
    )


def raw_kernels(tf: Any) -> Iterator[str]:
    """The dotted names of the stateless kernels from floating-point tensors to such tensors."""
    from tensorflow.python.framework import dtypes, op_def_registry

    for name in dir(tf.raw_ops):
        definition = op_def_registry.get(name)
        if definition is None or definition.is_stateful or DENIED_KERNELS.search(name):
            continue
        if any(a.is_ref for a in definition.input_arg):
            continue
        if any(a.type in ("func", "list(func)") for a in definition.attr):
            continue
        if any(FILE_PARAMETER.search(a.name) for a in definition.attr):
            continue
        attributes = {a.name: a for a in definition.attr}

        def kinds(argument: Any, attributes: dict[str, Any] = attributes) -> set[str]:
            if argument.type:
                return {_kind(dtypes, argument.type)}
            attribute = attributes[argument.type_attr or argument.type_list_attr]
            allowed = attribute.allowed_values.list.type
            return {_kind(dtypes, t) for t in allowed} if allowed else set(PLAIN)

        takes = [kinds(a) for a in definition.input_arg]
        gives = [kinds(a) for a in definition.output_arg]
        if any(not (kind & PLAIN) for kind in takes + gives):
            continue
        if any(k & DIFFERENTIABLE for k in takes) and any(k & DIFFERENTIABLE for k in gives):
            yield f"tf.raw_ops.{name}"


def _kind(dtypes: Any, number: int) -> str:
    name = str(dtypes.as_dtype(number).name)
    return {"float16": "half", "float32": "float", "float64": "double"}.get(name, name)


def main() -> None:
    """Print the list, sorted."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    print("\n".join(sorted({*public_functions(tf), *raw_kernels(tf)})))


if __name__ == "__main__":
    main()
