"""The pure functions and layers that a spec may name, and the nearest one to a name that is not.

`tools/allowlist.py` writes the files that they stand in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from gradcheck import errors
from gradcheck.spec.expression.control_flow import CONTROL_FLOW
from gradcheck.spec.expression.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Iterable


def _lines(name: str) -> dict[str, str]:
    """By dotted name, the rest of its line; what Keras has is reached as `tf.keras.…` too."""
    text = Path(__file__).with_name(name).read_text(encoding="ascii")
    lines = {first: rest for first, _, rest in (line.partition(" ") for line in text.splitlines())}
    keras = {f"tf.{first}": rest for first, rest in lines.items() if first.startswith("keras.")}
    return {**keras, **lines}


_FUNCTIONS = _lines("allowed_tensorflow.txt")
_LAYERS = _lines("allowed_layers.txt")

CALLABLE: frozenset[str] = frozenset(_FUNCTIONS)
"""The functions that an expression may call, by their dotted names: `tf.linalg.matmul`."""
ALLOWED: frozenset[str] = frozenset(
    name for name in _FUNCTIONS if name not in CONTROL_FLOW and name[3:] not in CONTROL_FLOW
)
"""Those of them that take no functions, so that plain data will do for a call."""
LAYERS: frozenset[str] = frozenset(_LAYERS)
"""The classes of Keras' whose objects are functions of tensors: `keras.layers.Dense`."""


@dataclass(frozen=True, slots=True)
class LayerParameters:
    """What the class of a layer takes, and what a call of the layer does."""

    init: Parameters
    call: Parameters


@cache
def parameters(name: str) -> Parameters:
    """What an allowed function takes."""
    return Parameters.read(_FUNCTIONS[name].split())


@cache
def layer_parameters(name: str) -> LayerParameters:
    """What an allowed layer takes."""
    init, _, call = _LAYERS[name].partition(": ")
    return LayerParameters(Parameters.read(init.split()), Parameters.read(call.split()))


@cache
def _refused() -> dict[str, str]:
    return _lines("refused_tensorflow.txt")


def why_refused(name: str) -> str:
    """Why a function or class is not on the lists; empty where nothing is known of it."""
    return _refused().get(name, "")


_PREFIXES = ("tf.", "tf.math.", "tf.nn.", "tf.linalg.", "tf.reduce_", "tf.signal.", "tf.image.")
_ROOTS = ("tf", "np", "numpy", "tensorflow", "keras")


def equivalent(name: str) -> str | None:
    """The allowed function of the same last name: `tf.reduce_sum` for `np.sum` or `sum`."""
    root, dot, rest = name.partition(".")
    bare = rest if dot and root in _ROOTS else name
    for wanted in (bare, bare.rpartition(".")[2]):
        for prefix in _PREFIXES:
            if prefix + wanted in CALLABLE:
                return prefix + wanted
    return None


def nearest(name: str) -> str | None:
    """The allowed name that was probably meant, by its last name or by its spelling."""
    if name.startswith("keras."):
        return _closest(name, (n for n in CALLABLE if n.startswith("keras.")))
    same = equivalent(name)
    if same:
        return same
    root, dot, rest = name.partition(".")
    wanted = f"tf.{rest if dot and root in _ROOTS else name}"
    # Raw kernels are named in CamelCase: offered only to those who ask for one.
    raw = wanted.startswith("tf.raw_ops.")
    return _closest(wanted, (n for n in CALLABLE if n.startswith("tf.raw_ops.") == raw))


def nearest_layer(name: str) -> str | None:
    """The layer that was probably meant: `keras.layers.Dense` for `Dense` or `layers.dense`."""
    last = name.rpartition(".")[2].lower()
    for module in ("keras.layers.", "keras.losses.", "keras."):
        for known in sorted(LAYERS):
            if known.lower() == module + last:
                return known
    pool = (n for n in LAYERS if n.startswith("keras."))
    return _closest(name.removeprefix("tf."), pool)


def _closest(wanted: str, pool: Iterable[str]) -> str | None:
    return errors.nearest(wanted, sorted(pool), alike=0.8) or None


def is_module(name: str) -> bool:
    """Whether allowed functions or layers lie below this dotted name."""
    return any(allowed.startswith(name + ".") for allowed in CALLABLE | LAYERS)
