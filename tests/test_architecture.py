"""Imports point one way, and only what runs a case loads TensorFlow."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "gradcheck"

# A room may import from its own layer's allowed rooms only; DESIGN: cli → report, run → checker,
# explain → ops, spec → model, errors.
ALLOWED = {
    "model": {"errors"},
    "errors": {"model"},
    "ops": {"model", "errors"},
    "spec": {"ops", "model", "errors"},
    "checker": {"ops", "spec", "model", "errors"},
    "explain": {"checker", "ops", "spec", "model", "errors"},
    "run": {"checker", "ops", "spec", "model", "errors"},
    "report": {"model", "errors"},
    "cache": {"report", "model", "errors"},
    "cli": {"cache", "report", "run", "checker", "explain", "ops", "spec", "model", "errors"},
    "__main__": {"cli"},
    "__init__": {"checker", "errors", "model"},
}


def room_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports_of(path: Path) -> set[str]:
    """The rooms that a file imports from, wherever in the file the import stands."""
    rooms: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "gradcheck":
                names = [f"gradcheck.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        rooms |= {n.split(".")[1] for n in names if n.startswith("gradcheck.")}
    return rooms


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    room = room_of(path)
    assert imports_of(path) <= ALLOWED[room] | {room, "__version__"}


def tensorflow_imports(tree: ast.AST, *, top_level: bool) -> bool:
    nodes = ast.iter_child_nodes(tree) if top_level else ast.walk(tree)
    return any(
        (isinstance(node, ast.Import) and any(a.name.startswith("tensorflow") for a in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorflow"))
        for node in nodes
    )


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_tensorflow_is_imported_only_where_a_case_runs(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not tensorflow_imports(tree, top_level=True)
    if room_of(path) not in {"checker", "run", "explain"}:
        assert not tensorflow_imports(tree, top_level=False)


@pytest.mark.parametrize(
    "command",
    [
        "import gradcheck",
        "from gradcheck.cli import main; main(['--help'])",
        "from gradcheck.cli import main; main(['validate', 'specs'])",
        "from gradcheck.cli import main; main(['schema'])",
        "from gradcheck.cli import main; main(['ops'])",
        "from gradcheck.cli import main; main(['ops', 'matmul'])",
    ],
)
def test_what_needs_no_tensorflow_does_not_load_it(command: str) -> None:
    code = (
        "import sys\n"
        f"try:\n    {command}\n"
        "except SystemExit:\n    pass\n"
        "sys.exit('tensorflow' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def test_the_module_and_the_script_are_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gradcheck", "--version"],
        cwd=PACKAGE.parent,
        capture_output=True,
        check=True,
    )
    from gradcheck import __version__

    assert __version__ in done.stdout.decode()
