"""`assert_gradients`: silent where all is right, and otherwise what the command says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck import Verdict
from gradcheck.report.columns import failure_text
from gradcheck.report.details import failure_details
from tests.checker.planted import planted

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture(scope="module")
def tf() -> Any:
    import tensorflow

    return tensorflow


def test_silent_when_right(tf: Any) -> None:
    result = gradcheck.assert_gradients(tf.sin, X, seed=3)
    assert result.verdict is Verdict.PASS


def test_a_kink_is_acceptable(tf: Any) -> None:
    assert gradcheck.assert_gradients(tf.abs, np.array([0.0, 1.0])).verdict == "kink"


def test_a_mismatch(snapshot: SnapshotAssertion) -> None:
    def half(a: Any, b: Any) -> Any:
        return planted(lambda a, b: a * b, lambda gs: [gs[0] / 2, gs[1]])(a, b)

    with pytest.raises(AssertionError) as raised:
        gradcheck.assert_gradients(half, X, X + 0.5, upstream="ones")
    # Twice the analytic gradient is the right one: the numeric one lies within its bar of it,
    # and how the last digit is rounded there is the business of the processor.
    text = str(raised.value)
    bar = max(float(found) for found in re.findall(r"± ([\d.e-]+)", text)) / 3.5
    told = re.search(r"it agrees (?:exactly|to (\S+))\)", text)
    assert told is not None
    assert float(told[1] or 0) <= bar
    text = text.replace(told[0], "it agrees …)")
    text = re.sub(r"(±|error bar) [\d.e-]+", r"\1 …", text)
    assert re.sub(r"\S*planted.py:\d+", "planted.py:…", text) == snapshot


def test_a_missing_gradient(tf: Any, snapshot: SnapshotAssertion) -> None:
    def stops(a: Any, b: Any) -> Any:
        return tf.stop_gradient(a) * b + 0 * b

    with pytest.raises(AssertionError) as raised:
        gradcheck.assert_gradients(stops, X, X, upstream="ones")
    lines = [line.split(" ± ")[0] for line in str(raised.value).splitlines()]
    assert "\n".join(lines) == snapshot


def test_an_exception(snapshot: SnapshotAssertion) -> None:
    def raises(a: Any) -> Any:
        raise ValueError("no such thing")

    with pytest.raises(AssertionError) as raised:
        gradcheck.assert_gradients(raises, X)
    assert re.sub(r"py:\d+", "py:…", str(raised.value)) == snapshot


def test_it_says_what_the_command_says() -> None:
    half = planted(lambda a: a * a, lambda gs: [gs[0] / 2])
    with pytest.raises(AssertionError) as raised:
        gradcheck.assert_gradients(half, X)
    first, _, rest = str(raised.value).partition("\n")
    said = failure_text(failure_details(gradcheck.check(half, X)))
    assert rest == said.partition("\n")[2]
    # The first line is what pytest's summary shows: it tells what, and where.
    assert first == "function, input0[3]: mismatch"
    assert "2 times too small" in rest


def test_a_call_that_makes_no_sense_is_blamed_on_the_caller() -> None:
    with pytest.raises(gradcheck.UsageError) as raised:
        gradcheck.assert_gradients(abs, X, mode="graf")
    places = [str(entry.path) for entry in raised.traceback if not entry.ishidden(raised)]
    assert places == [__file__]
