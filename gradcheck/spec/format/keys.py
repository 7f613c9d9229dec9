"""The keys of the spec format, each declared once: the reader and the JSON Schema share them.

A fragment of JSON Schema says what an editor can see; what takes a look at several keys at once
(shapes that fit together, names that exist) is the reader's part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.model import CheckKind, Mode
from gradcheck.ops.language.bounds import MAX_RANK
from gradcheck.ops.samples.registry import SAMPLES
from gradcheck.spec.format.expect_keys import EXPECT_SCHEMA, KNOWN_BUG_KEYS

if TYPE_CHECKING:
    from collections.abc import Collection

Schema = dict[str, Any]

CASE_DTYPES = ("float64", "float32", "float16", "bfloat16", "complex128", "complex64")
INTEGER_DTYPES = ("int8", "int16", "int32", "int64", "uint8")
INPUT_DTYPES = (*CASE_DTYPES, *INTEGER_DTYPES, "bool")
MODES = tuple(mode.value for mode in Mode)
CHECKS = tuple(check.value for check in CheckKind)
UPSTREAMS = ("random", "ones")

TARGETS = ("op", "expr", "function", "layer")
OF_A_LAYER = ("init", "call")
"""The keys that go with `layer` alone."""
MERGED = ("inputs", "args", "init", "call", "gradient", "tolerance")
"""Where a case adds to the file's mapping, name by name; every other key it replaces."""

MAX_SEED = 2**63 - 1
"""What fits into 64 bits with a sign, as numpy and TensorFlow take seeds."""
MAX_OUTPUTS = 10_000
"""Positions beyond are a slip: no function has so many outputs."""
MAX_TIMEOUT = 86_400
"""Seconds: a day."""
LONGEST_NAME = 200
"""Characters of a name or a tag: every variant of a case has them in its id."""
NAME = rf"[A-Za-z0-9_\-.,+]{{1,{LONGEST_NAME}}}"
IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
DOTTED = rf"{IDENTIFIER}(\.{IDENTIFIER})*"
_PUBLIC = r"[A-Za-z][A-Za-z0-9_]*"
FUNCTION = rf"{_PUBLIC}(\.{_PUBLIC})*:{_PUBLIC}(\.{_PUBLIC})*"
"""A function or class of the user's: no name in it is private, in the module's neither."""
PLAIN_LETTERS = "the letters a to z and A to Z, digits and _ make a name"
"""What to say of a name with others: Python has more, of which many look like one of these."""
PATH = rf"{IDENTIFIER}(\[[^\]]+\]|\.values)*"
"""An input, or a tensor inside of one: `x`, `x['a']`, `x[0]`, `x.values`."""


def package_allowed(module: str, allow: Collection[str]) -> bool:
    """Whether a module is one of those packages, or inside of one; `my` is not part of `mypkg`."""
    return any(entry and (module == entry or module.startswith(f"{entry}.")) for entry in allow)


def _one_or_more(item: Schema) -> Schema:
    many = {"type": "array", "items": item, "minItems": 1, "uniqueItems": True}
    return {"anyOf": [item, many]}


def _by_name(value: Schema, pattern: str = IDENTIFIER) -> Schema:
    return {
        "type": "object",
        "propertyNames": {"pattern": f"^{pattern}$"},
        "additionalProperties": value,
    }


_SHAPE: Schema = {
    "type": "array",
    "items": {"type": "integer", "minimum": 0},
    "maxItems": MAX_RANK,
    "description": "A shape; [] is that of a single number.",
}
_VALUES: Schema = {"$ref": "#/definitions/values"}

INPUT_KEYS: dict[str, Schema] = {
    "shape": {**_SHAPE, "description": "The sizes; the values are drawn."},
    "values": {
        **_VALUES,
        "description": "The values: a number or nested lists; complex ones as '1+2j'.",
    },
    "sample": {
        "type": "string",
        "description": "How the values are drawn: "
        + "; ".join(f"{kind.signature}: {kind.text}" for kind in SAMPLES.values()),
        "examples": [kind.signature for kind in SAMPLES.values()],
    },
    "dtype": {"enum": list(INPUT_DTYPES), "description": "The input's own dtype."},
    "grad": {
        "type": "boolean",
        "description": "Whether its gradient is checked; by default that of real and complex ones.",
    },
    "variable": {
        "type": "boolean",
        "default": False,
        "description": "Whether the function gets a tf.Variable.",
    },
}

_INPUT: Schema = {"$ref": "#/definitions/input"}
_PARTS: Schema = {"type": "array", "items": _INPUT, "minItems": 1}
_LENGTHS: Schema = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}

STRUCTURES: dict[str, Schema] = {
    "dict": {
        "type": "object",
        "additionalProperties": _INPUT,
        "minProperties": 1,
        "description": "A dictionary of tensors; x['a'] is one of them.",
    },
    "list": {**_PARTS, "description": "A list of tensors; x[0] is the first."},
    "tuple": {**_PARTS, "description": "A tuple of tensors; x[0] is the first."},
    "ragged": {
        "anyOf": [_LENGTHS, {"type": "array", "items": _LENGTHS, "minItems": 1}],
        "description": "A ragged tensor: the length of each row, or a list of such lists, the "
        "outermost first; x.values are its values.",
    },
    "sparse": {
        **_SHAPE,
        "description": "A sparse tensor of this shape; x.values are the values that it stores.",
    },
}
"""What an input is, that is more than one tensor, or one of another kind."""

STRUCTURE_KEYS: dict[str, Schema] = {
    "inner": {**_SHAPE, "description": "Of a ragged tensor: the shape of what its rows hold."},
    "indices": {
        "type": "array",
        "items": _LENGTHS,
        "description": "Of a sparse tensor: where its values stand, in the order of the rows.",
    },
}

