from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gradcheck.hunter.drafts import tensors
from gradcheck.hunter.recorded import read_calls

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Gradcheck


def test_what_is_to_be_hunted_must_be_said(gradcheck: Gradcheck) -> None:
    said = gradcheck("hunt")
    assert said.code == 2
    assert "gradcheck hunt tf.linalg" in said.err


def test_a_name_that_is_not_known_gets_a_hint(gradcheck: Gradcheck, tmp_path: Path) -> None:
    said = gradcheck("hunt", "tf.linalg.dett", "--output", str(tmp_path / "found"))
    assert said.code == 2
    assert "did you mean tf.linalg.det?" in said.err
    assert not (tmp_path / "found").exists()


def test_a_state_that_is_none_is_not_overwritten(gradcheck: Gradcheck, tmp_path: Path) -> None:
    (tmp_path / "hunt.json").write_text('{"format": 99}')
    said = gradcheck("hunt", "matmul", "--output", str(tmp_path))
    assert said.code == 2
    assert "is not the state of a hunt" in said.err
    assert (tmp_path / "hunt.json").read_text() == '{"format": 99}'


def test_a_hunt_without_time_says_so_and_keeps_its_state(
    gradcheck: Gradcheck, tmp_path: Path
) -> None:
    said = gradcheck("hunt", "matmul", "--minutes", "0", "--output", str(tmp_path / "found"))
    assert said.code == 0
    assert "0 new findings in 0 cases of 1 target" in said.out
    assert json.loads((tmp_path / "found" / "hunt.json").read_text())["findings"] == []


def test_recorded_calls_are_read_as_cases(tmp_path: Path) -> None:
    path = tmp_path / "calls.yaml"
    path.write_text(
        "- {op: tf.raw_ops.Roll, inputs: {input: [3], shift: {values: 1, dtype: int32}, "
        "axis: {values: 0, dtype: int32}}}\n- {op: matmul, inputs: {a: [2, 2], b: [2, 2]}}\n"
    )
    calls = read_calls(path, ())
    assert list(calls) == ["tf.raw_ops.Roll", "matmul"]
    assert dict(tensors(calls["matmul"][0]))[("a",)] == {"shape": [2, 2]}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{a: 1}", "no list of calls"),
        ("- {inputs: {}}", "call 1 has no"),
        ("- {op: nono, inputs: {x: [2]}}", "nono"),
    ],
)
def test_calls_that_are_none_are_told(
    gradcheck: Gradcheck, tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / "calls.yaml"
    path.write_text(text)
    said = gradcheck("hunt", "--calls", str(path))
    assert said.code == 2
    assert told in said.err
