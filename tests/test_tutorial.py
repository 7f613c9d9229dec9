"""The tutorial runs from top to bottom, and shows what is written in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools import notebook

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.ipynb"


def cells(kind: str) -> list[dict[str, Any]]:
    content = json.loads(TUTORIAL.read_text("utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == kind]


def check(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.notebook", str(path), "--check"]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)


def test_it_shows_what_is_written_in_it() -> None:
    done = check(TUTORIAL)
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_is_a_notebook_as_jupyter_wants_it() -> None:
    content = json.loads(TUTORIAL.read_text("utf-8"))
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in content["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[\w-]{1,64}", each) for each in ids)
    # (It has been run to its end, and nothing of the machine that did is in it.)
    assert [cell["execution_count"] for cell in cells("code")] == list(
        range(1, len(cells("code")) + 1)
    )
    assert str(ROOT) not in TUTORIAL.read_text("utf-8")


def test_its_links_lead_somewhere() -> None:
    text = "".join("".join(cell["source"]) for cell in cells("markdown"))
    for name in re.findall(r"\]\(([^)]+)\)", text):
        assert (TUTORIAL.parent / name).exists(), name


def test_it_shows_results_explanations_and_a_picture() -> None:
    kinds = {kind for cell in cells("code") for o in cell["outputs"] for kind in o.get("data", {})}
    assert kinds == {"text/plain", "text/html", "text/markdown", "text/latex", "image/png"}


class TestRunner:
    def outputs(self, *sources: str) -> list[str]:
        made: list[dict[str, Any]] = [{"source": [source]} for source in sources]
        notebook.run(made)
        return [notebook.told(cell["outputs"]) for cell in made]

    def test_cells_share_their_names(self) -> None:
        assert self.outputs("a = 2", "print(a)\na + 1", "a;None") == ["", "2\n\n3", ""]

    def test_what_raises_ends_it(self) -> None:
        with pytest.raises(ZeroDivisionError):
            self.outputs("1 / 0")

    def test_figures_that_vary_do_not_count(self) -> None:
        first = self.outputs("print('error bar 1.2e-13 in 0.05 s, 0.03s: mismatch 1.92')")
        assert first == self.outputs("print('error bar 9e-14 in 1.25 s, 0.13s: mismatch 1.92')")
        assert first != self.outputs("print('error bar 9e-14 in 1.25 s, 0.13s: mismatch 1.93')")

    def test_a_notebook_that_shows_something_else_is_told(self, tmp_path: Path) -> None:
        cell: dict[str, Any] = {"cell_type": "code", "source": ["1 + 1"], "outputs": []}
        cell["outputs"] = [{"output_type": "execute_result", "data": {"text/plain": ["3"]}}]
        path = tmp_path / "wrong.ipynb"
        path.write_text(json.dumps({"cells": [cell]}))
        done = check(path)
        assert done.returncode == 1
        assert "cell 1 shows something else:\n1 + 1\n--- before\n3\n--- now\n2" in done.stdout
