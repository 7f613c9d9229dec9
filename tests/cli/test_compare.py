"""`gradcheck compare`: what it says, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.cli.conftest import Gradcheck, Stage


def test_compare(stage: Stage, gradcheck: Gradcheck, snapshot: SnapshotAssertion) -> None:
    stage.add("pass-1", "pass-2", "pass-3", "mismatch-4")
    gradcheck("run", "--format", "json", "--output", "old.json")
    assert (
        gradcheck("compare", "old.json", "old.json").out == "4 cases in both reports: no change\n"
    )
    text = Path("old.json").read_text().replace('"2.0"', '"2.1"').replace("pass-3", "pass-5")
    data = json.loads(text)
    data["results"][1].update(verdict="crashed", message="died of SIGABRT")
    data["results"][3].update(verdict="pass")
    Path("new.json").write_text(json.dumps(data))
    said = gradcheck("compare", "old.json", "new.json")
    assert said.code == 1
    assert said.out == snapshot
    assert gradcheck("compare", "old.json", "absent.json").code == 2
