"""Where gradients are written by hand, read from the source: nothing is run."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MARKS = frozenset({"custom_gradient", "RegisterGradient"})
"""What one calls to give a function a gradient of one's own."""

_LARGEST_SOURCE = 4 * 2**20
"""Bytes of a module that are parsed: no person writes more."""


@dataclass(frozen=True, slots=True)
class HandWritten:
    """A function with a gradient of its own."""

    name: str
    """With those that it is nested in: `Layer.call.inner`."""
    first_line: int
    """Of its first decorator, which is where Python says that the function begins."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """What the source of a module says."""

    hand_written: tuple[HandWritten, ...] = ()
    worth_importing: bool = True
    """Whether it may hold anything with a gradient: it names TensorFlow or Keras, or has classes
    that inherit from somewhere."""
    problem: str = ""
    """Why it cannot be read."""


def scan(path: Path) -> Scanned:
    """Read the source of a module."""
    try:
        if path.stat().st_size > _LARGEST_SOURCE:
            return Scanned(problem="it is too large to be read")
        tree = ast.parse(path.read_bytes())
    except SyntaxError as error:
        return Scanned(problem=f"it is no Python: {error.msg}, line {error.lineno}")
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return Scanned(problem=f"it cannot be read: {error}")
    return Scanned(tuple(_hand_written(tree, ())), _is_worth_importing(tree))


def _hand_written(node: ast.AST, around: tuple[str, ...]) -> Iterator[HandWritten]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _hand_written(child, (*around, child.name))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = (*around, child.name)
            if any(_is_mark(decorator) for decorator in child.decorator_list):
                first = child.decorator_list[0].lineno
                yield HandWritten(".".join(inside), first)
            yield from _hand_written(child, inside)
        elif isinstance(child, ast.Assign) and isinstance(child.value, ast.Call):
            # swish = tf.custom_gradient(_swish)
            if _is_mark(child.value.func) and isinstance(child.targets[0], ast.Name):
                name = ".".join((*around, child.targets[0].id))
                yield HandWritten(name, child.lineno)
        else:
            yield from _hand_written(child, around)


def _is_mark(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    if isinstance(called, ast.Attribute):
        return called.attr in MARKS
    return isinstance(called, ast.Name) and called.id in MARKS


def public_names(path: Path) -> list[str]:
    """The functions and classes that a file defines at its top; none where it cannot be read."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [n.name for n in tree.body if isinstance(n, kinds) and not n.name.startswith("_")]


def _is_worth_importing(tree: ast.AST) -> bool:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.bases:
            return True
        named: list[str] = []
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            # (What a package passes on from inside is found there by its public name.)
            named = ["keras"] if node.level else [node.module or ""]
        if any(name.partition(".")[0] in ("tensorflow", "keras", "tf_keras") for name in named):
            return True
    return False
