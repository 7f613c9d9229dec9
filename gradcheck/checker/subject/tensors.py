"""The border to TensorFlow: structures of tensors in and out of a function under test."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker import limits
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.flatten import flatten
from gradcheck.errors import UsageError

if TYPE_CHECKING:
    from gradcheck.model import Array

Function = Callable[..., Any]
"""Takes tensors by position, returns any structure of tensors."""


class FunctionRaised(Exception):  # noqa: N818  (it becomes a verdict)
    """The function under test raised; made of what it raised, or of what is to be told."""

    def __str__(self) -> str:
        """What is told; worked out when somebody asks, for most attempts at a batch raise."""
        (told,) = self.args
        if isinstance(told, BaseException):
            return explain_exception(told) + where_raised(told)
        return str(told)


def call(function: Function, arguments: Sequence[Any]) -> list[Any]:
    """The floating-point and complex tensors that the function under test returns, in order.

    Whatever it raises comes as FunctionRaised.
    """
    try:
        returned = function(*arguments)
    except (UsageError, Ended):
        # It is about the case, and not what the function did.
        raise
    except Exception as error:
        raise FunctionRaised(error) from error
    return differentiable_outputs(returned)


def differentiable_outputs(structure: Any) -> list[Any]:
    """The floating-point and complex tensors of whatever a function returned, in order."""
    import tensorflow as tf

    if isinstance(structure, tf.Tensor):
        # The usual case, without the cost of walking through a structure.
        dtype = structure.dtype
        return [structure] if dtype.is_floating or dtype.is_complex else []
    outputs = []
    for leaf in flatten(structure, "").leaves:
        if leaf is None or isinstance(leaf, str | bytes):
            continue
        try:
            tensor = tf.convert_to_tensor(leaf)
        except (TypeError, ValueError):  # no tensor, and so no output to differentiate
            continue
        except Exception as error:  # an object of the user's that does something when it is asked
            raise FunctionRaised(error) from error
        if tensor.dtype.is_floating or tensor.dtype.is_complex:
            outputs.append(tensor)
    return outputs


def to_numpy(tensor: Any) -> Array:
    """A tensor, or the slices that stand for one, as a dense array."""
    import tensorflow as tf

    return np.asarray(tf.convert_to_tensor(tensor).numpy())


def in_double(values: Sequence[Array]) -> list[Array]:
    """Floating-point values as float64, complex ones as complex128, the others as they are."""
    return [widen(value) for value in values]


def widen(value: Array) -> Array:
    """One value in double precision; integers and booleans stay."""
    if value.dtype.kind == "c":
        return value.astype(np.complex128, copy=False)
    return value.astype(np.float64, copy=False) if is_floating(value.dtype) else value


@cache
def is_low_precision(dtype: np.dtype[Any]) -> bool:
    """Whether numbers of this dtype have less than double precision."""
    return dtype == np.complex64 or (is_floating(dtype) and dtype != np.float64)


@cache
def tf_dtype(dtype: np.dtype[Any]) -> Any:
    """What TensorFlow calls it."""
    import tensorflow as tf

    return tf.as_dtype(dtype)


@cache
def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype holds real floating-point numbers, bfloat16 included."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def is_differentiable(dtype: np.dtype[Any]) -> bool:
    """Whether an input of this dtype can have a gradient."""
    return dtype.kind == "c" or is_floating(dtype)


@cache
def wider() -> dict[Any, Any]:
    """By TensorFlow's dtype of less than double precision: the one that has it."""
    import tensorflow as tf

    real = dict.fromkeys((tf.float32, tf.float16, tf.bfloat16), tf.float64)
    return {**real, tf.complex64: tf.complex128}


def lowest_precision(dtypes: Sequence[np.dtype[Any]]) -> np.dtype[Any] | None:
    """What numbers of these dtypes are rounded to; None for double precision."""
    for dtype in dtypes:
        if dtype == np.float64:
            continue
        if is_floating(dtype):
            return dtype
        if dtype == np.complex64:
            return np.dtype(np.float32)
    return None


_DTYPES = {
    "half": "float16",
    "bfloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
    "complex64": "complex64",
    "complex128": "complex128",
}
"""What TensorFlow's messages call them, and what people do."""


