"""Sentences about what TensorFlow does, each with the call that shows it.

What a page says of TensorFlow is executed by `tests/ops/test_seen.py`: no such sentence is prose
alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Seen"]


class Seen(str):
    """A sentence that holds of TensorFlow at the point it comes with."""

    __slots__ = ("args", "at", "expr", "out", "sparse", "tape")

    at: Mapping[str, Any]
    """By input: its value; complex numbers make it complex128, whole ones of indices int32."""
    tape: Mapping[str, Any]
    """By input: what the tape gives there, for an upstream of ones."""
    out: Any
    """What the function gives there, where the sentence is about that."""
    args: Mapping[str, Any]
    expr: str
    """What is called in place of the op: a formula that people write by hand."""
    sparse: bool
    """Whether the tape gives IndexedSlices."""

    def __new__(
        cls,
        text: str,
        at: Mapping[str, Any],
        tape: Mapping[str, Any] | None = None,
        *,
        out: Any = None,
        args: Mapping[str, Any] | None = None,
        expr: str = "",
        sparse: bool = False,
    ) -> Seen:
        """The sentence with its point."""
        if tape is None and out is None:
            raise ValueError(f"nothing is claimed: {text}")
        self = super().__new__(cls, text)
        self.at, self.tape, self.out = at, tape or {}, out
        self.args, self.expr, self.sparse = args or {}, expr, sparse
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """As the text alone: who copies or sends a page needs no more."""
        return str, (str(self),)