TOLERANCE_KEYS: dict[str, Schema] = {
    "rtol": {
        "type": "number",
        "minimum": 0,
        "exclusiveMaximum": 1,
        "description": "Relative to the element.",
    },
    "atol": {"type": "number", "minimum": 0, "description": "Absolute."},
}

CASE_KEYS: dict[str, Schema] = {
    "name": {
        "type": "string",
        "pattern": f"^{NAME}$",
        "description": "The case's name in its id; by default made of the op and the shapes.",
    },
    "op": {
        "type": "string",
        "description": "The function under test: an op of gradcheck's (`gradcheck ops`) or a "
        "TensorFlow function, tf.linalg.matmul or tf.raw_ops.Roll.",
        "examples": ["matmul", "tf.linalg.matmul", "tf.raw_ops.Roll"],
    },
    "expr": {
        "type": "string",
        "description": "The function under test: an expression over the inputs and tf functions.",
        "examples": ["tf.reduce_sum(tf.square(s * t - target))"],
    },
    "function": {
        "type": "string",
        "pattern": f"^{FUNCTION}$",
        "description": "The function under test: your own, package.module:name; its package must "
        "be allowed in pyproject.toml, [tool.gradcheck] allow, or with --allow.",
        "examples": ["mypkg.layers:swish"],
    },
    "layer": {
        "type": "string",
        "pattern": f"^({DOTTED}|{FUNCTION})$",
        "description": "The function under test: an object of this class, one of Keras' layers, "
        "losses and models, or your own, package.module:Name, whose package must be allowed.",
        "examples": ["keras.layers.Dense", "keras.losses.Huber", "mypkg.layers:Attention"],
    },
    "init": {
        **_by_name({}),
        "description": "What the class of the layer takes, plain data; {layer: …, init: {…}} "
        "stands for a layer inside.",
    },
    "call": {
        **_by_name({}),
        "description": "Keyword arguments of the layer's call, which are not differentiated.",
    },
    "inputs": {
        "anyOf": [_by_name(_INPUT), _PARTS],
        "description": "The tensors that the function takes, by the names of its parameters; a "
        "list for those that it takes by position.",
    },
    "args": {
        **_by_name({}),
        "description": "Keyword arguments of the op or function, which are not differentiated.",
    },
    "variables": {
        "type": "boolean",
        "default": True,
        "description": "Whether the variables that the function reads, such as the weights of a "
        "layer, are checked beside its inputs.",
    },
    "outputs": {
        **_one_or_more({"type": ["integer", "string"], "minimum": 0, "minLength": 1}),
        "description": "Which outputs are differentiated, by position or name; by default all.",
    },
    "dtype": {
        **_one_or_more({"enum": list(CASE_DTYPES)}),
        "default": "float64",
        "description": "The dtype of the real inputs; a list makes one case of each.",
    },
    "mode": {
        **_one_or_more({"enum": list(MODES)}),
        "default": "eager",
        "description": "How TensorFlow runs the function; a list makes one case of each.",
    },
    "check": {
        **_one_or_more({"enum": list(CHECKS)}),
        "default": ["reverse"],
        "description": "Which derivatives are checked: the tape's, the forward accumulator's, "
        "the gradient's own, the whole Jacobian.",
    },
    "upstream": {
        "anyOf": [
            {"enum": list(UPSTREAMS)},
            _VALUES,
            {
                "type": "object",
                "properties": {"outputs": {"type": "array", "items": _VALUES, "minItems": 1}},
                "required": ["outputs"],
                "additionalProperties": False,
            },
        ],
        "default": "random",
        "description": "The gradient that comes from above: random, ones, the values of it, or "
        "{outputs: […]} with the values for each of several outputs.",
    },
    "gradient": {
        **_by_name({"anyOf": [{"type": "string"}, _VALUES]}, PATH),
        "description": "What the gradients should be: by input, a numpy formula over the inputs, "
        "the args, G (upstream) and out, or the values.",
    },
    "cdf": {
        "type": "string",
        "description": "Of a function that draws a sample by rejection, whose gradient is the "
        "implicit one: its distribution function, an expression over out (the sample) and the "
        "inputs; then the gradient is compared with -dF/dx / f.",
        "examples": ["tf.math.igamma(alpha, out)"],
    },
    "expect": EXPECT_SCHEMA,
    "reason": {
        "type": "string",
        "minLength": 1,
        "description": "Why that verdict is expected; a known bug must say.",
    },
    **KNOWN_BUG_KEYS,
    "seed": {
        **_one_or_more({"type": "integer", "minimum": 0, "maximum": MAX_SEED}),
        "default": 0,
        "description": "The seed of all that is drawn; a list makes one case of each.",
    },
    "tolerance": {
        "type": "object",
        "properties": TOLERANCE_KEYS,
        "additionalProperties": False,
        "minProperties": 1,
        "description": "A tolerance by hand, in place of the one that follows from the error bars.",
    },
    "timeout": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": MAX_TIMEOUT,
        "description": "Seconds after which the case is given up.",
    },
    "budget": {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": MAX_TIMEOUT,
        "description": "Seconds of processor time to spend on evaluating the function (default "
        "10); then the verdict is on what is known, and says what is not.",
    },
    "tags": {
        **_one_or_more({"type": "string", "pattern": f"^{NAME}$"}),
        "description": "Words by which cases can be selected.",
    },
}

CASES_TEXT = (
    "The cases. Each takes over the keys of the file and overrides them; inputs, args, init, call, "
    "gradient and tolerance are merged name by name."
)
