from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gradcheck.run.workers import frames
from gradcheck.run.workers.channel import Answer, ParentEnd, UnsendableError, WorkerEnd
from gradcheck.run.workers.frames import MOST_MESSAGE, GarbledError
from tests.run.fakes import make_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model import Case

A, B, C, D = (make_case(name) for name in "abcd")


@pytest.fixture
def parent() -> Iterator[ParentEnd]:
    end = ParentEnd()
    yield end
    end.close()


@pytest.fixture
def worker(parent: ParentEnd) -> Iterator[WorkerEnd]:
    end = WorkerEnd(parent.theirs.detach())
    yield end
    end.close()


def answer(number: int) -> Answer:
    return Answer(number, b"[]", held=1, unclean=False, facts={})


def named(item: tuple[int, Case]) -> tuple[int, str]:
    """A case came through a pickle: it is known by its name."""
    return item[0], item[1].name


def test_cases_come_in_their_order_with_their_numbers(parent: ParentEnd, worker: WorkerEnd) -> None:
    assert parent.greet("hello")
    assert worker.greeting() == "hello"
    assert parent.give([A, B]) + parent.give([C]) == [0, 1, 2]
    given = worker.cases()
    assert [named(next(given)) for _ in range(3)] == [(0, "a"), (1, "b"), (2, "c")]
    assert worker.idle


def test_answers_come_back_one_by_one(parent: ParentEnd, worker: WorkerEnd) -> None:
    assert parent.receive() is None
    for number in (0, 1):
        worker.answer(answer(number))
    assert [parent.receive(), parent.receive(), parent.receive()] == [answer(0), answer(1), None]


def test_what_waits_can_be_recalled_and_that_is_confirmed(
    parent: ParentEnd, worker: WorkerEnd
) -> None:
    parent.give([A, B, C])
    given = worker.cases()
    assert named(next(given)) == (0, "a")
    parent.recall()
    parent.give([D])
    worker.answer(answer(0))
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


def test_a_worker_that_does_not_read_holds_nobody_up(
    parent: ParentEnd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "SEND_SECONDS", 0.1)
    with pytest.raises(TimeoutError, match="does not read"):
        parent.give([make_case("large", args={"load": "x" * 10_000_000})])


def test_what_cannot_be_sent_takes_no_number(parent: ParentEnd) -> None:
    with pytest.raises(UnsendableError, match="cannot be sent"):
        parent.give([A, make_case("bad", args={"f": lambda: None})])
    assert parent.give([A]) == [0]


def test_a_parent_that_has_gone_ends_the_cases(parent: ParentEnd, worker: WorkerEnd) -> None:
    parent.connection.close()
    assert list(worker.cases()) == []


def test_a_worker_that_has_gone_is_an_end(parent: ParentEnd, worker: WorkerEnd) -> None:
    worker.answer(answer(0))
    worker.close()
    assert parent.receive() == answer(0)
    with pytest.raises(EOFError):
        parent.receive()


@pytest.mark.parametrize("junk", [b"x", b"\0" * 1000, b"\x80\x04\x95", b"GET / HTTP/1.1\r\n"])
def test_junk_is_known_at_once(parent: ParentEnd, junk: bytes) -> None:
    parent.theirs.sendall(junk)
    with pytest.raises(GarbledError, match="no message"):
        parent.receive()


def test_half_a_message_is_none(parent: ParentEnd) -> None:
    word = parent.theirs.recv(16)
    parent.theirs.sendall(word[:7])
    assert parent.receive() is None
    parent.theirs.sendall(word[7:] + b"\x10\0\0\0" + b"half")
    assert parent.receive() is None
    parent.theirs.close()
    with pytest.raises(EOFError):
        parent.receive()


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"recalled",
        b"no json\n",
        b"[1]\n",
        json.dumps([True, None, False, {}]).encode(),
        json.dumps([1, 2.5, False, {}]).encode(),
        json.dumps([1, None, 0, {}]).encode(),
        json.dumps([1, None, False, []]).encode(),
        json.dumps([1, None, False, {"device": 1}]).encode(),
        json.dumps([1, None, False, {"device": "x" * 501}]).encode(),
        json.dumps([1, None, False, {str(n): "" for n in range(33)}]).encode(),
        b"[" * 100_000,
        b"1" * 10_000,
    ],
)
def test_what_is_no_answer_is_refused(parent: ParentEnd, message: bytes) -> None:
    word = parent.theirs.recv(16)
    parent.theirs.sendall(word + len(message).to_bytes(4, "little") + message)
    with pytest.raises(GarbledError):
        parent.receive()


def test_a_message_without_end_is_refused_by_its_length(parent: ParentEnd) -> None:
    word = parent.theirs.recv(16)
    parent.theirs.sendall(word + (MOST_MESSAGE + 1).to_bytes(4, "little"))
    with pytest.raises(GarbledError, match="bytes"):
        parent.receive()
