"""Variables get the names that their owners know them by."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from gradcheck.checker.subject.reachable import handle_of, reachable


def names(target: Any) -> set[str]:
    return set(reachable(target).names.values())


def test_in_a_closure(tf: Any) -> None:
    weight = tf.Variable(1.0)
    assert names(lambda x: x * weight) == {"weight"}


def test_a_name_of_its_own(tf: Any) -> None:
    weight = tf.Variable(1.0, name="gain")
    assert names(lambda x: x * weight) == {"gain"}


def test_in_containers_and_objects(tf: Any) -> None:
    class Holder:
        def __init__(self) -> None:
            self.parts = {"a": [tf.Variable(1.0)]}

        def __call__(self, x: Any) -> Any:
            return x

        def method(self, x: Any) -> Any:
            return x

    holder = Holder()
    assert names(holder) == {"parts['a'][0]"}
    assert names(holder.method) == {"parts['a'][0]"}
    assert names(lambda x: holder(x) + x) == {"holder.parts['a'][0]"}
    assert names(functools.partial(holder.method, 1)) == {"parts['a'][0]"}


GLOBAL: list[Any] = []


def uses_a_global(x: Any) -> Any:
    return [x * each for each in GLOBAL]


def test_a_global(tf: Any) -> None:
    GLOBAL[:] = [tf.Variable(1.0)]
    assert names(uses_a_global) == {"GLOBAL[0]"}
    assert names(lambda x: uses_a_global(x + 1)) == {"GLOBAL[0]"}


def test_behind_decorators(tf: Any) -> None:
    weight = tf.Variable(1.0)

    def function(x: Any) -> Any:
        return x * weight

    assert names(tf.function(function)) == {"weight"}
    assert names(tf.custom_gradient(lambda x: (x * weight, lambda g: g))) == {"weight"}


def test_a_module(tf: Any) -> None:
    class Scale(tf.Module):  # type: ignore[misc]  # no types in TF
        def __init__(self) -> None:
            super().__init__(name="scale")
            self.gain = tf.Variable(1.0)

    assert names(Scale()) == {"gain"}


def test_a_layer(tf: Any) -> None:
    import keras

    dense = keras.layers.Dense(2, name="first")
    dense(tf.ones([1, 3]))
    assert names(dense) == {"first/kernel", "first/bias"}
    assert names(lambda x: dense(x) + x) == {"first/kernel", "first/bias"}
    assert {id(handle_of(v)) for v in dense.weights} == set(reachable(dense).names)


@pytest.mark.parametrize("thing", [abs, len, print, None, 3, "text", [], lambda x: x])
def test_what_holds_nothing(thing: Any) -> None:
    found = reachable(thing)
    assert not found.names
    assert not found.objects


def test_what_holds_itself() -> None:
    around: list[Any] = []
    around.append(around)
    assert not reachable(lambda: around).names


def test_what_makes_up_its_attributes(tf: Any) -> None:
    class Endless:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    weight, endless = tf.Variable(1.0), Endless()
    assert names(lambda x: (endless, x * weight)) == {"weight"}


def test_slots(tf: Any) -> None:
    class Slotted:
        __slots__ = ("weight",)

        def __init__(self) -> None:
            self.weight = tf.Variable(1.0, name="w")

    slotted = Slotted()
    assert names(lambda x: x * slotted.weight) == {"w"}


class Alike(type):
    """Classes that are all equal."""

    def __eq__(cls, other: object) -> bool:
        return isinstance(other, Alike)

    def __hash__(cls) -> int:
        return 1


def test_classes_of_odd_kinds(tf: Any) -> None:
    class Slotted(metaclass=Alike):
        __slots__ = ("weight",)

        def __init__(self, weight: Any) -> None:
            self.weight = weight

    class Plain(metaclass=Alike):
        def __init__(self, weight: Any) -> None:
            self.weight = weight

    class Odd:
        __module__ = None  # type: ignore[assignment]

        def __init__(self, weight: Any) -> None:
            self.weight = weight

    for kind in (Slotted, Plain, Odd):
        held = kind(tf.Variable(1.0))
        assert len(reachable(held).variables) == 1
