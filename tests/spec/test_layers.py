"""Inside of the specs imports point one way."""

from __future__ import annotations

from tests.ops.layers import circles, import_graph, upward

LAYERS = (
    ("yaml",),
    ("expression",),
    ("format",),
    ("discover", "settings", "resolve"),
    ("load",),
)
GRAPH = import_graph("spec")


def test_imports_point_one_way() -> None:
    assert upward(GRAPH, LAYERS) == []
    assert circles(GRAPH) == []
