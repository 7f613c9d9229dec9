from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

    from tests.cli.conftest import Gradcheck


def test_a_spec_is_written_to_a_new_file_and_never_over_one(
    gradcheck: Gradcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = gradcheck("new", "matmul", "--output", "specs/mine.yaml")
    assert (said.code, said.out) == (0, "")
    assert said.err == "wrote specs/mine.yaml\nnext: gradcheck run specs/mine.yaml\n"
    text = Path("specs/mine.yaml").read_text()
    assert text == "op: matmul\ninputs: {a: [3, 4], b: [4, 5]}\n"
    again = gradcheck("new", "matmul", "--output", "specs/mine.yaml")
    assert again.code == 2
    assert "not overwritten" in again.err
    assert Path("specs/mine.yaml").read_text() == text


def test_one_that_cannot_be_called_is_written_with_the_reason(
    gradcheck: Gradcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hardly.py").write_text("def never(x):\n    raise ValueError('the moon is wrong')\n")
    said = gradcheck("new", "hardly:never")
    assert said.code == 1
    assert "the moon is wrong" in said.out
    assert said.out.endswith("function: hardly:never\ninputs: {x: [3, 4]}\n")
    assert "runs its code" in said.err
