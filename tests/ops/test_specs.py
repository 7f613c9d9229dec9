"""The shipped specs: they load, and leave no declared op out."""

from __future__ import annotations

from gradcheck.ops import all_ops, find
from tests.suite import shipped


def test_the_specs_are_right_and_use_every_op() -> None:
    """(That none has a problem is held where they are loaded.)"""
    used = {op.name for case in shipped() if (op := find(case.target.text))}
    assert used == {op.name for op in all_ops()}
