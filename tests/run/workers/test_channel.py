from __future__ import annotations

import multiprocessing
import pickle
from typing import TYPE_CHECKING

import pytest

from gradcheck.run.workers.channel import Answer, ParentEnd, UnsendableError
from tests.run.fakes import make_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model import Case

A, B, C, D = (make_case(name) for name in "abcd")


@pytest.fixture
def parent() -> Iterator[ParentEnd]:
    end = ParentEnd(multiprocessing.get_context("forkserver"))
    yield end
    end.close()


def answer(number: int) -> Answer:
    return Answer(number, pickle.dumps(None), held=1, unclean=False, facts={})


def named(item: tuple[int, Case]) -> tuple[int, str]:
    """A case came through a pickle: it is known by its name."""
    return item[0], item[1].name


def test_cases_come_in_their_order_with_their_numbers(parent: ParentEnd) -> None:
    assert parent.give([A, B]) + parent.give([C]) == [0, 1, 2]
    given = parent.other_end.cases()
    assert [named(next(given)) for _ in range(3)] == [(0, "a"), (1, "b"), (2, "c")]
    assert parent.other_end.idle


def test_answers_come_back_one_by_one(parent: ParentEnd) -> None:
    assert parent.receive() is None
    for number in (0, 1):
        parent.other_end.answer(answer(number))
    assert [parent.receive(), parent.receive(), parent.receive()] == [answer(0), answer(1), None]


def test_what_waits_can_be_recalled_and_that_is_confirmed(parent: ParentEnd) -> None:
    parent.give([A, B, C])
    given = parent.other_end.cases()
    assert named(next(given)) == (0, "a")
    parent.recall()
    parent.give([D])
    parent.other_end.answer(answer(0))
    assert named(next(given)) == (3, "d")
    assert parent.receive() == answer(0)
    assert parent.recalling
    assert parent.receive() is None
    assert not parent.recalling


def test_to_a_worker_that_does_not_read_no_more_is_sent_than_there_is_room_for(
    parent: ParentEnd,
) -> None:
    large = make_case("large", args={"load": "x" * 10_000})
    assert parent.give([large], most_bytes=9_000) == []
    assert parent.bytes_per_case > 10_000
    assert parent.give([A], most_bytes=9_000) == [0]


def test_what_cannot_be_sent_takes_no_number(parent: ParentEnd) -> None:
    with pytest.raises(UnsendableError, match="cannot be sent"):
        parent.give([A, make_case("bad", args={"f": lambda: None})])
    assert parent.give([A]) == [0]


def test_a_parent_that_has_gone_ends_the_cases(parent: ParentEnd) -> None:
    parent.connection.close()
    assert list(parent.other_end.cases()) == []


def test_a_worker_that_has_gone_is_an_end(parent: ParentEnd) -> None:
    parent.other_end.answer(answer(0))
    parent.let_go()
    assert parent.receive() == answer(0)
    with pytest.raises(EOFError):
        parent.receive()
