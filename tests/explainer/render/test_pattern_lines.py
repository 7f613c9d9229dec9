"""The pattern of a Jacobian in characters."""

from __future__ import annotations

import pytest

from gradcheck.explainer.explanation import explain
from gradcheck.explainer.render.pattern_lines import pattern_lines
from gradcheck.explainer.render.terminal import render_text


def lines_of(name: str, width: int = 80, *, blocks: bool = True, **more: object) -> list[str]:
    document = explain(name, **more).document  # type: ignore[arg-type]
    assert document.picture is not None
    return pattern_lines(document.picture(), width, blocks=blocks)


def test_signs_and_zeros_are_three_characters() -> None:
    at = {"x": [1.0, -2.0, 0.0]}
    drawn = lines_of("square", at=at)
    assert drawn[-4:] == ["  █··", "  ·▒·", "  ···", "  2 of 9 not zero"]
    plain = lines_of("square", at=at, blocks=False)
    assert plain[-4:] == ["  +..", "  .-.", "  ...", "  2 of 9 not zero"]
    assert "the given values" in " ".join(" ".join(drawn).split())


def test_two_inputs_stand_side_by_side_where_they_fit() -> None:
    wide = lines_of("matmul", 80)
    assert any("∂C/∂A" in line and "∂C/∂B" in line for line in wide)
    narrow = lines_of("matmul", 40)
    assert not any("∂C/∂A" in line and "∂C/∂B" in line for line in narrow)
    assert max(map(len, narrow)) <= 40


def test_what_is_too_large_is_counted() -> None:
    drawn = lines_of("conv2d")
    assert "  ∂y/∂x: 54×64, 432 of 3456 not zero" in drawn
    assert "--format html" in drawn[-1]
    assert not any("█" in line for line in drawn)


def test_without_numbers_there_is_no_pattern() -> None:
    assert lines_of("exp", shapes={"x": (20, 20)}) == []


@pytest.mark.parametrize("blocks", [True, False])
def test_the_page_has_it_behind_the_gradient(blocks: bool) -> None:
    text = render_text(explain("softmax").document, blocks=blocks)
    assert text.index("\nGradient") < text.index("\nJacobian") < text.index("\nForward mode")
    assert ("█" in text) is blocks
