"""Imports point one way, and only what runs a case loads TensorFlow."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.layers import circles, import_graph, upward

PACKAGE = Path(__file__).parents[1] / "gradcheck"

# A room may import from these rooms only.
ALLOWED = {
    "model": set(),
    "errors": {"model"},
    "ops": {"model", "errors"},
    "spec": {"ops", "model", "errors"},
    "checker": {"ops", "spec", "model", "errors"},
    "explainer": {"checker", "ops", "spec", "model", "errors"},
    "run": {"checker", "ops", "spec", "model", "errors"},
    "report": {"model", "errors"},
    "cache": {"report", "model", "errors"},
    "testing": {"report", "run", "checker", "explainer", "spec", "model", "errors"},
    "start": {"run", "explainer", "checker", "ops", "spec", "model", "errors"},
    "hunter": {"start", "run", "explainer", "checker", "ops", "spec", "model", "errors"},
    "course": {"report", "run", "explainer", "spec", "model", "errors"},
    "cli": {
        *("hunter", "start", "cache", "report", "run", "checker", "explainer", "ops", "spec"),
        *("course", "model", "errors"),
    },
    "__main__": {"cli"},
    "__init__": {"checker", "explainer", "testing", "errors", "model"},
}

# Inside a room imports point one way too: from each layer to those before it. Imports for types
# count as well.
LAYERS = {
    "model": (
        ("frozen", "arrays", "verdicts", "stages", "versions", "shown", "close_ups"),
        ("structures",),
        ("cases",),
        ("called_gradients",),
        ("results", "problems"),
        ("suites", "planted", "findings", "inventories"),
    ),
    "ops": (
        ("language", "seen"),
        ("declaration",),
        ("rules", "domains", "sentences"),
        ("samples", "factories"),
        ("families",),
        ("catalogue",),
    ),
    "spec": (
        ("yaml",),
        ("expression",),
        ("format",),
        ("discover", "resolve", "setting_keys"),
        ("settings",),
        ("load_specs",),
    ),
    "checker": (
        ("tolerances", "limits", "costs", "stepping"),
        ("causes",),
        ("budget",),
        ("numerics",),
        ("subject",),
        ("reference",),
        ("judge",),
        ("precision",),
        ("diagnose",),
        ("decide", "beside_kinks"),
        ("verdict", "duality", "second_order", "raised"),
        ("forward_own", "forward_vectors", "forward_zeros"),
        ("forward", "jacobian", "second_ways"),
        ("code_places", "remarks"),
        ("check",),
        ("case", "api"),
        ("power", "coverage"),
    ),
    "explainer": (
        ("loading", "trees", "style", "time_limit", "unknown_op", "question"),
        ("worked_example",),
        ("document", "named_functions"),
        ("calculus",),
        ("formula",),
        ("typeset",),
        ("derive",),
        ("page",),
        ("render",),
        ("proof", "page_code"),
        ("code_proof", "both_sides"),
        ("proof_points",),
        ("verify",),
        ("tangents",),
        ("on_demand",),
        ("traced",),
        ("compose",),
        ("explanation",),
    ),
    "run": (
        ("threads", "case_time"),
        ("select", "shard", "summary", "environment", "interruptions"),
        ("workers",),
        ("dask",),
    ),
    "report": (
        ("safe_text", "numbers", "spool", "background", "error_shades", "repository"),
        ("details", "difference"),
        ("remark_lines", "endings", "row_names"),
        ("matrix",),
        ("tally",),
        ("reporter",),
        ("columns", "totals", "power_totals", "coverage_totals", "markdown_text"),
        ("formats",),
        ("display", "picture"),
        ("read",),
    ),
    "cache": (
        ("cache_folder",),
        ("sources", "fingerprint", "history"),
        ("journal",),
        ("store",),
    ),
    "testing": (
        ("assertion", "variants", "recognise"),
        ("run_case",),
        ("fixture", "spec_items"),
        ("plugin",),
    ),
    "start": (
        ("source_scan", "guesses", "spec_text", "pyproject_edit", "project"),
        ("shape_ladder", "look", "ci_job"),
        ("attempts", "sightings"),
        ("trial",),
        ("named_target", "spec_files", "survey"),
    ),
    "hunter": (
        ("around_point", "bandit", "drafts", "failures", "layer_text"),
        ("draw_values", "one_cause", "promised", "recorded", "run_script", "script_parts"),
        ("script", "short_script"),
        ("signatures",),
        ("documented", "draw_sparse"),
        ("described", "random_kernels", "shrinker"),
        ("meant_call",),
        ("second_opinion",),
        ("draw_call", "gradient_code", "record_calls"),
        ("probe", "quarry", "ledger"),
        ("task",),
        ("errands",),
        ("blame",),
        ("pursuit",),
        ("visit",),
        ("expedition", "single_case"),
    ),
    "course": (
        ("lesson_page",),
        ("lessons",),
        ("lesson_run", "outcomes", "derived_lines"),
        ("lesson_text",),
    ),
    "cli": (
        (
            *("say", "options", "outputs", "explain_values", "explain_formats", "page_background"),
            *("new_files", "read_back", "setting_values"),
        ),
        ("reporters", "run_request", "guessed_case"),
        ("run_context", "measured_coverage"),
        ("session",),
        ("watch",),
        (
            *(
                "compare",
                "completion",
                "coverage",
                "explain",
                "hunt",
                "merge",
                "new",
                "ops",
                "power",
                "report",
            ),
            *("run", "schema", "shrink", "validate"),
        ),
        ("init", "guide"),
        ("app",),
    ),
}


def room_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


@dataclass(frozen=True)
class Read:
    """What the tests below ask of a file. (Its tree is not kept: those of all files are large.)"""

    imports: set[str]
    docstring: str
    lines: int
    long: list[str]
    """The functions that are too long."""
    constants: set[str]
    loads_tensorflow: bool
    """When it is imported."""
    names_tensorflow: bool
    """In an import, wherever it stands."""


@cache
def read(path: Path) -> Read:
    """Each file is parsed once, for all tests here."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    return Read(
        imports_of(tree),
        ast.get_docstring(tree) or "",
        text.count("\n"),
        long_functions(tree),
        constants(tree),
        tensorflow_imports(tree, top_level=True),
        tensorflow_imports(tree, top_level=False),
    )


