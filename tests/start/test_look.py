"""What a module offers, once it was imported."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

from gradcheck.model.findings import FoundKind, Sighting, Taken
from gradcheck.start import look
from gradcheck.start.look import look_at_module, module_case

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Look = Callable[[str], Sighting]

SOURCE = """
    import functools
    import keras
    import tensorflow as tf
    from os.path import join
    from tensorflow import identity

    @tf.custom_gradient
    def by_hand(x):
        return x, lambda dy: dy

    def inside(x):
        @tf.custom_gradient
        def inner(y):
            return y, lambda dy: dy
        return inner(x)

    @tf.function
    def traced(x: tf.Tensor, /, n: int = 2):
        return x

    def loss(y_true, y_pred):
        return y_true - y_pred

    def plain(path, *args, **kwargs):
        raise SystemExit

    class Scale(keras.layers.Layer):
        def __init__(self, units: int, **kwargs):
            super().__init__(**kwargs)

        def call(self, x):
            return x

    class Abstract(keras.layers.Layer):
        pass

    class Plain:
        def __call__(self, x):
            return x

    class Trap:
        def __getattribute__(self, name):
            raise SystemError("looked at")

    trap = Trap()
    bound = functools.partial(by_hand, 1.0)
    number = 3
    _private = by_hand
"""


@pytest.fixture
def seen(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Look:
    name = f"gc_look_{abs(hash(request.node.name))}"
    monkeypatch.setattr(sys, "path", [*sys.path])

    def looked(source: str) -> Sighting:
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        found = look_at_module(module_case(name), allow=[name], root=str(tmp_path))
        sys.modules.pop(name, None)
        return found

    return looked


def test_what_has_a_gradient_is_found_with_what_it_takes(seen: Look) -> None:
    sighting = seen(SOURCE)
    found = {thing.target.partition(":")[2]: thing for thing in sighting.found}
    assert {name: thing.kind for name, thing in found.items()} == {
        "Scale": FoundKind.LAYER,
        "bound": FoundKind.CUSTOM_GRADIENT,
        "by_hand": FoundKind.CUSTOM_GRADIENT,
        "inside": FoundKind.CUSTOM_GRADIENT,
        "loss": FoundKind.LOSS_FUNCTION,
        "plain": FoundKind.FUNCTION,
        "traced": FoundKind.TENSOR_FUNCTION,
    }
    assert found["Scale"].init == (Taken("units", annotation="int"),)
    assert found["Scale"].call == (Taken("x"),)
    assert [(p.name, p.required, p.by_position) for p in found["traced"].call] == [
        ("x", True, True),
        ("n", False, False),
    ]
    assert found["plain"].call == (Taken("path"),)
    assert found["by_hand"].place.endswith(".py:8")
    assert sighting.message == ""


def test_what_no_spec_can_name_is_told_apart(seen: Look) -> None:
    source = """
        import tensorflow as tf

        @tf.custom_gradient
        def _private(x):
            return x, lambda dy: dy

        @tf.custom_gradient
        def größe(x):
            return x, lambda dy: dy

        def _may_do_anything(path):
            raise SystemExit
    """
    sighting = seen(source)
    assert sighting.found == ()
    assert [thing.target.partition(":")[2] for thing in sighting.unnamed] == ["_private", "größe"]


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("import gc_no_such_package", "gc_no_such_package"),
    ],
)
def test_a_module_whose_import_raises_says_so(seen: Look, source: str, told: str) -> None:
    sighting = seen(source)
    assert told in sighting.message
    assert sighting.found == ()


def test_a_module_with_nothing_in_it(seen: Look) -> None:
    assert seen("").found == ()


def test_things_that_are_too_many_are_told(seen: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look, "MOST_FOUND", 2)
    sighting = seen("def a(x): ...\ndef b(x): ...\ndef c(x): ...\n")
    assert [thing.target[-1] for thing in sighting.found] == ["a", "b"]
    assert "of the 3 functions and classes in it the first 2" in sighting.message
