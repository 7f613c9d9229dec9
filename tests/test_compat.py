"""The versions that are tried: in one list, and in step with what CI runs."""

from __future__ import annotations

import ast
import re
import stat
import sys
from pathlib import Path

import pytest
import yaml

from tools.compat import (
    FOR_TESTS,
    NAMES,
    Trial,
    lowest,
    named_versions,
    project,
    pythons,
    requirements,
    trials,
    version_of,
)

ROOT = Path(__file__).parents[1]
HERE = sys.version_info[:2]


def test_ci_tests_every_python_that_is_named() -> None:
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    if not workflow.exists():
        pytest.skip("the source distribution has none")
    jobs = yaml.safe_load(workflow.read_text())["jobs"]
    named = ["{}.{}".format(*version) for version in named_versions()]
    assert jobs["test"]["strategy"]["matrix"]["python"] == named
    found = dict.fromkeys(named_versions(), "")
    expected = [(t.name, "{}.{}".format(*t.version)) for t in trials(list(NAMES), found)]
    listed = jobs["compat"]["strategy"]["matrix"]["include"]
    assert [(each["versions"], each["python"]) for each in listed] == expected


def test_the_oldest_python_that_is_named_is_the_oldest_that_is_allowed() -> None:
    assert project()["requires-python"] == ">={}.{}".format(*named_versions()[0])


def test_what_is_tried_where() -> None:
    found = {(3, 11): "a", (3, 12): "b", (3, 13): "c"}
    assert [str(trial) for trial in trials(list(NAMES), found)] == [
        "oldest on Python 3.11",
        "newest on Python 3.11",
        "newest on Python 3.12",
        "newest on Python 3.13",
        "pre-release on Python 3.13",
    ]
    assert trials(["pre-release"], {(3, 12): "b"}) == [Trial("pre-release", (3, 12), "b")]


def test_the_lower_end_of_a_requirement() -> None:
    assert lowest("click>=8.1") == "click==8.1.*"
    with pytest.raises(SystemExit, match="no lower end"):
        lowest("click")
    assert all("==" in each for each in requirements("oldest"))
    assert requirements("pre-release")[0] == "--pre"


def test_a_python_is_what_it_says_when_it_is_started(tmp_path: Path) -> None:
    assert version_of(sys.executable) == HERE
    shim = tmp_path / "python3.12"
    shim.write_text("#!/bin/sh\necho 'not installed' >&2\nexit 127\n")
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    assert version_of(str(shim)) is None
    assert version_of(str(tmp_path / "nothing")) is None


@pytest.mark.skipif(HERE not in named_versions(), reason="a Python that is not named")
def test_the_python_that_runs_is_among_those_of_the_machine() -> None:
    assert pythons()[HERE] == sys.executable


def test_what_the_tests_import_is_installed_there() -> None:
    """Every conftest is read before a test runs, and what they hold reports against."""
    found: set[str] = set()
    for path in (*(ROOT / "tests").rglob("conftest.py"), ROOT / "tests/report/schema_checks.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
    installed = {re.split("[<>=]", each)[0] for each in (*FOR_TESTS, *project()["dependencies"])}
    brought = {"gradcheck", "tests", "tools", "_pytest", "numpy", "yaml", *sys.stdlib_module_names}
    assert found - brought <= installed