def imports_of(tree: ast.Module) -> set[str]:
    """The modules of gradcheck that a file imports, wherever in the file the import stands."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "gradcheck":
                names = [f"gradcheck.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= set(names)
    return found


FILES = sorted(PACKAGE.rglob("*.py"))
NAMES = [str(path.relative_to(PACKAGE)) for path in FILES]


def test_rooms_import_one_way() -> None:
    wrong = {}
    for path, name in zip(FILES, NAMES, strict=True):
        ours = [each for each in read(path).imports if each.startswith("gradcheck.")]
        room, rooms = room_of(path), {each.split(".")[1] for each in ours}
        if upwards := rooms - ALLOWED[room] - {room, "__version__"}:
            wrong[name] = upwards
    assert wrong == {}


@pytest.mark.parametrize("room", LAYERS)
def test_inside_a_room_imports_point_one_way(room: str) -> None:
    graph = import_graph(room)
    assert upward(graph, LAYERS[room]) == []
    assert circles(graph) == []


def rooms_of_the_map() -> dict[str, list[set[str]]]:
    """The layers of each room, as ARCHITECTURE.md has them."""
    text = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    found = {}
    for room, inside in re.findall(r"(?m)^\| `(\w+)/` \|[^|\n]*\|([^|\n]*)\|$", text):
        plain = re.sub(r"\([^)]*\)", "", inside).replace("`", "").replace("/", "")
        found[room] = [{name.strip() for name in part.split(",")} for part in plain.split("·")]
    return found


@pytest.mark.parametrize("room", LAYERS)
def test_the_map_names_all_that_is_in_a_room(room: str) -> None:
    layers = [set(layer) for layer in LAYERS[room]]
    if room == "cli":
        # (What has a command is listed by `gradcheck --help`.)
        layers = [{"the commands"} if "validate" in layer else layer for layer in layers]
    assert rooms_of_the_map()[room] == layers


INSIDE = [
    path
    for path in FILES
    if path.name == "__init__.py"
    and re.search(r"point one way|in this order", path.read_text("utf-8"))
]


@pytest.mark.parametrize("path", INSIDE, ids=lambda path: path.parent.name)
def test_a_package_that_tells_its_order_names_all_that_is_in_it(path: Path) -> None:
    told = read(path).docstring
    there = {p.stem for p in path.parent.glob("*.py")} - {"__init__"}
    there |= {p.parent.name for p in path.parent.glob("*/__init__.py")}
    assert {name for name in there if not re.search(rf"\b{name}\b", told)} == set()


def mechanisms() -> list[tuple[str, str, str]]:
    """The rows of the map that say what fails without a mechanism: name, files, tests."""
    text = (PACKAGE.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.partition("## What each mechanism earns")[2]
    return re.findall(r"(?m)^\| ([^|\n]+) \| ([^|\n]+) \| ([^|\n]+) \|$", table)[2:]


@cache
def source_of(place: Path) -> str:
    """A module's text, or that of all modules of a folder."""
    every = sorted(place.glob("*.py")) if place.is_dir() else [place]
    return "".join(one.read_text(encoding="utf-8") for one in every)


