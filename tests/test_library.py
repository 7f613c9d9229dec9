"""The package as somebody finds it who has installed it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import gradcheck

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]


def test_dir_shows_the_public_names() -> None:
    assert dir(gradcheck) == sorted([*gradcheck.__all__, "__version__"])
    for name in dir(gradcheck):
        assert getattr(gradcheck, name) is not None
    assert list(gradcheck.__all__) == sorted(gradcheck.__all__)


def test_a_function_is_one_whatever_was_imported_before() -> None:
    """A package has its modules as attributes: none may have the name of a public function."""
    modules = {path.stem for path in (ROOT / "gradcheck").iterdir()}
    assert not modules & set(gradcheck.__all__)
    import_module("gradcheck.checker.api")
    import_module("gradcheck.explainer.explanation")
    assert callable(gradcheck.check)
    assert callable(gradcheck.explain)


def loaded_by(code: str) -> set[str]:
    told = f"{code}\nimport sys; print(*(name for name in sys.modules if '.' not in name))"
    done = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("code", "never"),
    [
        (
            "import gradcheck",
            ["numpy", "tensorflow", "yaml", "rich", "click", "importlib_metadata"],
        ),
        ("import gradcheck; dir(gradcheck)", ["numpy", "tensorflow"]),
        ("from gradcheck import *", ["tensorflow", "matplotlib", "pytest", "rich"]),
    ],
)
def test_importing_costs_next_to_nothing(code: str, never: Sequence[str]) -> None:
    assert not loaded_by(code) & set(never)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_what_it_must(wheel: Path) -> None:
    files = set(zipfile.ZipFile(wheel).namelist())
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "gradcheck"],
        cwd=ROOT, check=False, capture_output=True, text=True,
    ).stdout.split()  # fmt: skip
    assert "gradcheck/py.typed" in files
    # Every module, and every list that modules read; nothing of the tests.
    assert {name for name in files if name.startswith("gradcheck/")} >= set(tracked)
    assert {name.partition("/")[0].partition("-")[0] for name in files} == {"gradcheck"}
    guide = {path.name for path in (ROOT / "specs" / "guide").glob("*.*")}
    assert {name for name in files if "/guide/" in name} == {f"gradcheck/guide/{n}" for n in guide}
    assert {
        "gradcheck/report/formats/html/page.css",
        "gradcheck/report/formats/html/page.js",
    } < files


def test_the_wheel_names_the_command_and_the_plugin(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith("entry_points.txt"))
        text = files.read(name).decode()
        (name,) = (name for name in files.namelist() if name.endswith("METADATA"))
        metadata = files.read(name).decode()
    assert "[pytest11]\ngradcheck = gradcheck.testing.plugin" in text
    assert "gradcheck = gradcheck.cli:main" in text
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    # What a run does not need is asked for by nobody.
    assert not [n for n in needed if ("pytest" in n or "matplotlib" in n) and "extra ==" not in n]


def test_the_wheel_says_whose_it_is_and_where(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith("METADATA"))
        metadata = files.read(name).decode()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"Homepage", "Documentation", "Repository", "Issues", "Changelog"} <= set(
        project["urls"]
    )
    for label, url in project["urls"].items():
        assert f"Project-URL: {label}, {url}" in metadata
    assert "Author: The gradcheck authors" in metadata
    assert "Classifier: Operating System :: POSIX :: Linux" in metadata


def test_every_address_of_the_project_is_that_of_its_metadata() -> None:
    """Whoever moves the project has one list to change; this names the places that repeat it."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    known = (*urls.values(), urls["Repository"].removeprefix("https://github.com/") + "@")
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*.yml"), *ROOT.glob("docs/*.md")]
    for path in pages:
        for found in re.findall(r"[\w:/.-]*gradcheck/gradcheck\S?", path.read_text("utf-8")):
            assert found.startswith(known), path


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.tar.gz")
    with tarfile.open(found) as packed:
        packed.extractall(folder, filter="data")
    return folder / found.name.removesuffix(".tar.gz")


def test_the_source_distribution_holds_all_that_tests_need(sdist: Path) -> None:
    needed = [
        *("Makefile", "LICENSE", "README.md", "action.yml", ".pre-commit-hooks.yaml", "mkdocs.yml"),
        *("benchmarks", "docs", "gradcheck", "specs", "tests", "tools", ".github"),
    ]
    assert [name for name in needed if not (sdist / name).exists()] == []
    for folder in ("benchmarks", "docs", "specs", "tests", "tools", ".github"):
        here = {p.relative_to(ROOT) for p in (ROOT / folder).rglob("*") if p.is_file()}
        there = {p.relative_to(sdist) for p in (sdist / folder).rglob("*") if p.is_file()}
        assert {p for p in here - there if "__pycache__" not in p.parts} == set()


def version_built_in(folder: Path, to: Path) -> str:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(to)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (found,) = to.glob("*.whl")
    return found.name.split("-")[1]


def test_a_tree_without_git_has_a_version(sdist: Path, tmp_path: Path) -> None:
    told = (sdist / "PKG-INFO").read_text().partition("\nVersion: ")[2].partition("\n")[0]
    assert version_built_in(sdist, tmp_path / "from-sdist") == told
    archive = tmp_path / "archive"
    shutil.copytree(sdist, archive)
    (archive / "PKG-INFO").unlink()
    assert version_built_in(archive, tmp_path / "from-archive") == "0.1.dev0"
    # What `git archive` makes of a commit two behind its tag.
    said = f"node: {'a' * 40}\nnode-date: 2026-01-01T00:00:00+00:00\n"
    (archive / ".git_archival.txt").write_text(f"{said}describe-name: v1.2.3-2-gaaaaaaa\n")
    assert version_built_in(archive, tmp_path / "from-tag").startswith("1.2.4.dev2")


def test_a_tag_is_the_version_and_a_clone_without_tags_has_one(sdist: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(sdist, clone)
    (clone / "PKG-INFO").unlink()
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init"], ["add", "-A"], [*who, "commit", "-m", "first"]):
        subprocess.run(["git", *command], cwd=clone, check=True, capture_output=True)
    assert version_built_in(clone, tmp_path / "untagged").startswith("0.1.dev1+g")
    subprocess.run(["git", "tag", "v7.1.0"], cwd=clone, check=True)
    assert version_built_in(clone, tmp_path / "tagged") == "7.1.0"


def test_a_run_with_the_wheel_installed(wheel: Path, pytester: pytest.Pytester) -> None:
    """pytest rewrites the assertions of packages that bring a plugin: ours takes no harm."""
    with zipfile.ZipFile(wheel) as files:
        files.extractall(pytester.path / "installed")  # noqa: S202  (it is our own)
    (pytester.path / "specs").mkdir()
    (pytester.path / "specs" / "exp.yaml").write_text("op: exp\ninputs: {x: [3]}\n")
    (pytester.path / "test_it.py").write_text(
        "import gradcheck as package\n"
        "def test_it(gradcheck):\n"
        "    assert 'installed' in package.__file__\n"
        "    gradcheck(lambda x: x * x, 2.0)\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-W",
        "error::pytest.PytestWarning",
        "specs",
        "test_it.py",
    ]
    environment = {"PYTHONPATH": str(pytester.path / "installed"), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        command, cwd=pytester.path, env=environment, check=False, capture_output=True, text=True
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr
