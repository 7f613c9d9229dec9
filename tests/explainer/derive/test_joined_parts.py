"""Pieces that lie side by side are put together, and nothing else is."""

from __future__ import annotations

import pytest

from gradcheck.explainer import trees
from gradcheck.explainer.derive.joined_parts import joined_parts


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (["stack([zeros(2), b], 0)", "stack([a, zeros(2)], 0)"], "stack([a, b], 0)"),
        (
            ["concatenate([a, zeros([2])], 1)", "concatenate([zeros([2]), zeros([2])], 1)"],
            "concatenate([a, zeros([2])], 1)",
        ),
        (["stack([a, zeros(2)], 0)", "stack([b, zeros(2)], 0)"], None),
        (["stack([a, zeros(2)], 0)", "stack([zeros(2), b, zeros(2)], 0)"], None),
        (["stack([a, zeros(2)], 0)", "b"], None),
        (["a"], "a"),
        (["stack([a, b], 0)"], "stack([a, b], 0)"),
    ],
)
def test_pieces(parts: list[str], whole: str | None) -> None:
    found = trees.text_of(joined_parts([trees.read(part) for part in parts]))
    assert found == (whole if whole is not None else " + ".join(parts))


def test_another_axis_or_another_way_is_not_joined() -> None:
    parts = [trees.read("stack([a, zeros(2)], 0)"), trees.read("stack([zeros(2), b], 1)")]
    assert "+" in trees.text_of(joined_parts(parts))
    parts[1] = trees.read("concatenate([zeros(2), b], 0)")
    assert "+" in trees.text_of(joined_parts(parts))
