"""The function under test: an op that is known, or a function that is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.spec.conftest import Good, Load, Problem


@pytest.mark.parametrize("entry", ["mypkg", "mypkg.layers"])
def test_a_function_of_an_allowed_package(good: Good, entry: str) -> None:
    case = good("function: mypkg.layers:swish\ninputs: {x: [2]}\n", allow=(entry,))
    assert case.target.text == "mypkg.layers:swish"


@pytest.mark.parametrize("entry", ["mypk", "mypkg.layers.deep", "mypkg.layer", "other"])
def test_a_function_of_any_other_package(load_text: Load, entry: str) -> None:
    loaded = load_text("function: mypkg.layers:swish\ninputs: {x: [2]}\n", allow=(entry,))
    (problem,) = loaded.problems
    assert str(problem.location) == "s.yaml:1:11"
    assert "--allow mypkg" in problem.hint
    assert "[tool.gradcheck]" in problem.hint
    assert not loaded.cases


@pytest.mark.parametrize(
    ("text", "at", "words"),
    [
        ("op: matmull\ninputs: {a: [2]}\n", (1, 5), "did you mean `matmul`?"),
        ("op: tf.linalg.matmull\ninputs: {a: [2]}\n", (1, 5), "did you mean `tf.linalg.matmul`?"),
        ("op: tf.io.write_file\ninputs: {a: [2]}\n", (1, 5), "not on the list of pure"),
        ("op: tf.py_function\ninputs: {a: [2]}\n", (1, 5), "not on the list of pure"),
        ("op: tf.linalg\ninputs: {a: [2]}\n", (1, 5), "is a module"),
        ("op: square(a)\ninputs: {a: [2]}\n", (1, 5), "under `expr:`"),
        ("op: a.b:c\ninputs: {a: [2]}\n", (1, 5), "under `function:`"),
        ("op: 3\ninputs: {a: [2]}\n", (1, 5), "must be a text"),
        ("function: swish\ninputs: {a: [2]}\n", (1, 11), "package.module:name"),
        ("function: m.deep.f\ninputs: {a: [2]}\n", (1, 11), "did you mean `m.deep:f`?"),
        ("function: m:größe\ninputs: {a: [2]}\n", (1, 11), "the letters a to z"),
        ("function: 'm:a b'\ninputs: {a: [2]}\n", (1, 11), "package.module:name"),
        (f"op: {'x' * 100_000}\ninputs: {{x: [2]}}\n", (1, 5), "there is no op `xxx"),
    ],
)
def test_what_cannot_be_reached_is_located(
    problem: Problem, text: str, at: tuple[int, int], words: str
) -> None:
    problem(text, at, words)
