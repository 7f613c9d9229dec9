"""The pure TensorFlow functions that a spec may name, and the nearest one to a name that is not."""

from __future__ import annotations

import difflib
from pathlib import Path

ALLOWED: frozenset[str] = frozenset(
    Path(__file__).with_name("allowed_tensorflow.txt").read_text(encoding="ascii").split()
)
"""Dotted names, `tf.linalg.matmul`; `tools/allowlist.py` writes the file they stand in."""

_PREFIXES = ("tf.", "tf.math.", "tf.nn.", "tf.linalg.", "tf.reduce_", "tf.signal.", "tf.image.")
_ROOTS = ("tf", "np", "numpy", "tensorflow", "keras")


def equivalent(name: str) -> str | None:
    """The allowed function of the same last name: `tf.reduce_sum` for `np.sum` or `sum`."""
    root, dot, rest = name.partition(".")
    bare = rest if dot and root in _ROOTS else name
    for wanted in (bare, bare.rpartition(".")[2]):
        for prefix in _PREFIXES:
            if prefix + wanted in ALLOWED:
                return prefix + wanted
    return None


def nearest(name: str) -> str | None:
    """The allowed name that was probably meant, by its last name or by its spelling."""
    same = equivalent(name)
    if same or len(name) > 100:
        return same
    root, dot, rest = name.partition(".")
    wanted = f"tf.{rest if dot and root in _ROOTS else name}"
    # Raw kernels are named in CamelCase: offered only to those who ask for one.
    raw = wanted.startswith("tf.raw_ops.")
    pool = sorted(n for n in ALLOWED if n.startswith("tf.raw_ops.") == raw)
    close = difflib.get_close_matches(wanted, pool, n=1, cutoff=0.8)
    return close[0] if close else None


def is_module(name: str) -> bool:
    """Whether allowed functions lie below this dotted name."""
    return any(allowed.startswith(name + ".") for allowed in ALLOWED)
