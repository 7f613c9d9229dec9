"""Hostile functions among innocent cases: the run ends, and every case stands in it once."""

from __future__ import annotations

import os
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from gradcheck.model import Result, Verdict
from gradcheck.run import run, shut_down
from tests.hostile.attacks import ATTACKS, attack, hostile
from tests.run.fakes import make_case
from tests.run.processes import descendants, gone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Outcome = tuple[dict[str, Result], Path]
    """What came of the cases, by name, and the folder that they ran in."""

LIGHT = ("gradcheck.run.workers.worker", "tests.hostile.attacks")
"""Loaded before the workers fork: no TensorFlow."""


@pytest.fixture(scope="module", autouse=True)
def _no_server_left() -> Iterator[None]:
    yield
    shut_down()


def attacked(
    name: str, folder: Path, *, jobs: int = 2, limit: float = 3.0, **options: Any
) -> dict[str, Result]:
    """What comes of the cases, by name: an attack among innocent ones of either kind."""
    ours = [make_case(f"innocent-op-{n}") for n in range(12)]
    theirs = [hostile(f"innocent-function-{n}") for n in range(6)]
    cases = [*ours[:4], *theirs[:3], hostile(name, timeout=limit), *ours[4:], *theirs[3:]]
    begun = time.monotonic()
    settings = {"allow": (), "root": str(folder), "check": attack, "preload": LIGHT, **options}
    results = list(run(cases, jobs=jobs, **settings))
    assert time.monotonic() - begun < 600  # (Nobody waits for what does not end.)
    assert sorted(r.id for r in results) == sorted(case.id for case in cases)
    return {r.id.partition("::")[2]: r for r in results}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcome]:
    """What comes of an attack on two workers, which is run once for all tests that look at it."""

    @cache
    def of_attack(name: str) -> Outcome:
        folder = tmp_path_factory.mktemp("attacked")
        return attacked(name, folder), folder

    return of_attack


@pytest.mark.parametrize("name", ATTACKS)
def test_no_innocent_case_is_lost_or_blamed(name: str, outcome: Callable[[str], Outcome]) -> None:
    found, folder = outcome(name)
    innocent = {n: (r.verdict, r.message) for n, r in found.items() if n != name}
    assert {n: told for n, told in innocent.items() if told[0] is not Verdict.PASS} == {}
    assert len(found[name].message) < 50_000
    assert not (folder / "executed").exists(), "what a worker sends is never executed here"
    left = [int(path.name.removeprefix("left-")) for path in folder.glob("left-*")]
    shut_down()
    assert all(gone(pid) for pid in left)
    # (Other tests of this process may have started multiprocessing's own.)
    assert [p for p in descendants(os.getpid()) if "resource_tracker" not in p[1]] == []


def test_who_closes_the_first_descriptors_goes_on(outcome: Callable[[str], Outcome]) -> None:
    assert outcome("close-first")[0]["close-first"].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("junk", "wrote into the channel of its worker: something that is no message came"),
        ("lengths", "wrote into the channel of its worker"),
        ("endless-message", "wrote into the channel of its worker"),
        ("endless-answers", "an answer to another case came"),
        ("trapped-answer", "wrote into the channel of its worker"),
        ("out-of-turn", "a word out of turn came"),
        ("half-a-message", "exit code 0"),
        ("stop", "SIGSTOP"),
        ("kill", "SIGKILL"),
        ("kill-server", "the process that all workers come from was killed or stopped"),
        ("stop-server-and-hang", "the process that all workers come from was killed or stopped"),
        ("crash-server", "the process that all workers come from was killed or stopped"),
    ],
)
def test_who_did_it_is_told_what_it_did(
    name: str, said: str, outcome: Callable[[str], Outcome]
) -> None:
    culprit = outcome(name)[0][name]
    assert culprit.verdict is Verdict.CRASHED
    assert said in culprit.message


@pytest.mark.parametrize("jobs", [1, 3])
def test_who_kills_the_server_is_blamed_and_nobody_else(jobs: int, tmp_path: Path) -> None:
    found = attacked("kill-server", tmp_path, jobs=jobs)
    assert [n for n, r in found.items() if r.verdict is not Verdict.PASS] == ["kill-server"]


def test_a_server_that_is_stopped_is_replaced(outcome: Callable[[str], Outcome]) -> None:
    found, _ = outcome("stop-server")
    # (It may have passed before anybody saw what it had done.)
    assert found["stop-server"].verdict in (Verdict.PASS, Verdict.CRASHED)


@pytest.mark.parametrize("name", ["terminate-server", "hang-up-server"])
def test_the_server_passes_other_signals_by(name: str, outcome: Callable[[str], Outcome]) -> None:
    assert outcome(name)[0][name].verdict is Verdict.PASS


@pytest.mark.parametrize("name", ["leave-a-process", "leave-a-bare-process"])
def test_what_is_forked_twice_ends_with_its_case(name: str, tmp_path: Path) -> None:
    cases = [hostile(name), *(make_case(f"innocent-{n}") for n in range(3))]
    settings: dict[str, Any] = {"allow": (), "root": str(tmp_path), "check": attack, "jobs": 1}
    stream = run(cases, preload=LIGHT, **settings)
    left = int(next(stream).message)
    before, *_ = [r.message for r in stream]
    assert gone(left)
    assert int(before) != left


def test_what_outlives_a_killed_server_ends_with_the_run(
    outcome: Callable[[str], Outcome],
) -> None:
    _, folder = outcome("leave-and-kill-server")
    left = [int(path.name.removeprefix("left-")) for path in folder.glob("left-*")]
    assert len(left) == 2, "it ran again, alone"
    shut_down()
    assert all(gone(pid) for pid in left)


def test_much_output_is_taken_as_it_comes(tmp_path: Path) -> None:
    # 30 MB in short lines: by looks twenty times a second it took 13 seconds, as it comes one.
    result = attacked("shout", tmp_path, limit=8.0)["shout"]
    assert result.verdict is Verdict.PASS


def test_a_huge_exception_is_cut(outcome: Callable[[str], Outcome]) -> None:
    result = outcome("endless")[0]["endless"]
    assert result.verdict is Verdict.ERROR
    assert "characters left out" in result.message
    assert len(result.message) < 25_000


def test_an_exception_without_a_text_is_told_by_its_name(
    outcome: Callable[[str], Outcome],
) -> None:
    result = outcome("untellable")[0]["untellable"]
    assert (result.verdict, result.message) == (Verdict.ERROR, "Untellable, which has no text")
