"""Inside of the ops imports point one way."""

from __future__ import annotations

from gradcheck.ops.catalogue import FAMILIES
from tests.ops.layers import circles, import_graph, upward

LAYERS = (
    ("language",),
    ("declaration",),
    ("rules", "domains", "sentences"),
    ("samples", "factories"),
    ("families",),
    ("catalogue",),
)
GRAPH = import_graph("ops")


def test_imports_point_one_way() -> None:
    assert upward(GRAPH, LAYERS) == []
    assert circles(GRAPH) == []


def test_families_stand_side_by_side_and_all_are_listed() -> None:
    families = {name for name in GRAPH if name.startswith("gradcheck.ops.families.")}
    assert not [name for name in families if GRAPH[name] & families]
    assert families == {family.__name__ for family in FAMILIES}
