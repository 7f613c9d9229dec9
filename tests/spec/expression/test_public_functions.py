from __future__ import annotations

import pytest

from gradcheck.model import Location, Target, TargetKind
from gradcheck.spec.expression import allowlist
from gradcheck.spec.expression.public_functions import (
    named_functions,
    public_functions,
    unknown_functions,
)


def named(kind: str, text: str) -> set[str]:
    return set(named_functions(Target(TargetKind(kind), text, Location("a.yaml", 1, 1))))


@pytest.mark.parametrize(
    ("kind", "text", "functions"),
    [
        ("op", "matmul", {"tf.linalg.matmul"}),
        ("op", "tf.sin", {"tf.math.sin"}),
        ("op", "tf.math.sin", {"tf.math.sin"}),
        ("layer", "keras.layers.Dense", {"keras.layers.Dense"}),
        ("layer", "tf.keras.layers.Dense", {"keras.layers.Dense"}),
        ("expr", "tf.reduce_sum(tf.sin(x) * 2)", {"tf.math.reduce_sum", "tf.math.sin"}),
        ("expr", "tf.map_fn(lambda y: tf.sin(y), x)", {"tf.math.sin"}),
        ("expr", "x.tf.sin(", set()),
        ("function", "mypackage:tf.sin", set()),
        ("op", "tf.math.argmax", set()),
    ],
)
def test_what_a_case_names(kind: str, text: str, functions: set[str]) -> None:
    assert named(kind, text) & {*public_functions(), *functions} == functions


def test_the_list_is_of_what_a_spec_may_name() -> None:
    assert set(public_functions()) | unknown_functions() <= allowlist.ALLOWED | allowlist.LAYERS
    assert len(public_functions()) > 700


def test_a_module_is_found_by_the_name_that_says_most() -> None:
    modules = public_functions()
    assert modules["tf.math.sin"] == "tf.math"
    assert modules["tf.experimental.numpy.sin"] == "tf.experimental.numpy"
    assert modules["tf.tile"] == "tf"
    assert {"keras.ops", "keras.layers", "keras.losses", "tf.nn"} <= set(modules.values())


def test_what_was_seen_to_have_a_gradient_counts() -> None:
    name = min(unknown_functions())
    assert name not in public_functions()
    assert name in public_functions(seen={name})


def test_what_has_none_is_not_counted() -> None:
    for name in ("tf.math.floor", "tf.math.argmax", "tf.zeros_like"):
        assert name not in public_functions()
        assert name not in unknown_functions()
