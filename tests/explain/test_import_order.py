"""Inside of explain imports point one way, those for types included, and never in a circle."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from gradcheck import explain

ROOT = Path(explain.__file__).parent
ORDER = (
    "trees", "style", "document", "calculus", "formula", "typeset", "derive", "page", "render",
    "loading", "proof", "verify",
)  # fmt: skip
"""Each may import from those before it alone."""

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
    if path != ROOT / "__init__.py"
}


def imported(source: str) -> set[str]:
    """The modules of explain that a source imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.removeprefix("gradcheck.explain.") for name in names}
    return found & set(MODULES)


def upward(module: str, source: str) -> set[str]:
    """What a module imports although it stands above it."""
    own = module.partition(".")[0]
    packages = {name: name.partition(".")[0] for name in imported(source)}
    return {
        name
        for name, package in packages.items()
        if package != own and ORDER.index(package) > ORDER.index(own)
    }


def test_every_package_has_its_place() -> None:
    assert {module.partition(".")[0] for module in MODULES} == set(ORDER)


@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_imported_from_above(module: str) -> None:
    assert upward(module, MODULES[module].read_text(encoding="utf-8")) == set()


def test_an_import_from_above_is_found() -> None:
    source = "if TYPE_CHECKING:\n    from gradcheck.explain.derive.op_subject import Subject\n"
    assert upward("calculus.simplify", source) == {"derive.op_subject"}
    assert upward("page.op_page", source) == set()


def test_a_format_needs_the_document_and_the_style_alone() -> None:
    for module, path in MODULES.items():
        if module.startswith("render."):
            found = {name.partition(".")[0] for name in imported(path.read_text(encoding="utf-8"))}
            assert found <= {"document", "style"}, module


def test_no_imports_run_in_a_circle() -> None:
    below = {m: imported(path.read_text(encoding="utf-8")) for m, path in MODULES.items()}
    left = dict(below)
    while left:
        free = [module for module, needs in left.items() if not needs & (set(left) - {module})]
        assert free, f"in a circle: {sorted(left)}"
        for module in free:
            del left[module]
