"""Which functions and classes of TensorFlow's and Keras' a spec may not name, and why not."""

from __future__ import annotations

import re

_CALLABLES = "it answers a Python function, or only means something around Python code"
_OUTSIDE = "it touches the outside, or TensorFlow's own state"
_NO_TENSOR = "its answer is no tensor of numbers"
_OBJECTS = "it makes an object of a text or a text of an object"
_TEXTS = "it gives texts, or hashes of them, which have no gradient"
_SYMBOLIC = "it makes a symbolic tensor, which has no values"

REFUSED_FUNCTIONS: dict[tuple[str, str], str] = {
    (
        "",
        "control_dependencies custom_gradient function general_dropout grad_pass_through"
        " inverse_stft_window_fn nondifferentiable_batch_function numpy_function py_function"
        " recompute_grad vectorize with_space_to_batch",
    ): _CALLABLES,
    (
        "tf.",
        "Assert assert_equal assert_greater assert_less assert_rank check_pinned create_rng_state"
        " device executing_eagerly experimental_enable_numpy_behavior get_current_name_scope"
        " get_global_generator get_logger group import_graph_def init_scope inside_function"
        " load_library load_op_library no_gradient no_op print register_tensor_conversion_function"
        " set_global_generator set_seed timestamp variable_creator_scope compute_average_loss"
        " scale_regularization_loss",
    ): _OUTSIDE,
    ("tf.", "gradients hessians"): "it differentiates by itself, and in graphs alone",
    ("", "deserialize get serialize"): _OBJECTS,
    ("keras.layers.", "Input"): _SYMBOLIC,
    (
        "tf.",
        "as_dtype as_string broadcast_dynamic_shape broadcast_static_shape edit_distance"
        " extract_jpeg_shape fingerprint get_static_value is_jpeg"
        " is_symbolic_tensor is_tensor make_ndarray make_tensor_proto parallel_stack"
        " ragged_fill_empty_rows ragged_fill_empty_rows_grad required_space_to_batch_paddings"
        " tuple type_spec_from_value finfo iscomplexobj isrealobj isscalar issubdtype promote_types"
        " result_type",
    ): _NO_TENSOR,
    ("tf.sparse.", "cross cross_hashed"): _TEXTS,
    ("tf.ragged.", "cross cross_hashed"): _TEXTS,
    ("", "ctc_beam_search_decoder ctc_decode"): "it decodes to whole numbers",
    ("keras.", "convert_to_numpy is_tensor"): _NO_TENSOR,
}
"""By where they stand and their names: why they are refused."""

REFUSED_PREFIXES = {
    "decode_": "it decodes bytes",
    "encode_": "it encodes into bytes",
}

_BASE = "it is a base class, and does nothing by itself"

REFUSED_TYPES = {
    "TensorArray": "it is an object with methods: write tf.scan, tf.map_fn or tf.stack",
    "Variable": "it keeps state: write `variable: true` at an input",
    "RaggedTensor": "it is made by tf.RaggedTensor.from_row_lengths and its like",
    "GradientTape": "it differentiates by itself",
    "LinearOperator": "it is an object with methods: write the matrix",
    "RNNCell": "it is an object with methods: write `layer:` with one of Keras'",
}
"""By the beginning of a class' name: why it is refused as a function."""

REFUSED_CLASSES = {
    "Layer Loss Wrapper": _BASE,
    "InputSpec Reduction": "it is no layer",
    "InputLayer": _SYMBOLIC,
    "Lambda": "it takes a Python function: write `expr:`, or a layer of your own",
    "FlaxLayer JaxLayer TorchModuleWrapper": "it runs the code of another framework",
    "TFSMLayer": "it runs a program that it reads from the disk",
    "IntegerLookup StringLookup TextVectorization": "it may read its vocabulary from a file",
    "Discretization HashedCrossing Hashing": "it gives whole numbers, which have no gradient",
}
"""By names of classes: why they are refused."""

# A required parameter of such a name takes a Python callable.
CALLABLE_PARAMETER = re.compile(
    r"^(f|fn|fun|func|function|pyfunc|body|body_fun|callable|\w+_fns?|\w+_func)$"
)

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

# Values that lists, sparse matrices and ragged tensors are packed into, and out of again: kernels
# without state, which mean something only one behind the other, as an expression has them.
HANDLED_KERNELS = re.compile(
    r"^(CSRSparseMatrixTo(Dense|SparseTensor)|DenseToCSRSparseMatrix|SparseTensorToCSRSparseMatrix"
    r"|SparseMatrix(Add|MatMul|Mul|Softmax|SparseMatMul|Transpose)"
    r"|EmptyTensorList|TensorList(Concat|FromTensor|Gather|GetItem|PopBack|PushBack|Reserve|Resize"
    r"|Scatter|ScatterIntoExistingList|SetItem|Split|Stack)(V2)?"
    r"|Optional(FromValue|GetValue)"
    r"|Ragged(Gather|FillEmptyRows)|RaggedTensor(From|To)Variant|RaggedTensorTo(Sparse|Tensor))$"
)

# TensorFlow calls them stateful, so that no graph is pruned of them; they change nothing.
PURE_ALL_THE_SAME = frozenset({"CheckNumerics", "CheckNumericsV2"})