@pytest.mark.parametrize(("name", "files", "tests"), mechanisms())
def test_a_mechanism_names_its_test_where_it_stands(name: str, files: str, tests: str) -> None:
    places = re.findall(r"`([\w/]+(?:\.py|/))`", files)
    assert places, name
    home = PACKAGE / "checker"
    text = ""
    for place in places:
        path = home / place if (home / place).exists() else (home / places[0]).parent / place
        text += source_of(path)
    assert {test for test in re.findall(r"test_\w+", tests) if test not in text} == set()
    inside = re.findall(r"`(\w+)`", files)
    assert {function for function in inside if not re.search(rf"\b{function}\b", text)} == set()


def test_every_room_has_layers() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == LAYERS.keys()


def test_the_numerics_are_numpy_alone() -> None:
    paths = sorted((PACKAGE / "checker" / "numerics").glob("*.py"))
    imports = set().union(*(read(path).imports for path in paths))
    ours = {name for name in imports if name.startswith("gradcheck")}
    below = ("gradcheck.checker.numerics.", "gradcheck.model")
    numbers = {"gradcheck.checker", "gradcheck.checker.budget"}
    assert {name for name in ours if not name.startswith(below)} <= numbers
    others = {name.partition(".")[0] for name in imports - ours}
    assert others <= {"numpy", *sys.stdlib_module_names}


def test_a_file_name_says_what_is_in_it() -> None:
    """No two modules share one, but the same kind of thing in packages that stand side by side."""
    named: dict[str, list[str]] = {}
    for path in FILES:
        if path.stem not in ("__init__", "__main__"):
            named.setdefault(path.stem, []).append(path.parent.relative_to(PACKAGE).as_posix())
    twice = {name: homes for name, homes in named.items() if len(homes) > 1}
    assert twice == SAME_KIND


SAME_KIND: dict[str, list[str]] = {
    # A format of a page, and the same format of a report.
    "json": ["explainer/render", "report/formats"],
    "markdown": ["explainer/render", "report/formats"],
}


