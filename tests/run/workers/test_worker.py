"""What real ops do to a worker that has TensorFlow in it."""

from __future__ import annotations

import pytest

from gradcheck.model import Verdict
from gradcheck.run import run, shut_down
from tests.run.fakes import break_tensorflow, make_case

GIB = 2**30


@pytest.fixture(scope="module")
def faults() -> dict[str, tuple[Verdict, str]]:
    names = ("sum-1", "failed-check", "eat", "loop", "sum-2", "sum-3")
    cases = [make_case(name, timeout=3.0 if name == "loop" else 60.0) for name in names]
    facts: dict[str, str] = {}
    results = run(
        cases, allow=(), root=".", jobs=2, check=break_tensorflow, memory_limit=GIB, facts=facts
    )
    found = {r.id.partition("::")[2]: (r.verdict, r.message) for r in results}
    found["facts"] = (Verdict.PASS, " ".join(facts))
    shut_down()
    return found


def test_a_failed_check_of_tensorflow_costs_its_case(
    faults: dict[str, tuple[Verdict, str]],
) -> None:
    verdict, message = faults["failed-check"]
    assert verdict == Verdict.CRASHED
    assert "SIGABRT" in message
    assert "Check failed: 1 == 2" in message
    assert "fakes.py" in message
    assert "in gradient" in message


def test_tensors_without_end_cost_their_case(faults: dict[str, tuple[Verdict, str]]) -> None:
    verdict, message = faults["eat"]
    assert verdict == Verdict.CRASHED
    assert "over the limit of 1 GiB" in message


def test_an_endless_loop_costs_its_case(faults: dict[str, tuple[Verdict, str]]) -> None:
    assert faults["loop"][0] == Verdict.TIMEOUT


def test_the_other_cases_never_notice(faults: dict[str, tuple[Verdict, str]]) -> None:
    assert {faults[f"sum-{n}"] for n in (1, 2, 3)} == {(Verdict.PASS, "3.0")}


def test_tensorflow_tells_its_device_and_flags(faults: dict[str, tuple[Verdict, str]]) -> None:
    assert faults["facts"][1].split(" ", 1)[0] == "device"
    assert "oneDNN" in faults["facts"][1]
    assert "deterministic ops" in faults["facts"][1]
