"""Keras' layers, losses and activations: each has a case, and is left as it was by its check."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.checker.case import problem_of
from gradcheck.checker.check import check_problem
from gradcheck.checker.subject.explore import explored
from gradcheck.checker.subject.look_up import look_up
from gradcheck.checker.subject.tensors import FunctionRaised
from gradcheck.checker.subject.watched_call import target_of
from gradcheck.model import Case, TargetKind
from gradcheck.spec.expression.allowlist import why_refused
from tests.suite import of_family

if TYPE_CHECKING:
    from gradcheck.checker.subject.problem import Problem

UNREAD = {"back-by-weights-of-its-own": {"reversible_embedding/embeddings"}}
"""By case: the weights that its call does not need."""

CANNOT_BE_BUILT = {"mel-in-float64", "rotation-in-float64"}
"""Those of which Keras cannot even take the first call."""

NOT_CHECKED = {"keras.layers.AugMix": "it draws by Python's random numbers, whatever its seed"}
"""What a spec can name, but has no case, with the reason."""


@cache
def cases() -> dict[str, Case]:
    """By id; those that are there in float64 and in less, in float64 alone."""
    return {case.id: case for case in of_family("keras") if not case.id.endswith("[float32]")}


@cache
def layers() -> dict[str, Case]:
    """By id: the cases of layers and models."""
    kinds = ("keras.layers.", "keras.Sequential")
    return {
        name: case
        for name, case in cases().items()
        if case.target.kind is TargetKind.LAYER
        and case.target.text.startswith(kinds)
        and case.name not in CANNOT_BE_BUILT
        and str(case.mode) == "eager"
    }


@cache
def some_of_each() -> dict[str, Case]:
    """By id: the first quick case of each layer, and those in which a call changes something."""
    first: dict[str, str] = {}
    for name, case in layers().items():
        if "slow" not in case.tags:
            moves = case.args.get("training") or case.init.get("stateful")
            first.setdefault(name if moves else case.target.text, name)
    return {name: layers()[name] for name in first.values()}


def problem(case: Case) -> Problem:
    return problem_of(case, allow=(), root=".")


def values(layer: Any) -> dict[str, Any]:
    """Every variable: weights, averages, seeds."""
    return {f"{i} {v.path}": np.array(v.numpy()) for i, v in enumerate(layer.variables)}


def attributes(layer: Any) -> dict[str, tuple[Any, Any]]:
    """By layer and name: every attribute, and what it holds if it is a container."""
    found = {}
    for i, part in enumerate(layer._flatten_layers()):
        for name, value in vars(part).items():
            inside: Any = None
            if isinstance(value, list | tuple | set):
                inside = [id(item) for item in value]
            elif isinstance(value, dict):
                inside = [(key, id(item)) for key, item in value.items()]
            # (The value itself is kept alive by this, so that no other can take its place.)
            found[f"{i} {part.name}.{name}"] = value, inside
    return found


@pytest.mark.parametrize("name", sorted(some_of_each()))
def test_every_layer_is_left_as_it_was(name: str) -> None:
    asked = problem(layers()[name])
    layer = target_of(asked.function)
    variables, before = values(layer), attributes(layer)
    result = check_problem(asked, name)
    assert result.verdict != "skipped"
    after = values(layer)
    assert after.keys() == variables.keys()
    for key, value in variables.items():
        assert value.tobytes() == after[key].tobytes(), key
    now = attributes(layer)
    assert now.keys() == before.keys()
    for key, (value, inside) in before.items():
        assert now[key][0] is value, key
        assert now[key][1] == inside, key


@pytest.mark.parametrize("name", sorted(layers()))
def test_every_trained_weight_is_checked(name: str) -> None:
    asked = problem(layers()[name])
    layer = target_of(asked.function)
    trained = {weight.path for weight in layer.trainable_variables}
    with explored(asked) as whole:
        operands = {o.name: o for o in whole.operands if o.differentiate}
    missing = trained - operands.keys()
    assert missing == UNREAD.get(layers()[name].name, set())


@pytest.mark.parametrize("name", sorted(CANNOT_BE_BUILT))
def test_what_cannot_be_built(name: str) -> None:
    (case,) = (case for case in cases().values() if case.name == name)
    with pytest.raises(FunctionRaised):
        problem(case)


@pytest.mark.parametrize("module", ["keras.layers", "keras.losses", "keras.activations"])
def test_all_that_keras_has_is_checked_or_cannot_be(module: str) -> None:
    """A new version of Keras shows here what there is to be added."""
    names = [f"{module}.{name}" for name in dir(look_up(module)) if not name.startswith("_")]
    public = {name: look_up(name) for name in names if callable(look_up(name))}
    named = (case for case in cases().values() if case.target.kind is not TargetKind.EXPR)
    checked = {id(look_up(case.target.text)) for case in named}
    # (Some classes have two names.)
    left = {name for name, thing in public.items() if id(thing) not in checked}
    assert {name for name in left if not why_refused(name)} == {
        name for name in NOT_CHECKED if name.startswith(module)
    }
    assert {name for name in public if name not in left and why_refused(name)} == set()
