"""Which module of a room imports which, for the tests that imports point one way."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import gradcheck

if TYPE_CHECKING:
    from collections.abc import Sequence

Graph = dict[str, set[str]]
"""By module, the modules of the same room that it imports, those for types included."""


@cache
def import_graph(room: str) -> Graph:
    """The imports inside of a room, wherever in a file they stand."""
    root = Path(gradcheck.__file__).parent
    paths = {_dotted(path, root): path for path in (root / room).rglob("*.py")}
    graph: Graph = {}
    for name, path in paths.items():
        graph[name] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                # `from package import name` may name a module.
                wanted = {f"{node.module}.{alias.name}" for alias in node.names}
                graph[name] |= wanted & paths.keys() or {str(node.module)} & paths.keys()
    return graph


def _dotted(path: Path, root: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def upward(graph: Graph, layers: Sequence[Sequence[str]]) -> list[str]:
    """The imports from a part of the room into one that does not lie below it."""
    level = {part: i for i, layer in enumerate(layers) for part in layer}
    # The room's own package, whose part has no name, stands above all of them.
    level[""] = len(layers)
    return [
        f"{name} imports {other}"
        for name, imported in graph.items()
        for other in imported
        if _part(name) != _part(other) and level[_part(name)] <= level[_part(other)]
    ]


def _part(name: str) -> str:
    """What stands directly below the room: `language` of gradcheck.ops.language.bounds."""
    return [*name.split("."), ""][2]


def circles(graph: Graph) -> list[str]:
    """The modules that import themselves by way of others."""
    found = []
    for start in graph:
        seen: set[str] = set()
        todo = [start]
        while todo:
            new = graph[todo.pop()] - seen
            seen |= new
            todo += new
        if start in seen:
            found.append(start)
    return found