def test_modules_and_functions_are_short() -> None:
    lines = {name: read(path).lines for path, name in zip(FILES, NAMES, strict=True)}
    assert {name: count for name, count in lines.items() if count > 300} == {}
    long = {name: read(path).long for path, name in zip(FILES, NAMES, strict=True)}
    assert {name: functions for name, functions in long.items() if functions} == {}


def long_functions(tree: ast.Module) -> list[str]:
    return [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= 60
    ]


def constants(tree: ast.Module) -> set[str]:
    """The numbers that a module gives a name to, at its top."""
    found = set()
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        if not isinstance(target, ast.Name) or not target.id.strip("_").isupper():
            continue
        value = getattr(node, "value", None)
        parts = list(ast.walk(value)) if isinstance(value, ast.expr) else []
        texts = any(isinstance(p, ast.Constant) and isinstance(p.value, str) for p in parts)
        if parts and all(isinstance(part, _ARITHMETIC) for part in parts) and not texts:
            found.add(target.id)
    return found


_ARITHMETIC = (
    *(ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple),
    *(ast.operator, ast.unaryop, ast.expr_context),
)


def test_a_constant_has_one_name_and_one_place() -> None:
    homes: dict[str, list[str]] = {}
    for path, name in zip(FILES, NAMES, strict=True):
        for constant in read(path).constants:
            homes.setdefault(constant, []).append(name)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_the_checker_keeps_its_numbers_in_the_named_places() -> None:
    homes = ("tolerances", "limits", "costs", "stepping", "causes")
    others = [path for path in FILES if "checker" in path.parts and path.stem not in homes]
    assert others
    assert {path: read(path).constants for path in others if read(path).constants} == {}


def test_a_test_that_the_sources_name_exists() -> None:
    """A mechanism names the test that fails without it, and the map repeats it."""
    root = PACKAGE.parent
    tests = "\n".join(p.read_text(encoding="utf-8") for p in (root / "tests").rglob("test_*.py"))
    known = set(re.findall(r"^ *def (test_\w+)", tests, flags=re.MULTILINE))
    sources = [*FILES, root / "ARCHITECTURE.md", *(root / "docs").glob("*.md")]
    for path in sources:
        named = set(re.findall(r"`(test_\w+)`", path.read_text(encoding="utf-8")))
        assert named <= known, path


def tensorflow_imports(tree: ast.AST, *, top_level: bool) -> bool:
    nodes = ast.iter_child_nodes(tree) if top_level else ast.walk(tree)
    return any(
        (isinstance(node, ast.Import) and any(a.name.startswith("tensorflow") for a in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tensorflow"))
        for node in nodes
    )


def test_tensorflow_is_imported_only_where_a_case_runs() -> None:
    files = list(zip(FILES, NAMES, strict=True))
    assert [name for path, name in files if read(path).loads_tensorflow] == []
    naming = [path for path in FILES if read(path).names_tensorflow]
    assert {room_of(path) for path in naming} <= {"checker", "run", "explainer"}


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["--help"],
        ["validate", "specs"],
        ["schema"],
        ["guide"],
        ["--version"],
        ["schema", "report"],
        ["validate", "specs", "--format", "github"],
        ["validate", "specs", "--format", "json"],
        ["ops"],
        ["ops", "matmul"],
    ],
    ids=" ".join,
)
def test_what_needs_no_tensorflow_does_not_load_it(command: list[str]) -> None:
    """A command that fails at once would not load it either: it must have done its work."""
    called = f"from gradcheck.cli import main; code = main({command})" if command else "code = 0"
    code = (
        f"import sys, gradcheck\n{called}\n"
        "assert code == 0, code\n"
        "assert 'tensorflow' not in sys.modules, 'TensorFlow was loaded'"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert bool(done.stdout) is bool(command)


def test_the_module_and_the_script_are_one() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gradcheck", "--version"],
        cwd=PACKAGE.parent,
        capture_output=True,
        check=True,
    )
    from gradcheck import __version__

    assert __version__ in done.stdout.decode()
