"""What `--forward` and `--second` add to a page, and its proofs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gradcheck.errors import ExplainError
from gradcheck.explainer.document import Paragraph, Section
from gradcheck.explainer.page.known_findings import told_of_findings
from gradcheck.explainer.tangents.tangent_page import forward_sections, second_sections
from gradcheck.explainer.tangents.tangent_proof import (
    Point,
    along_section,
    prove_forward,
    prove_second,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gradcheck.explainer.derive.call_graph import Graph
    from gradcheck.explainer.document import Document
    from gradcheck.explainer.proof import Proof
    from gradcheck.explainer.proof_points import DrawnPoint
    from gradcheck.explainer.question import Directions

__all__ = ["Along", "prove_along", "with_directions"]


@dataclass(frozen=True, slots=True, eq=False)
class Along:
    """A graph, and what is wanted of it along a direction."""

    directions: Directions
    graph: Callable[[], Graph]
    """Made where it is needed alone: not every op can be one."""
    wanted: Sequence[str] | None = None

    def added(self, document: Document) -> Document:
        """The page with the sections that are asked for."""
        if not self.directions:
            return document
        return with_directions(document, self.graph(), self.wanted, self.directions)

    def proved(
        self, document: Document, proofs: list[Proof], point: Callable[[], DrawnPoint]
    ) -> tuple[Document, list[Proof]]:
        """The page with the proofs of those sections, beside those that there are."""
        if not self.directions:
            return document, proofs
        try:
            there = drawn(point())
        except ExplainError as why:
            said = Section("Proof along a direction", (Paragraph(f"{why}."),))
            return replace(document, sections=(*document.sections, said)), proofs
        document, more = prove_along(document, self.graph(), self.wanted, self.directions, there)
        return document, [*proofs, *more]


def drawn(point: DrawnPoint) -> Point:
    """The point of an op or an expression."""
    if point.float32_only:
        told = (
            "TensorFlow computes this in float32 alone, where differences of gradients say little"
        )
        raise ExplainError(f"There is nothing to verify along a direction: {told}")
    structures = {name: point.structure(name) for name in point.values}
    names = tuple(point.values)
    return Point(point.function(), names, point.values, structures, point.seed)


def with_directions(
    document: Document, graph: Graph, wanted: Sequence[str] | None, directions: Directions
) -> Document:
    """The page with the sections that are asked for."""
    sections: list[Section] = []
    if directions.forward:
        sections += forward_sections(graph, wanted)
    if directions.second:
        sections += second_sections(graph, wanted)
    return replace(document, sections=(*document.sections, *sections))


def prove_along(
    document: Document,
    graph: Graph,
    wanted: Sequence[str] | None,
    directions: Directions,
    point: Point,
) -> tuple[Document, list[Proof]]:
    """What those sections print, proved."""
    sections, proofs = [], []
    if directions.forward:
        found = prove_forward(graph, point, wanted)
        known = told_of_findings(graph.ops, "forward")
        heading = "Proof of forward mode"
        sections.append(along_section(heading, found, "a ForwardAccumulator", known))
        proofs += [proof for _, proof in found]
    if directions.second:
        found = prove_second(graph, point, wanted)
        heading, nested = "Proof of the second derivative", "a tape around a tape"
        known = told_of_findings(graph.ops, "second")
        of = "this page's gradient" if point.tape_is_cut else "what TensorFlow gives"
        sections.append(along_section(heading, found, nested, known, of))
        proofs += [proof for _, proof in found]
    return replace(document, sections=(*document.sections, *sections)), proofs
