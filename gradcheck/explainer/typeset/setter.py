"""What a notation needs to set the arguments of a call: the protocol of `Setting`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gradcheck.explainer.typeset.notation import SUM, Text

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

    from gradcheck.explainer.style import Style
    from gradcheck.model import Shape

__all__ = ["Setter"]


class Setter(Protocol):
    """What a notation needs to set the arguments of a call."""

    @property
    def style(self) -> Style:
        """How mathematics looks."""

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """By name: the shape, where it is known."""

    @property
    def layout(self) -> bool:
        """Whether changes of layout are written."""

    @property
    def kept(self) -> bool:
        """Whether sums that keep their axis say so."""

    @property
    def matrices(self) -> bool:
        """Whether matrices are multiplied in the formula."""

    def has_indices(self, args: list[ast.expr]) -> bool:
        """Whether the left side of the line has the indices of the einsum of these arguments."""

    def is_scalar(self, node: ast.expr) -> bool:
        """Whether this is a single number."""

    def revealed(self) -> Setter:
        """The same, with changes of layout written out."""

    def inner(self, node: ast.expr, least: int = SUM) -> str:
        """A part of a formula, in brackets where it binds less tightly than it must."""

    def node(self, node: ast.expr) -> Text:
        """A part of a formula, and how tightly it binds."""
