"""Writes the lists of what a spec may name without code of the user's, and of what it may not.

Run by hand on a TensorFlow upgrade, and read the difference before keeping it:

    python -m tools.allowlist

A function is allowed when it maps tensors to tensors and touches nothing else: no files, no global
state, no Python callables. A class is, when an object of it is such a function and can be made of
plain data. Whatever else the same modules have is written down as refused, each with its reason.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcheck.spec.expression.control_flow import CONTROL_FLOW
from tools.refusals import (
    CALLABLE_PARAMETER,
    DENIED_KERNELS,
    FILE_PARAMETER,
    HANDLED_KERNELS,
    PURE_ALL_THE_SAME,
    REFUSED_CLASSES,
    REFUSED_FUNCTIONS,
    REFUSED_PREFIXES,
    REFUSED_TYPES,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parents[1] / "gradcheck" / "spec" / "expression"

# Modules whose functions are pure unless a rule says otherwise.
MODULES = (
    "tf",
    "tf.dtypes",
    "tf.experimental.numpy",
    "tf.image",
    "tf.keras.losses",
    "tf.linalg",
    "tf.math",
    "tf.math.special",
    "tf.nn",
    "tf.nn.experimental",
    "tf.quantization",
    "tf.ragged",
    "tf.random",
    "tf.random.experimental",
    "tf.signal",
    "tf.sparse",
    "keras.activations",
    "keras.layers",
    "keras.losses",
    "keras.ops",
    "keras.ops.image",
    "keras.ops.linalg",
    "keras.ops.nn",
    "keras.ops.numpy",
    "keras.random",
)

# Ways to make a tensor of another kind: classes and class methods, yet functions for all purposes.
CONSTRUCTORS = (
    "tf.IndexedSlices",
    "tf.RaggedTensor.from_nested_row_lengths",
    "tf.RaggedTensor.from_nested_row_splits",
    "tf.RaggedTensor.from_row_lengths",
    "tf.RaggedTensor.from_row_limits",
    "tf.RaggedTensor.from_row_splits",
    "tf.RaggedTensor.from_row_starts",
    "tf.RaggedTensor.from_sparse",
    "tf.RaggedTensor.from_tensor",
    "tf.RaggedTensor.from_uniform_row_length",
    "tf.RaggedTensor.from_value_rowids",
    "tf.SparseTensor",
    "tf.sparse.SparseTensor",
)

# Modules of classes whose objects are functions of tensors, and single classes of that kind.
CLASS_MODULES = ("keras.layers", "keras.losses", "tf.keras.layers")
CLASSES = ("keras.Sequential",)

DIFFERENTIABLE = frozenset({"half", "bfloat16", "float", "double", "complex64", "complex128"})
PLAIN = DIFFERENTIABLE | {
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
}  # fmt: skip


def resolve(name: str) -> Any:
    """What a dotted name of TensorFlow's or Keras' stands for."""
    root, *parts = name.split(".")
    found: Any = importlib.import_module({"tf": "tensorflow"}.get(root, root))
    for part in parts:
        found = getattr(found, part)
    return found


def public_functions() -> Iterator[tuple[str, str]]:
    """The functions of MODULES, each with the reason why it is refused; empty where it is not."""
    for path in MODULES:
        module = resolve(path)
        for name in dir(module):
            value = getattr(module, name)
            full = f"{path}.{name}"
            if name.startswith("_") or not callable(value) or inspect.ismodule(value):
                continue
            if path == "tf.keras.losses" and hasattr(resolve("keras.losses"), name):
                continue
            if full in CONTROL_FLOW or full in CONSTRUCTORS:
                continue
            if inspect.isclass(value):
                if path not in CLASS_MODULES and not path.startswith(("tf.keras", "keras")):
                    known = (r for start, r in REFUSED_TYPES.items() if name.startswith(start))
                    yield full, next(known, "it is a class, no function")
                continue
            yield full, _why_not(path, name, value)


def _why_not(path: str, name: str, function: Callable[..., Any]) -> str:
    for (root, names), reason in REFUSED_FUNCTIONS.items():
        if f"{path}.".startswith(root) and name in names.split():
            return reason
    for prefix, reason in REFUSED_PREFIXES.items():
        if name.startswith(prefix):
            return reason
    for p in inspect.signature(function).parameters.values():
        if FILE_PARAMETER.search(p.name):
            return f"it reads files: {p.name}"
        if CALLABLE_PARAMETER.match(p.name) and p.default is inspect.Parameter.empty:
            return f"it takes a Python function: {p.name}"
    return ""


def raw_kernels() -> Iterator[str]:
    """The dotted names of the stateless kernels from floating-point tensors to such tensors."""
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry

    for name in dir(tf.raw_ops):
        definition = op_def_registry.get(name)
        if definition is not None and _is_pure(name, definition) and _differentiates(definition):
            yield f"tf.raw_ops.{name}"


def _is_pure(name: str, definition: Any) -> bool:
    """Whether a kernel keeps nothing, writes into nothing, reads no files and runs no functions."""
    if definition.is_stateful and name not in PURE_ALL_THE_SAME:
        return False
    if DENIED_KERNELS.search(name) and not HANDLED_KERNELS.match(name):
        return False
    takes_functions = any(a.type in ("func", "list(func)") for a in definition.attr)
    reads_files = any(FILE_PARAMETER.search(a.name) for a in definition.attr)
    return not (takes_functions or reads_files or any(a.is_ref for a in definition.input_arg))


def _differentiates(definition: Any) -> bool:
    """Whether floating-point numbers go in and come out, or what such numbers are packed into."""
    from tensorflow.python.framework import dtypes

    attributes = {a.name: a for a in definition.attr}

    def kinds(argument: Any) -> set[str]:
        if argument.type:
            return {_kind(dtypes, argument.type)}
        attribute = attributes[argument.type_attr or argument.type_list_attr]
        allowed = attribute.allowed_values.list.type
        return {_kind(dtypes, t) for t in allowed} if allowed else set(PLAIN)

    takes = [kinds(a) for a in definition.input_arg]
    gives = [kinds(a) for a in definition.output_arg]
    packs = HANDLED_KERNELS.match(definition.name) is not None
    known = PLAIN | {"variant"} if packs else PLAIN
    if any(not (kind & known) for kind in takes + gives):
        return False
    return packs or all(any(k & DIFFERENTIABLE for k in side) for side in (takes, gives))


def _kind(dtypes: Any, number: int) -> str:
    name = str(dtypes.as_dtype(number).name)
    return {"float16": "half", "float32": "float", "float64": "double"}.get(name, name)


def classes() -> Iterator[tuple[str, str]]:
    """The classes of CLASS_MODULES and CLASSES, each with why it is refused, or nothing."""
    for path in CLASS_MODULES:
        module = resolve(path)
        for name in dir(module):
            is_own = not path.startswith("tf.") or not hasattr(resolve(path[3:]), name)
            if inspect.isclass(getattr(module, name)) and not name.startswith("_") and is_own:
                yield f"{path}.{name}", _why_no_layer(name, getattr(module, name))
    for name in CLASSES:
        yield name, ""


def _why_no_layer(name: str, kind: type) -> str:
    for names, reason in REFUSED_CLASSES.items():
        if name in names.split():
            return reason
    for parameter in _inherited(kind):
        if FILE_PARAMETER.search(parameter.name):
            return f"it reads files: {parameter.name}"
        if CALLABLE_PARAMETER.match(parameter.name):
            return f"it takes a Python function: {parameter.name}"
    return ""


def _inherited(kind: type) -> list[inspect.Parameter]:
    """What a class takes, with what it hands on to the classes that it stands on."""
    found: dict[str, inspect.Parameter] = {}
    inherited = False
    for base in kind.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
        open_ended = False
        for parameter in parameters:
            if parameter.kind is parameter.VAR_KEYWORD:
                open_ended = True
            elif parameter.kind is not parameter.VAR_POSITIONAL:
                if not inherited:
                    found[parameter.name] = parameter
                elif parameter.default is not parameter.empty:
                    # (What a class takes for granted, those that stand on it hand over themselves.)
                    how = parameter.replace(kind=parameter.KEYWORD_ONLY)
                    found.setdefault(parameter.name, how)
        inherited = True
        if not open_ended:
            break
    return sorted(found.values(), key=lambda p: p.kind)


def shown(parameters: list[inspect.Parameter], *, by_name: bool = False) -> str:
    """Parameters as the list has them: `x axis= * name=`."""
    words: list[str] = ["*"] if by_name else []
    for i, p in enumerate(parameters):
        if p.kind is p.KEYWORD_ONLY and not any(w.startswith("*") for w in words):
            words.append("*")
        stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        optional = "=" if p.default is not p.empty and not stars else ""
        words.append(f"{stars}{p.name}{optional}")
        last = i + 1 == len(parameters) or parameters[i + 1].kind is not p.POSITIONAL_ONLY
        if p.kind is p.POSITIONAL_ONLY and last:
            words.append("/")
    return " ".join(words)


def _function_line(name: str) -> str:
    parameters = list(inspect.signature(resolve(name)).parameters.values())
    # Kernels take nothing but keywords.
    return f"{name} {shown(parameters, by_name=name.startswith('tf.raw_ops.'))}".strip()


def _class_line(name: str) -> str:
    kind = resolve(name)
    is_loss = issubclass(kind, resolve("keras.Loss"))
    called = list(inspect.signature(kind.__call__ if is_loss else kind.call).parameters.values())
    if not is_loss and all(p.name != "training" for p in called):
        # Every layer takes it, and hands it to those inside.
        by_name = inspect.Parameter.KEYWORD_ONLY
        called.append(inspect.Parameter("training", by_name, default=None))
        called.sort(key=lambda p: p.kind)
    called = called[1:]
    return f"{name} {shown(_inherited(kind))} : {shown(called)}"


def main() -> None:
    """Write the three lists, sorted."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    functions, kinds = dict(public_functions()), dict(classes())
    allowed = {name for name, reason in functions.items() if not reason}
    listed = {*allowed, *raw_kernels(), *CONSTRUCTORS, *CONTROL_FLOW}
    lines = {
        "allowed_tensorflow.txt": map(_function_line, sorted(listed)),
        "allowed_layers.txt": (_class_line(n) for n in sorted(kinds) if not kinds[n]),
        "refused_tensorflow.txt": (
            f"{name} {reason}" for name, reason in sorted({**functions, **kinds}.items()) if reason
        ),
    }
    for file, rows in lines.items():
        text = re.sub(r" +$", "", "\n".join(rows), flags=re.MULTILINE)
        (FOLDER / file).write_text(text + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
