"""`gradcheck merge`: the reports of shards, as the command joins them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import PROBLEM, Gradcheck, Stage, result_names, without_seconds

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def sharded(gradcheck: Gradcheck, count: int) -> list[str]:
    files = [f"s{index}.json" for index in range(1, count + 1)]
    for index, file in enumerate(files, 1):
        gradcheck("run", "--shard", f"{index}/{count}", "--format", "json", "--output", file)
    return files


def test_shards_merged_are_the_whole_run(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add(*(f"pass-{n}" for n in range(7)), "mismatch-8", "kink-9")
    stage.problems.append(PROBLEM)
    stage.seconds |= {"pass-3": 9.0, "pass-5": 4.0}
    whole = gradcheck("run", "--format", "json")
    files = sharded(gradcheck, 3)
    sizes = [len(json.loads(Path(file).read_text())["results"]) for file in files]
    assert sum(sizes) == 9
    assert sizes[0] == 1  # the slow one has a shard of its own
    merged = gradcheck("merge", *files)
    assert (merged.code, merged.err) == (whole.code, "")
    assert without_seconds(json.loads(merged.out)) == without_seconds(json.loads(whole.out))


def test_merge_leaves_the_times_for_the_next_cut(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add(*(f"pass-{n}" for n in range(6)))
    stage.seconds["pass-3"] = 9.0
    files = sharded(gradcheck, 2)
    assert len(json.loads(Path(files[0]).read_text())["results"]) == 3
    gradcheck("merge", *files, "--output", "whole.json")
    sharded(gradcheck, 2)
    sizes = [len(json.loads(Path(file).read_text())["results"]) for file in files]
    assert sorted(sizes) == [1, 5]


def test_merge_into_other_formats(stage: Stage, gradcheck: Gradcheck) -> None:
    stage.add("pass-1", "mismatch-2")
    files = sharded(gradcheck, 2)
    said = gradcheck("merge", *files, "--format", "plain", "--junitxml", "r.xml")
    assert said.code == 1
    assert "2 cases: 1 pass, 1 mismatch" in said.out
    assert 'failures="1"' in Path("r.xml").read_text()
    said = gradcheck("merge", *files, "--output", "whole.json")
    assert (said.code, said.out) == (1, "")
    assert result_names(Path("whole.json").read_text()) == ["pass-1", "mismatch-2"]


@pytest.mark.parametrize(
    "files",
    [("s1.json",), ("s1.json", "s1.json"), ("absent.json",), ("specs",), ("s1.json", "other.json")],
    ids=" ".join,
)
def test_what_cannot_be_merged_is_said(
    stage: Stage, gradcheck: Gradcheck, snapshot: SnapshotAssertion, files: tuple[str, ...]
) -> None:
    stage.add("pass-1", "pass-2")
    sharded(gradcheck, 2)
    Path("other.json").write_text("{}")
    said = gradcheck("merge", *files)
    assert (said.code, said.out) == (2, "")
    assert said.err == snapshot