def explain_exception(error: BaseException) -> str:
    """The telling line of an exception, without TensorFlow's decoration."""
    if isinstance(error, FunctionRaised):
        return str(error)
    text = _text_of(error)
    # Graph errors name their node in braces, eager ones their op at the end.
    text = re.sub(r"\{\{[^}]*\}\}|\[Op:\w+\]( name: ?)?", "", text)
    missing = re.search(r"Could not find device for node:.*= (\w+)\[.*?T=DT_(\w+)", text)
    if missing:
        name = missing[2].lower()
        dtype = _DTYPES.get(name, name)
        return f"TensorFlow has no {dtype} kernel for {missing[1]} on this device"
    refused = re.search(r"Value for attr '\w+' of (\w+) is not in the list of allowed values", text)
    if refused:
        # (Which of several attributes is named, and so what it allows, differs from run to run.)
        return f"{type(error).__name__}: it takes no {_DTYPES.get(refused[1], refused[1])}"
    unregistered = re.search(r"gradient registry has no entry for: (\w+)", text)
    if unregistered:
        name = unregistered[1]
        return (
            f"LookupError: TensorFlow has no gradient for {name}. Register one "
            f'(tf.RegisterGradient("{name}")), or wrap the call in a tf.custom_gradient'
        )
    mixed = re.search(r"expected to be an? (\w+) tensor but is an? (\w+) tensor", text)
    if mixed and set(mixed.groups()) <= _DTYPES.keys():
        wanted, given = (_DTYPES[name] for name in mixed.groups())
        text = (
            f"{text.strip()}: {wanted} and {given} do not mix. Give the inputs the dtype that the "
            "function's own tensors have (`dtype:` in a spec), or let those follow its input "
            "(tf.cast(w, x.dtype))"
        )
    if _is_no_pair(error, text):
        text = (
            f"{text.strip()}: what stands under tf.custom_gradient must return two things, its "
            "value and the function of its gradient"
        )
    reason, where = _reason(text)
    reason = _cut(reason, limits.LONGEST_REASON)
    return f"{type(error).__name__}: {reason}{where}" if reason else type(error).__name__


_TAKEN_APART = re.compile("unpack|iterate over|unsupported callable")
"""What Python says of something that is not the two things that were asked for."""


def _is_no_pair(error: BaseException, text: str) -> bool:
    """Whether TensorFlow raised it over what a function under tf.custom_gradient had returned.

    (Eagerly: in what is traced TensorFlow drops the frames that tell.)
    """
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    homes = [at for at, file in enumerate(files) if file.endswith(_CUSTOM_GRADIENT)]
    behind = files[homes[-1] :] if homes else []
    return bool(behind and _TAKEN_APART.search(text)) and not any(map(is_own_code, behind))


_CUSTOM_GRADIENT = "tensorflow/python/ops/custom_gradient.py"


def _text_of(error: BaseException) -> str:
    """What an exception says of itself; what that does, and how long it is, is the user's too.

    Without it `test_what_an_exception_says_of_itself` fails.
    """
    try:
        return _cut(str(getattr(error, "message", "") or error), limits.LONGEST_ERROR)
    except Exception as other:
        return f"its text raises {type(other).__name__}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} … {text[-most // 2 :]}"


_TRACED = re.compile(r"\n {4}[\w.]+: (?P<message>(?:.|\n)*)")
_CALLED = re.compile(r"Exception encountered when calling (?P<name>\S+)\(\)\.\s*")
_INFERRED = re.compile(r"Could not automatically infer (?:.|\n)*?Error encountered:\s*")


def _reason(text: str) -> tuple[str, str]:
    """The line that tells why, and in brackets which layer was called, if one was.

    What is traced raises with the user's stack before the message, and a layer with its arguments
    behind it. Without it `test_what_a_layer_raises_is_told_with_its_reason` fails.
    """
    text, where = re.sub(r"\x1b\[\d*m", "", text).strip(), ""
    if text.startswith("in user code:"):
        frames = [m.end() for m in re.finditer(r'\n {4}File ".*', text)]
        told = _TRACED.search(text, frames[-1] if frames else 0)
        if told is not None:
            return _reason(told["message"].replace("\n    ", "\n"))
    while match := _CALLED.match(text) or _INFERRED.match(text):
        where = f" (in {match['name']})" if match.re is _CALLED else where
        text = text[match.end() :].partition("Arguments received by")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0] == "Graph execution error:":
        # (The reason stands behind the stack of the op's creation.)
        behind = [line for line in lines[1:] if not line.startswith("[[")]
        lines = behind[-1:] or lines
    return (lines[0] if lines else ""), where


def where_raised(error: BaseException) -> str:
    """The innermost line of the user's own code, in brackets; nothing where there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if is_own_code(f.filename)]
    if not own:
        return ""
    frame = own[-1]
    return f" ({Path(frame.filename).name}:{frame.lineno}, in {frame.name})"


def is_own_code(filename: str) -> bool:
    """Whether a file is the user's own: neither a library's nor made up while running."""
    path = Path(filename)
    if filename.startswith("<") or path.name.startswith("__autograph_generated_file"):
        return False
    if {"site-packages", "dist-packages"} & set(path.parts):
        return False
    return not (path.is_relative_to(_PACKAGE) or path.is_relative_to(_STANDARD_LIBRARY))


_PACKAGE = Path(__file__).parents[2]
_STANDARD_LIBRARY = Path(traceback.__file__).parent
