from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.conftest import Gradcheck


def test_the_cause_stays_while_the_case_gets_small(
    gradcheck: Gradcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "large.yaml").write_text(
        "op: xlogy\ninputs: {x: [3, 2], y: [3, 2]}\ndtype: complex64\nmode: graph\n"
    )
    said = gradcheck("shrink", "large.yaml", "--output", "small.yaml")
    assert said.code == 0
    assert "step" in said.err
    text = (tmp_path / "small.yaml").read_text()
    assert "lacks a conjugate" in text.splitlines()[0]
    assert "mode" not in text
    assert "dtype: complex128" in text
    (inputs,) = [line for line in text.splitlines() if line.startswith("inputs:")]
    assert inputs.count("j") == 2
    run = gradcheck("run", "small.yaml")
    assert run.code == 0
    assert "1 mismatch (expected)" in run.out


def test_one_that_passes_is_not_shrunk(gradcheck: Gradcheck, tmp_path: Path) -> None:
    path = tmp_path / "fine.yaml"
    path.write_text("op: exp\ninputs: {x: [2]}\n")
    said = gradcheck("shrink", str(path))
    assert said.code == 2
    assert "does not fail: its verdict is pass" in said.err


def test_one_case_is_to_be_named(gradcheck: Gradcheck, tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text("op: exp\ncases: [{inputs: {x: [2]}}, {inputs: {x: [3]}}]\n")
    said = gradcheck("shrink", str(path))
    assert said.code == 2
    assert "has 2 cases: name one of them" in said.err
    assert "two.yaml::" in said.err
