from __future__ import annotations

import random
import signal
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcheck.model import LEFT_CHANGED, Comparison, Result, Verdict
from gradcheck.run.workers import tensorflow_settings
from gradcheck.run.workers.state_guard import MOST_TOLD, StateGuard, with_note
from tests.hostile.attacks import hostile
from tests.run.fakes import make_case

CASE = hostile("a")
PASS = Result(CASE.id, Verdict.PASS, (Comparison("x", Verdict.PASS, (), "float64"),))


def fresh() -> StateGuard:
    """Made in the test itself: pytest changes the environment between a fixture and its test."""
    made = StateGuard(".")
    made.begin(CASE)
    return made


def test_nothing_has_changed() -> None:
    guard = fresh()
    assert guard.changes() == []
    guard.begin(CASE)
    assert guard.changes() == []


def test_a_timer_is_told_and_stopped() -> None:
    guard = fresh()
    signal.setitimer(signal.ITIMER_REAL, 100.0)
    assert guard.changes() == ["timers (False before, True now)"]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_value_that_cannot_be_compared_is_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = fresh()

    class Odd:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError

        __hash__ = None  # type: ignore[assignment]

    monkeypatch.setattr("sys.stdout", Odd())
    changes = guard.changes()
    monkeypatch.undo()
    assert changes == ["standard streams"]


def test_what_our_own_cases_load_is_nobodys_change(monkeypatch: pytest.MonkeyPatch) -> None:
    guard = fresh()
    assert guard.changes() == []
    assert guard.pass_by(make_case("ours"))
    monkeypatch.syspath_prepend("/somewhere")
    guard.begin(CASE)
    assert guard.changes() == []


def test_random_numbers_begin_anew_with_every_function() -> None:
    guard = fresh()
    drawn = []
    for _ in range(2):
        guard.begin(CASE)
        drawn.append((random.random(), np.random.random()))  # noqa: S311
    assert drawn[0] == drawn[1]
    guard.begin(replace(CASE, seed=1))
    assert random.random() != drawn[0][0]  # noqa: S311


def test_the_note_is_that_of_the_first_input() -> None:
    told = with_note(PASS, ["timers", "the umask"])
    assert told.comparisons[0].note == f"{LEFT_CHANGED}timers, the umask"
    assert not told.ended
    twice = with_note(told, ["x"])
    assert twice.comparisons[0].note == f"{LEFT_CHANGED}timers, the umask; {LEFT_CHANGED}x"


def test_without_an_input_it_is_in_the_message() -> None:
    error = Result(CASE.id, Verdict.ERROR, message="it raised")
    assert with_note(error, ["timers"]).message == f"it raised; {LEFT_CHANGED}timers"


def test_of_many_changes_some_are_told() -> None:
    told = with_note(PASS, [str(n) for n in range(100)]).comparisons[0].note
    assert told.endswith(f"{MOST_TOLD - 1} and {100 - MOST_TOLD} more")


def test_every_name_of_tensorflow_is_there() -> None:
    """One that is not is left out in silence: this says so, for each version that is tested."""
    pytest.importorskip("tensorflow")
    pytest.importorskip("keras")
    assert len(tensorflow_settings.of_tensorflow()) == 15
    assert len(tensorflow_settings.of_keras()) == 4
    named = tensorflow_settings.namespaces_of_tensorflow()
    assert {"tf", "the gradient registry", "Keras' custom objects", "tf.GradientTape"} <= set(named)
    assert all(len(contents) > 10 for name, contents in named.items() if "custom" not in name)
    import tensorflow as tf
    from tensorflow.python.eager import context

    del tf
    names: tuple[Any, ...] = tensorflow_settings._CONTEXT
    assert [name for name in names if not hasattr(context.context(), name)] == []


def test_without_tensorflow_there_is_nothing_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    monkeypatch.delitem(sys.modules, "keras", raising=False)
    assert tensorflow_settings.of_tensorflow() == {}
    assert tensorflow_settings.of_keras() == {}
