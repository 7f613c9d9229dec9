"""The pictures of a page, which are made when something draws them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.derive.op_subject import Subject
    from gradcheck.explainer.worked_example import Picture
    from gradcheck.model import Array


def pictured_op(subject: Subject, at: Mapping[str, Array]) -> Callable[[], Picture]:
    """What its page draws: made when it is asked for."""

    @cache
    def picture() -> Picture:
        from gradcheck.explainer.page.example_chain import op_picture

        return op_picture(subject, at)

    return picture


def pictured_expression(
    graph: Graph, at: Mapping[str, Array], wanted: tuple[str, ...] | None
) -> Callable[[], Picture]:
    """What its page draws: made when it is asked for."""

    @cache
    def picture() -> Picture:
        from gradcheck.explainer.page.example_chain import expression_picture

        return expression_picture(graph, at, wanted)

    return picture
