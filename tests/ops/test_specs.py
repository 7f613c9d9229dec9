"""The shipped specs: they load, and leave no declared op out."""

from __future__ import annotations

from pathlib import Path

from gradcheck.ops import all_ops, find
from gradcheck.spec import load

SPECS = Path(__file__).parents[2] / "specs"


def test_the_specs_are_right_and_use_every_op() -> None:
    loaded = load([str(SPECS)], allow=["specs.guide"])
    assert not loaded.problems, "\n".join(map(str, loaded.problems))
    used = {op.name for case in loaded.cases if (op := find(case.target.text))}
    assert used == {op.name for op in all_ops()}
