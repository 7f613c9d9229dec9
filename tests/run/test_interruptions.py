"""Signals that come while something must not be interrupted."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.run import interruptions

if TYPE_CHECKING:
    from collections.abc import Iterator


class HeardError(Exception):
    """What a handler of these tests raises."""


@pytest.fixture
def heard() -> Iterator[list[int]]:
    """The signals that are heard, in their order."""
    came: list[int] = []

    def note(number: int, _: Any) -> None:
        came.append(number)
        if len(came) == 1:
            raise HeardError

    before = {number: signal.signal(number, note) for number in interruptions.ASKING}
    yield came
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("first", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_what_came_first_is_heard_at_the_end(heard: list[int], first: int) -> None:
    done = []

    def strike() -> None:
        signal.raise_signal(first)
        signal.raise_signal(signal.SIGTERM)
        done.append(True)

    with pytest.raises(HeardError), interruptions.later():
        strike()
    assert done
    assert heard == [first]


def test_one_that_comes_while_the_first_is_passed_on_is_heard_after_it(
    heard: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = signal.signal

    def set_and_strike(number: int, handler: Any) -> Any:
        before = usual(number, handler)
        signal.raise_signal(signal.SIGTERM)
        return before

    def strike() -> None:
        signal.raise_signal(signal.SIGHUP)
        monkeypatch.setattr(signal, "signal", set_and_strike)

    with pytest.raises(HeardError), interruptions.later():
        strike()
    monkeypatch.undo()
    assert heard[0] == signal.SIGHUP
    assert heard[1:] == [signal.SIGTERM]


def test_without_a_signal_nothing_is_heard(heard: list[int]) -> None:
    with interruptions.later():
        pass
    assert heard == []


def test_a_second_ctrl_c_is_heard_at_once(heard: list[int]) -> None:
    done = []

    def strike() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done.append(True)

    with pytest.raises(HeardError), interruptions.later():
        strike()
    assert not done
