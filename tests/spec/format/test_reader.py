"""The keys of one case: each alone, and those that do not go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.spec.conftest import Problem


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("op:\ninputs: {a: [2]}\n", (1, 4), "not nothing"),
        ("inputs: {a: [2]}\n", (1, 1), "does not say what to check"),
        ("op: square\nexpr: x\ninputs: {x: [2]}\n", (2, 1), "`op` and `expr` stand side by side"),
        ("op: square\ninputs: {x: [2]}\ndtype: int32\n", (3, 8), "must be one of float64"),
        ("op: square\ninputs: {x: [2]}\ndtype: []\n", (3, 8), "empty list"),
        ("op: square\ninputs: {x: [2]}\nmode: [eager, eager]\n", (3, 15), "twice"),
        ("op: square\ninputs: {x: [2]}\ncheck: [reverse, revese]\n", (3, 18), "`reverse`?"),
        ("op: square\ninputs: {x: [2]}\nseed: -1\n", (3, 7), "at least 0"),
        ("op: square\ninputs: {x: [2]}\nseed: 9223372036854775808\n", (3, 7), "at most"),
        ("op: square\ninputs: {x: [2]}\nseed: 1.5\n", (3, 7), "whole number"),
        ("op: square\ninputs: {x: [2]}\ntimeout: 0\n", (3, 10), "above 0"),
        ("op: square\ninputs: {x: [2]}\ntimeout: 86401\n", (3, 10), "86,400"),
        ("op: square\ninputs: {x: [2]}\ntimeout: .nan\n", (3, 10), "must be a number"),
        ("op: square\ninputs: {x: [2]}\ntimeout: soon\n", (3, 10), "must be a number"),
        ("op: square\ninputs: {x: [2]}\ntags: [a b]\n", (3, 8), "a tag cannot be `a b`"),
        ("op: square\ninputs: {x: [2]}\nname: a/b\n", (3, 7), "`name` cannot be `a/b`"),
        ("op: square\ninputs: {x: [2]}\nname: 3\n", (3, 7), "put it in quotes"),
        ("op: square\ninputs: {x: [2]}\nreason: ''\n", (3, 9), "is empty"),
        (
            'op: square\ninputs: {x: [2]}\nreason: "\\e[31m"\n',
            (3, 9),
            "control character: `\\x1b[31m`",
        ),
    ],
)
def test_what_a_key_cannot_hold(
    problem: Problem, text: str, at: tuple[int, int], words: str
) -> None:
    problem(text, at, words)


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("expr: tf.squar(x)\ninputs: {x: [2]}\n", (1, 7), "did you mean `tf.square`?"),
        ("expr: 'x + ''a'' + y'\ninputs: {x: [2]}\n", (1, 20), "`y` is not an input"),
        ('expr: "x +\\t y"\ninputs: {x: [2]}\n', (1, 14), "`y` is not an input"),
        ("expr: x +\n  y\ninputs: {x: [2]}\n", (1, 7), "`y` is not an input"),
        ("expr: (x\ninputs: {x: [2]}\n", (1, 7), "never closed"),
    ],
)
def test_an_expression_is_blamed_at_its_character(
    problem: Problem, text: str, at: tuple[int, int], words: str
) -> None:
    problem(text, at, words)
