"""What a function takes, and calls that do not fit."""

from __future__ import annotations

from typing import Any

import pytest

from gradcheck.spec.expression.parameters import Parameters


def plain(x: Any, y: Any, axis: int = 0, *, name: str = "") -> Any:
    return x, y, axis, name


def placed(x: Any, /, y: Any, *rest: Any, **others: Any) -> Any:
    return x, y, rest, others


@pytest.mark.parametrize(
    ("function", "words"),
    [(plain, "x y axis= * name="), (placed, "x / y *rest **others"), (len, "obj /")],
)
def test_the_lists_say_what_signatures_do(function: Any, words: str) -> None:
    assert Parameters.read(words.split()) == Parameters.of(function)


def test_some_functions_tell_nothing() -> None:
    assert Parameters.of(getattr) is None


def test_what_they_take() -> None:
    known = Parameters.of(plain)
    assert known is not None
    assert known.names == ("x", "y", "axis", "name")
    assert known.required == {"x", "y"}
    assert known.list_text() == "it takes: x, y, axis, name"
    assert known.also("training").takes("training")
    assert known.also("axis") is known


@pytest.mark.parametrize(
    ("inputs", "args", "messages"),
    [
        (["x", "y"], ["axis"], []),
        (["y", "x"], [], []),
        (["x"], [], ["`f` needs `y`"]),
        # A wrong name explains a missing one.
        (["x", "z"], [], ["`f` has no input `z`"]),
        (["x", "y"], ["axes"], ["`f` has no arg `axes`"]),
    ],
)
def test_calls_by_name(inputs: list[str], args: list[str], messages: list[str]) -> None:
    known = Parameters.of(plain)
    assert known is not None
    assert [m.message for m in known.named_misfits("`f`", inputs, args)] == messages


@pytest.mark.parametrize(
    ("count", "args", "messages"),
    [
        (2, ["axis"], []),
        (1, [], ["`f` needs `y`"]),
        (4, [], ["`f` takes 3 by position, and `inputs` has 4"]),
        (2, ["x"], ["`f` gets `x` twice: from `inputs` by position too"]),
        (2, ["axes"], ["`f` has no arg `axes`"]),
    ],
)
def test_calls_by_position(count: int, args: list[str], messages: list[str]) -> None:
    known = Parameters.of(plain)
    assert known is not None
    assert [m.message for m in known.placed_misfits("`f`", count, args)] == messages


def test_any_number_and_any_name() -> None:
    known = Parameters.of(placed)
    assert known is not None
    assert list(known.placed_misfits("`f`", 7, ["whatever"])) == []
    assert known.list_text() == "it takes: x, y, *rest, any other name"
    (misfit,) = known.named_misfits("`f`", ["x", "y"], [])
    assert str(misfit).startswith("`f` has no input `x`; write `inputs` as a list")


def test_a_slip_that_any_other_name_swallows() -> None:
    known = Parameters.read(["units", "**rest"])
    (misfit,) = known.named_misfits("`L`", (), ("unitz", "name"))
    assert misfit.message == "`L` needs `units`"
    assert misfit.hint == "did you mean `units` by `unitz`? it takes: units, any other name"
    (misfit,) = known.named_misfits("`L`", (), ("name",))
    assert misfit.hint == "it takes: units, any other name"
