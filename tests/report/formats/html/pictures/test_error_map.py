from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from gradcheck.model import Comparison, Verdict
from gradcheck.report.formats.html.pictures.error_map import error_map
from tests.report import examples
from tests.report.formats.html.pages import Node, parse


def mapped(shades: str, shape: tuple[int, ...]) -> Comparison:
    return replace(examples.compared("x", Verdict.MISMATCH, shape), shades=shades)


def drawn(comparison: Comparison) -> Node:
    made = error_map(comparison)
    assert made is not None
    return parse(made)


def cells(node: Node) -> dict[tuple[int, int], str]:
    """By row and column: the shade of a cell."""
    found = {}
    for path in node.all("path"):
        for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)", path.attributes["d"] or ""):
            for i in range(int(width)):
                found[int(y), int(x) + i] = (path.attributes["class"] or "")[-1]
    return found


def test_a_matrix_has_its_own_shape() -> None:
    found = cells(drawn(mapped("012345", (2, 3))))
    assert found == {(i // 3, i % 3): str(i) for i in range(6)}


@pytest.mark.parametrize("shape", [(40,), (40, 1), (1, 40), (1, 40, 1)])
def test_a_vector_stands_in_rows(shape: tuple[int, ...]) -> None:
    found = cells(drawn(mapped("5" + "0" * 39, shape)))
    assert found[0, 0] == "5"
    assert len(found) == 40
    assert max(found) == (1, 7)


def test_more_axes_are_matrices_side_by_side() -> None:
    found = cells(drawn(mapped("0" * 23 + "4", (4, 2, 3))))
    assert len(found) == 24
    # Four of them with a gap between two: the last cell of the last one.
    assert found[1, 14] == "4"
    assert (0, 3) not in found


def test_shades_follow_the_error() -> None:
    numeric = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, np.nan])
    off = np.array([0.0, 1e-7, 1e-4, 1e-2, 0.5, 5.0, 0.0])
    told = examples.compared("x", Verdict.MISMATCH, (7,))
    told = replace(told, analytic=numeric.copy(), numeric=numeric, bound=np.full(7, 1e-9))
    told = replace(told, analytic=np.where(np.isnan(numeric), 1.0, numeric + off))
    tree = drawn(told)
    assert cells(tree) == {(0, i): str(i) for i in range(7)}
    assert "within the bar" in tree.text
    assert "not judged" in tree.text


@pytest.mark.parametrize("shape", [(), (3,), (0, 3), (2000, 2), (2, 2000)])
def test_nothing_to_draw(shape: tuple[int, ...]) -> None:
    assert error_map(mapped("0" * int(np.prod(shape)), shape)) is None
    assert error_map(examples.compared("x", Verdict.MISMATCH, shape)) is None
