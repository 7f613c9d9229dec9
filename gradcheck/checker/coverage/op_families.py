"""To which family a registered gradient belongs: the module that defines it tells, mostly."""

from __future__ import annotations

import re

_BY_NAME = (
    ("special", r"Bessel.*|Lgamma|Digamma|Polygamma|Zeta|Igamma.*|Betainc|Erf.*|Ndtri|Dawsn|Expint"
     r"|Fresnel.*|Spence|RandomGammaGrad"),
    ("segment", r".*Segment.*"),
    ("reduction", r"Sum|Mean|Prod|Max|Min|EuclideanNorm|Cum.*|All|Any|AddN|AccumulateNV2"),
    ("quantization", r"FakeQuant.*|Quantize.*"),
    ("scatter", r".*Scatter.*|Gather.*|ResourceGather.*|Dynamic.*|ParallelDynamic.*"),
    ("linalg", r"MatMul|BatchMatMul.*|.*Einsum|MatrixDiag.*|MatrixSetDiag.*|MatrixBandPart"
     r"|Diag.*|SelfAdjoint.*|Cross"),
    ("sparse", r"Sparse.*|CSRSparse.*|DenseToCSR.*"),
    ("random", r"Random.*|Stateless(Gamma|Random).*"),
)  # fmt: skip
"""Families whose ops stand among others in TensorFlow's modules, by the names of the ops."""

_COARSE = ("math_grad", "array_grad", "array_ops", "data_flow_grad", "math_ops", "special_math_ops")
"""The modules in which they do."""

_BY_MODULE = {
    "math": ("math_grad", "math_ops", "special_math_ops", "clip_ops"),
    "array": ("array_grad", "array_ops", "data_flow_grad", "manip_grad"),
    "nn": ("nn_grad", "nn_fused_batch_norm_grad", "ctc_ops"),
    "linalg": ("linalg_grad",),
    "sparse": ("sparse_grad", "sparse_csr_matrix_grad"),
    "ragged": ("ragged",),
    "image": ("image_grad", "image_ops"),
    "signal": ("fft_ops",),
    "random": ("random_grad",),
    "rnn": ("rnn_grad", "cudnn_rnn_grad"),
    "control_flow": ("control_flow_grad", "cond_v2", "while_v2", "optional_grad"),
    "list": ("list_ops", "tensor_array_grad", "composite_tensor_ops"),
    "variable": ("resource_variable_ops",),
    "distribution": ("tpu", "nccl_ops", "dtensor"),
    "xla": ("xla", "xla_ops_grad"),
    "debugging": ("debug", "script_ops", "check_ops", "logging_ops"),
}
"""By family: parts of the names of modules, of which the last that fits counts."""

_FAMILIES = {part: family for family, parts in _BY_MODULE.items() for part in parts}


def family_of(op: str, module: str) -> str:
    """The family of the op whose gradient function is defined in that module.

    What is in no module that is known here has the module's own last name, and what is not of
    TensorFlow that of its package.
    """
    parts = module.split(".")
    if parts[0] not in ("tensorflow", "keras"):
        return parts[0]
    if parts[-1] in _COARSE:
        for family, names in _BY_NAME:
            if re.fullmatch(names, op):
                return family
    known = [_FAMILIES[part] for part in parts if part in _FAMILIES]
    return known[-1] if known else parts[-1]
