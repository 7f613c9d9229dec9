"""The drawing of a chain: boxes beside each other, arrows around them, names as text."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from gradcheck.errors import ExplainError
from gradcheck.explainer.document import Document
from gradcheck.explainer.explanation import explain
from gradcheck.explainer.render.chain_drawing import MOST_PLACES, chain_svg, described
from gradcheck.explainer.render.chain_layout import lay_out
from gradcheck.explainer.render.svg import render_svg
from gradcheck.explainer.worked_example import Picture, Place

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "<script>alert('&')</script>\x07"


def some_graph(seed: int) -> dict[str, list[str]]:
    rng = random.Random(seed)  # noqa: S311
    names = [f"x{i}" for i in range(rng.randint(1, 5))]
    graph: dict[str, list[str]] = {name: [] for name in names}
    for i in range(rng.randint(1, 12)):
        used = rng.sample(names[-6:], min(len(names[-6:]), rng.randint(1, 3)))
        graph[f"v{i}"] = used
        names.append(f"v{i}")
    return graph


@pytest.mark.parametrize("seed", range(40))
def test_no_two_boxes_overlap_and_no_arrow_runs_through_one(seed: int) -> None:
    graph = some_graph(seed)
    widths = {name: 40.0 + 7 * (len(name) + i % 5) for i, name in enumerate(graph)}
    layout = lay_out(graph, widths)
    rows: dict[int, list[str]] = {}
    for name, row in layout.row.items():
        rows.setdefault(row, []).append(name)
    for names in rows.values():
        names.sort(key=layout.across.__getitem__)
        for one, other in pairwise(names):
            half = (widths.get(one, 20.0) + widths.get(other, 20.0)) / 2
            assert layout.across[other] - layout.across[one] >= half - 1e-6
    for target, used in graph.items():
        for source in used:
            assert layout.row[source] < layout.row[target]
            passed = [layout.row[name] for name in layout.routes[source, target]]
            assert passed == list(range(layout.row[source] + 1, layout.row[target]))
    assert all(0 <= layout.across[name] <= layout.width for name in graph)


def test_a_chain_is_straight() -> None:
    graph = {"x": [], "w": [], "a": ["x", "w"], "b": ["a"], "c": ["b"]}
    layout = lay_out(graph, dict.fromkeys(graph, 50.0))
    assert layout.across["a"] == pytest.approx(layout.across["b"], abs=1.0)
    assert layout.across["b"] == pytest.approx(layout.across["c"], abs=1.0)
    assert layout.across["x"] < layout.across["w"]


def test_a_picture_stands_by_itself() -> None:
    text = explain("matmul", shapes={"a": (2, 3), "b": (3, 4)}).svg
    assert text.isascii()
    root = ET.fromstring(text)  # noqa: S314 - our own output
    assert root.tag == f"{SVG}svg"
    title, desc = root.findtext(f"{SVG}title", ""), root.findtext(f"{SVG}desc", "")
    assert title.startswith("matmul: ")
    assert "matmul makes C (2×4) of A, B." in desc
    assert "∂L/∂A = G Bᵀ" in desc
    shown = {"".join(found.itertext()) for found in root.iter(f"{SVG}text")}
    assert {"A", "B", "matmul", "2×3", "3×4", "2×4", "∂L/∂A = G Bᵀ", "G = ∂L/∂C"} <= shown
    assert re.search(r"font: [^;]*sans-serif;", text)
    assert not re.search(r"http|url\(|@import", text.replace("http://www.w3.org/2000/svg", ""))


def test_names_are_text() -> None:
    inputs = Place(NASTY, NASTY, ((2,),), back=lambda _: NASTY)
    step = Place("v", "v", ((2,),), NASTY, (NASTY,), frozenset([NASTY]), lambda _: NASTY)
    picture = Picture((inputs, step), "L")
    for text in (chain_svg(picture), render_svg(Document(NASTY, "", (), picture=lambda: picture))):
        assert "<script" not in text
        ET.fromstring(text)  # noqa: S314


def test_a_value_without_a_gradient_has_no_arrow_back() -> None:
    picture = Picture((Place("i", "i", ((3,),)), Place("v", "v", ((3,),), "gather", ("i",))), "L")
    assert chain_svg(picture).count("gcx-backward") == 1  # from the loss
    assert "no gradient" in chain_svg(picture)


def test_a_long_chain_is_told_in_words() -> None:
    places = [Place("v0", "v0", ((),))]
    places += [
        Place(f"v{i}", f"v{i}", ((),), "exp", (f"v{i - 1}",)) for i in range(1, MOST_PLACES + 1)
    ]
    picture = Picture(tuple(places), "L")
    assert chain_svg(picture) == ""
    assert "exp makes v2 (number) of v1." in described(picture)
    with pytest.raises(ExplainError, match="explain a part of it"):
        render_svg(Document("long", "", (), picture=lambda: picture))
    with pytest.raises(ExplainError, match="no chain to draw"):
        render_svg(Document("none", "", ()))
