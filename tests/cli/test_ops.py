from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck import ops

if TYPE_CHECKING:
    from tests.cli.conftest import Gradcheck


def test_all_ops_are_listed_by_family(gradcheck: Gradcheck) -> None:
    said = gradcheck("ops")
    assert said.code == 0
    for op in ops.all_ops():
        assert f"\n  {op.name} " in f"\n{said.out}"
        assert op.summary in said.out
    assert {op.family for op in ops.all_ops()} <= set(said.out.splitlines())


def test_an_op_shows_its_formula_and_pitfalls(gradcheck: Gradcheck) -> None:
    op = ops.find("exp")
    assert op is not None
    said = gradcheck("ops", "exp")
    assert f"exp: {op.summary}" in said.out
    assert f"  dx = {op.formulas(op.call({'x': (2,)}, {}))['x']}\n" in said.out
    assert all(pitfall in said.out for pitfall in op.pitfalls)
    assert gradcheck("ops", "tf.math.exp") == said


def test_a_formula_that_depends_on_the_call_is_shown_for_one(gradcheck: Gradcheck) -> None:
    said = gradcheck("ops", "matmul")
    assert "for a of shape [3, 3] and b of shape [3, 3] it is" in said.out
    assert "  da = " in said.out
    assert "from equation and the shapes" in gradcheck("ops", "einsum").out


@pytest.mark.parametrize("name", ops.names())
def test_every_op_can_be_shown(gradcheck: Gradcheck, name: str) -> None:
    assert gradcheck("ops", name).code == 0


def test_an_unknown_op_is_2_and_suggests_the_nearest(gradcheck: Gradcheck) -> None:
    said = gradcheck("ops", "matmull")
    assert (said.code, said.out) == (2, "")
    assert said.err == "error: no op 'matmull' is declared: did you mean 'matmul'?\n"
    assert "`gradcheck ops` lists them" in gradcheck("ops", "zzzzzz").err
