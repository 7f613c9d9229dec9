from __future__ import annotations

from dataclasses import replace

from gradcheck.report.formats.html.pictures.jacobian_pattern import jacobian_pattern
from tests.report import examples
from tests.report.formats.html.pages import parse


def test_signs_have_colours() -> None:
    told = replace(examples.compared("x", shape=(3,)), jacobian=("+0-", "0+?"))
    made = jacobian_pattern(told)
    assert made is not None
    tree = parse(made)
    assert tree.one("path", "up").attributes["d"] == "M0 0h1v1h-1zM1 1h1v1h-1z"
    assert tree.one("path", "down").attributes["d"] == "M2 0h1v1h-1z"
    assert tree.one("path", "both").attributes["d"] == "M2 1h1v1h-1z"
    assert "2 outputs (rows) by 3 elements of x (columns); 4 of 6 entries" in tree.text


def test_nothing_to_draw() -> None:
    assert jacobian_pattern(examples.compared("x")) is None
    assert jacobian_pattern(replace(examples.compared("x"), jacobian=("", ""))) is None
