"""Times of both checkers on a call: in turns, in one process that may be given up.

A check that takes too long cannot be ended from inside, so that the calls are measured in a process
of their own. It is ended when a check passes the limit, and another one goes on.
"""

from __future__ import annotations

import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import gradcheck
from benchmarks.calls import BROAD, Call, Prepared
from benchmarks.frameworks import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

OURS, THEIRS = "gradcheck", "tf"

START = 120.0
"""Seconds in which a process has to come up, and a call to be made ready."""


@dataclass(frozen=True)
class Effort:
    """How long a call may take."""

    rounds: int
    """Rounds that count; one before them warms up."""
    seconds: float
    """No round is begun after so many seconds; a call that is slower than that has one."""
    limit: float
    """A check that takes longer is given up."""


FULL = Effort(rounds=5, seconds=4.0, limit=60.0)
QUICK = Effort(rounds=1, seconds=2.0, limit=10.0)


@dataclass(frozen=True)
class Turn:
    """One check by one of the checkers."""

    checker: str
    seconds: float
    processor: float
    """Seconds of all processors together."""
    numbers: int
    verdict: str = ""
    note: str = ""


@dataclass(frozen=True)
class Failure:
    """A call that raised where it must not."""

    text: str


@dataclass(frozen=True)
class Record:
    """What was measured of one call; a check that was given up counts with its limit."""

    name: str
    family: str
    dtype: str
    numbers: int
    seconds: dict[str, float]
    processor: dict[str, float]
    verdict: str
    note: str = ""
    given_up: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """How many times longer than gradcheck tf.test.compute_gradient takes."""
        return self.seconds[THEIRS] / self.seconds[OURS]


def turns(call: Call, checkers: Sequence[str], effort: Effort) -> Iterator[str | Turn]:
    """The checks of a call: who begins, and what came of it, in turns.

    The function is made anew for every check: neither of them finds what it kept of the last one.
    """
    started = time.perf_counter()
    for number in range(effort.rounds + 1):
        if number and time.perf_counter() - started > effort.seconds:
            break
        # Nobody always comes after the same neighbour, whose threads may not be at rest yet.
        for checker in list(checkers)[:: -1 if number % 2 else 1]:
            prepared = call.prepare()
            yield checker
            yield _turn(checker, prepared)


def _turn(checker: str, prepared: Prepared) -> Turn:
    check = _CHECKERS[checker]
    begun, used = time.perf_counter(), time.process_time()
    verdict, note = check(prepared)
    seconds, processor = time.perf_counter() - begun, time.process_time() - used
    return Turn(checker, seconds, processor, prepared.numbers, verdict, note)


def _ours(prepared: Prepared) -> tuple[str, str]:
    result = gradcheck.check(prepared.checked, *prepared.inputs, **prepared.options)
    notes = [c.note for c in result.comparisons if c.verdict is result.verdict and c.note]
    return str(result.verdict), result.message or (notes[0] if notes else "")


def _theirs(prepared: Prepared) -> tuple[str, str]:
    load("tensorflow").test.compute_gradient(prepared.plain, prepared.values)
    return "", ""


_CHECKERS: dict[str, Callable[[Prepared], tuple[str, str]]] = {OURS: _ours, THEIRS: _theirs}


def record(call: Call, taken: Sequence[Turn], effort: Effort, lost: dict[str, str]) -> Record:
    """What the turns come to: the best time of each, the first one left out if others follow."""
    seconds, processor = {}, {}
    for checker in (OURS, THEIRS):
        mine = [turn for turn in taken if turn.checker == checker]
        counted = mine[1:] or mine
        # A check that was given up once was given up in the round that warms up.
        given_up = checker in lost
        seconds[checker] = effort.limit if given_up else min(t.seconds for t in counted)
        processor[checker] = effort.limit if given_up else min(t.processor for t in counted)
    ours = [turn for turn in taken if turn.checker == OURS]
    return Record(
        call.name,
        call.family,
        call.dtype,
        numbers=next((turn.numbers for turn in taken), 0),
        seconds=seconds,
        processor=processor,
        verdict=lost.get(OURS) or "/".join(sorted({turn.verdict for turn in ours})),
        note=ours[-1].note if ours else "",
        given_up=sorted(lost),
    )


class Bench:
    """A process in which calls are measured, and the next one if it had to be ended."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self._process: BaseProcess | None = None
        self._line: Connection[Any, Any] | None = None

    def measure(self, call: Call) -> Record:
        """Both checkers' times, whatever becomes of the process."""
        taken: list[Turn] = []
        lost: dict[str, str] = {}
        # Whoever has had no turn when the process was ended has it in the next one.
        while wanted := [c for c in (OURS, THEIRS) if c not in lost and not _had(taken, c)]:
            checker, end = self._listen(call, wanted, taken)
            if end:
                # What tf.test cannot do is no call to compare with, and must not count for us.
                if checker != OURS and end != "timeout":
                    raise RuntimeError(f"{call.name} cannot be measured: {end}")
                lost[checker] = end
        return record(call, taken, self.effort, lost)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._line = None

    def _listen(self, call: Call, wanted: list[str], taken: list[Turn]) -> tuple[str, str]:
        """Collect the turns; whose check did not come to an end, if any, and how it ended."""
        line = self._start()
        line.send((call.name, wanted))
        busy = ""
        while True:
            if not line.poll(self.effort.limit if busy else START):
                self.close()
                return busy, "timeout"
            try:
                told = line.recv()
            except EOFError:
                self.close()
                return busy, "crashed"
            if told is None:
                return "", ""
            if isinstance(told, Failure):
                return "", told.text
            if isinstance(told, Turn):
                taken.append(told)
            busy = told if isinstance(told, str) else ""

    def _start(self) -> Connection[Any, Any]:
        if self._line is None:
            context = get_context("spawn")
            self._line, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs, self.effort), daemon=True)
            self._process.start()
            theirs.close()
        return self._line


def _had(taken: Sequence[Turn], checker: str) -> bool:
    return any(turn.checker == checker for turn in taken)


def _serve(line: Connection[Any, Any], effort: Effort) -> None:
    """Measure what is asked for until nobody asks any more."""
    calls = {call.name: call for call in BROAD}
    # That functions are made anew is meant, and what is used for the first time is no one's fault.
    load("tensorflow").get_logger().setLevel("ERROR")
    for checker in (OURS, THEIRS):
        _turn(checker, BROAD[0].prepare())
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            name, wanted = line.recv()
            try:
                for told in turns(calls[name], wanted, effort):
                    line.send(told)
                line.send(None)
            except Exception:
                line.send(Failure(traceback.format_exc()))
