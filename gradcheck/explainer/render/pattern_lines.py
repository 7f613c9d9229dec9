"""The pattern of a Jacobian in characters, for a terminal: which outputs move with what."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gradcheck.explainer.worked_example import Jacobian, Numbers, Picture

__all__ = ["pattern_lines"]

_TALLEST, _WIDEST, _BETWEEN = 24, 60, 4
"""Rows and columns of a pattern that is still small, and the spaces between two of them."""
_BLOCKS, _LETTERS = ("█", "▒", "·"), ("+", "-", ".")
"""What is positive, negative and zero, in blocks and where there are none."""


def pattern_lines(picture: Picture, width: int, *, blocks: bool) -> list[str]:
    """The patterns of all inputs, side by side where that fits; nothing where there are no numbers.

    Args:
        picture: what the page is about.
        width: of the terminal.
        blocks: whether it has characters beyond ASCII.
    """
    numbers = picture.numbers
    if numbers is None or not numbers.jacobians:
        return []
    plus, minus, zero = signs = _BLOCKS if blocks else _LETTERS
    drawn, listed = list[list[str]](), list[str]()
    for jacobian in numbers.jacobians:
        height, across = jacobian.matrix.shape
        filled = int(np.count_nonzero(jacobian.matrix))
        told = f"{filled} of {jacobian.matrix.size} not zero"
        if height <= _TALLEST and across <= min(_WIDEST, width - 2):
            drawn.append([_title(numbers, jacobian), *_pattern(jacobian, signs), told])
        else:
            title = _title(numbers, jacobian)
            listed.append(f"  {title}: {height}{'×' if blocks else 'x'}{across}, {told}")
    lines = _beside(drawn, width - 2)
    point = "the given" if numbers.given else "an example's"
    said = (
        f"A row for each element of the output, a column for each of the input, at {point} values: "
        f"{plus} positive, {minus} negative, {zero} zero."
    )
    legend = textwrap.wrap(said, width, initial_indent="  ", subsequent_indent="  ")
    hint = ["  (too large to be drawn here: --format html draws it)"] if listed else []
    return [*(legend if drawn else []), *lines, *listed, *hint]


def _title(numbers: Numbers, jacobian: Jacobian) -> str:
    outputs = numbers.upstreams
    name = outputs[0].output if len(outputs) == 1 else "output"
    return f"∂{name}/∂{jacobian.symbol}"


def _pattern(jacobian: Jacobian, signs: tuple[str, str, str]) -> list[str]:
    plus, minus, zero = signs
    return [
        "".join(plus if value > 0 else minus if value < 0 else zero for value in row)
        for row in jacobian.matrix
    ]


def _beside(blocks: list[list[str]], width: int) -> list[str]:
    """Blocks of lines beside each other, as many as fit, those that do not below."""
    lines: list[str] = []
    row: list[list[str]] = []
    for block in [*blocks, []]:
        wide = sum(max(map(len, one)) + _BETWEEN for one in (*row, block) if one) - _BETWEEN
        if row and (not block or wide > width):
            lines += _joined(row)
            row = []
        row += [block] if block else []
    return lines


def _joined(row: list[list[str]]) -> list[str]:
    widths = [max(map(len, block)) + _BETWEEN for block in row]
    # (The last line, which says how many there are, stands below the pattern of each.)
    return [
        "  "
        + "".join(
            (block[i] if i < len(block) else "").ljust(width)
            for block, width in zip(row, widths, strict=True)
        ).rstrip()
        for i in range(max(map(len, row)))
    ]
