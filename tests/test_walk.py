"""The way of a new user, from the README alone: to a failing CI job that names the wrong line.

Nothing is installed: `pip install` is left out, and the command is that of this interpreter. With
GRADCHECK_WALK set to the `gradcheck` of another environment that one is taken.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "docs" / "getting-started.md"]
WORKFLOW = ".github/workflows/gradients.yml"


def blocks(page: Path) -> list[str]:
    """What stands between fences, in the order of the page."""
    return re.findall(
        r"^```\w*\n(.*?)^```", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def write_files(page: Path, folder: Path) -> list[str]:
    """Every block that begins with the name of a file becomes that file; those seen last count."""
    names = []
    for block in blocks(page):
        named = re.match(r"# ([\w./-]+\.(?:py|ya?ml|toml))\n", block)
        if named:
            path = folder / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block)
            names.append(named[1])
    return names


def run(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A line for a shell, with `gradcheck` on the path."""
    other = os.environ.get("GRADCHECK_WALK")
    bin_ = folder / ".bin"
    bin_.mkdir(exist_ok=True)
    ours = f"PYTHONPATH={ROOT} exec {sys.executable} -m gradcheck"
    begin = f"unset PYTHONPATH; exec {other}" if other else ours
    (bin_ / "gradcheck").write_text(f'#!/bin/bash\n{begin} "$@"\n')
    (bin_ / "gradcheck").chmod(0o755)
    environment = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}", **variables}
    return subprocess.run(
        ["bash", "-e", "-c", command], cwd=folder, env=environment, check=False,
        capture_output=True, text=True,
    )  # fmt: skip


def gist(line: str) -> str:
    """A line without its numbers: the last digits belong to the machine."""
    return re.sub(r"\s+", " ", re.sub(r"-?\d[\d.e+-]*", "N", line)).strip()


@pytest.fixture(params=PAGES, ids=[page.name for page in PAGES])
def page(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


def test_from_the_page_to_a_failing_job_that_names_the_line(page: Path, tmp_path: Path) -> None:
    names = write_files(page, tmp_path)
    assert {"pyproject.toml", WORKFLOW} < set(names)
    job = yaml.safe_load((tmp_path / WORKFLOW).read_text())["jobs"]["gradients"]
    steps = [step["run"] for step in job["steps"] if "run" in step]
    install, check = steps
    assert install.startswith("pip install gradcheck")
    done = run(check, tmp_path, GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(tmp_path))
    assert done.returncode == 1, done.stdout + done.stderr
    marked = re.findall(r"^::error file=(\S+?\.py),line=(\d+),", done.stdout, flags=re.MULTILINE)
    (found,) = set(marked)
    wrong = (tmp_path / found[0]).read_text().splitlines()
    # The gradient function begins at that line, and the mistake stands in it.
    assert "def grad(" in wrong[int(found[1]) - 1]
    assert any("forgot" in line for line in wrong[int(found[1]) :][:3])
    # The page tells the same line as the run.
    assert f"{found[0]}:{found[1]}" in page.read_text("utf-8")
    assert " mismatch in " in done.stdout


def test_what_the_page_shows_is_what_the_command_says(page: Path, tmp_path: Path) -> None:
    write_files(page, tmp_path)
    shown = [block for block in blocks(page) if block.startswith("$ gradcheck run")]
    assert shown
    for block in shown:
        command, *lines = block.removeprefix("$ ").splitlines()
        if page.name == "README.md":  # at this point of it there is nothing else
            (tmp_path / "pyproject.toml").unlink()
            (tmp_path / "specs" / "scale.yaml").unlink()
        said = {gist(line) for line in run(command, tmp_path).stdout.splitlines()}
        assert [line for line in lines if line != "..." and gist(line) not in said] == []


def test_the_mended_gradient_passes(tmp_path: Path) -> None:
    page = ROOT / "docs" / "getting-started.md"
    write_files(page, tmp_path)
    text = page.read_text("utf-8")
    (line,) = re.findall(
        r"^        return upstream \* .*$", text.partition("## 5.")[2], re.MULTILINE
    )
    path = tmp_path / "mypkg" / "activations.py"
    wrong = next(each for each in path.read_text().splitlines() if "forgot" in each)
    path.write_text(path.read_text().replace(wrong, line))
    done = run("gradcheck run", tmp_path)
    assert done.returncode == 0, done.stdout
