"""Arrays that a function holds, as the code that makes them: what is pasted has to know them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcheck.model import Array

__all__ = ["code_of_array", "with_arrays"]

LARGEST_WRITTEN = 1000
"""Elements of an array whose numbers are written out: a page of them."""
_DTYPES = {"f": "G.dtype", "b": "tf.bool"}
"""By kind of number; floats get the precision of the rest."""


def code_of_array(value: Array) -> str:
    """The expression that makes it; empty where nobody would read it."""
    dtype = _DTYPES.get(value.dtype.kind, f"tf.{value.dtype.name}")
    first = value.ravel()[:1]
    if value.ndim and value.size and bool(np.all(value == first)):
        shape = list(value.shape)
        if first[0] == 0 and value.dtype.kind == "f":
            return f"tf.zeros({shape}, {dtype})"
        return f"tf.broadcast_to(tf.constant({_numbers(first[0])}, {dtype}), {shape})"
    if value.size > LARGEST_WRITTEN:
        return ""
    return f"tf.constant({_numbers(value)}, {dtype})"


def _numbers(value: Any) -> str:
    return re.sub(r"\b(inf|nan)\b", r"math.\1", repr(value.tolist()))


def with_arrays(lines: Sequence[str], given: Mapping[str, str]) -> list[str]:
    """The lines, behind those that make the arrays which they use.

    Without it `test_printed_code_runs` fails.
    """
    used = {name for line in lines for name in re.findall(r"(?<![.\w])[^\W\d]\w*", line)}
    made = [
        f"{name} = {text}" if text else f"# {name} is an array that the function holds"
        for name, text in given.items()
        if name in used
    ]
    imports = [line for line in lines if line.startswith("import ")]
    if not imports and any(re.search(r"(?<!tf\.)\bmath\.", line) for line in made):
        imports = ["import math"]
    return [*imports, *made, *(line for line in lines if line not in imports)]
