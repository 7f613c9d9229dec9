"""How the keys of a case lie over those of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model import TargetKind

if TYPE_CHECKING:
    from tests.spec.conftest import Load


def test_a_case_overrides_and_merges(load_text: Load) -> None:
    text = """
        op: matmul
        inputs: {a: [2, 3], b: [3, 4]}
        args: {transpose_a: false}
        tolerance: {rtol: 1e-3}
        tags: [one]
        cases:
          - inputs: {a: [5, 3]}
            args: {transpose_b: false}
            tolerance: {atol: 1e-3}
            tags: [two]
          - expr: a @ b
            args: {}
        """
    first, second = load_text(text.replace("args: {transpose_a: false}\n", "\n")).cases
    assert [i.shape for i in first.inputs] == [(5, 3), (3, 4)]
    assert first.tolerance is not None
    assert (first.tolerance.rtol, first.tolerance.atol) == (1e-3, 1e-3)
    assert first.tags == ("two",)
    assert second.target.kind is TargetKind.EXPR
    assert dict(load_text(text).cases[0].args) == {"transpose_a": False, "transpose_b": False}
