"""Who gets which cases, without any cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.model import Case, Result, Verdict
from gradcheck.run.dask import dealing
from gradcheck.run.dask.dealing import Dealer, Machine
from gradcheck.run.dask.messages import Reply, Request
from tests.run.fakes import make_case

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def make_cases(count: int) -> list[Case]:
    return [make_case(f"pass-{number}") for number in range(count)]


def make_dealer(
    cases: list[Case], *processes: int, seconds: Mapping[str, float] | None = None
) -> tuple[Dealer, list[Machine]]:
    recorded = seconds or {}
    dealer = Dealer(cases, recorded.get)
    machines = [
        Machine(f"host{i}", {f"tcp://host{i}:1": n}, f"tcp://host{i}:1")
        for i, n in enumerate(processes)
    ]
    dealer.machines.update({machine.host: machine for machine in machines})
    return dealer, machines


def ask(dealer: Dealer, machine: Machine) -> Request:
    request = dealer.request(machine)
    assert request is not None
    return request


def passes(names: Iterable[str], seconds: float = 0.003, pool: str = "p") -> Reply:
    return Reply(pool, tuple(Result(n, Verdict.PASS, seconds=seconds) for n in names))


def test_a_batch_is_worth_some_seconds_by_the_recorded_times() -> None:
    cases = make_cases(1000)
    quick, [machine] = make_dealer(cases, 2, seconds={case.id: 0.01 for case in cases})
    slow, [other] = make_dealer(cases, 2, seconds={case.id: 0.5 for case in cases})
    worth = 2 * dealing.AHEAD_WORTH
    assert len(ask(quick, machine).cases) == pytest.approx(worth / 0.01, abs=1)
    assert len(ask(slow, other).cases) == pytest.approx(worth / 0.5, abs=1)


def test_what_nothing_is_known_of_is_learnt_from_the_results() -> None:
    dealer, [machine] = make_dealer(make_cases(10_000), 2)
    first = ask(dealer, machine)
    assert len(first.cases) == pytest.approx(2 * dealing.AHEAD_WORTH / dealing.FIRST_GUESS, abs=1)
    dealer.take(machine, passes((case.id for case in first.cases), seconds=0.004))
    assert len(ask(dealer, machine).cases) == pytest.approx(
        2 * dealing.AHEAD_WORTH / 0.004, rel=0.1
    )


def test_every_process_has_a_case_however_long_they_take() -> None:
    cases = make_cases(20)
    dealer, [machine] = make_dealer(cases, 8, seconds={case.id: 3600.0 for case in cases})
    request = ask(dealer, machine)
    assert [case.id for case in request.cases] == [case.id for case in cases[:8]]
    assert request.processes == 8
    dealer.take(machine, passes([cases[3].id]))
    assert [case.id for case in ask(dealer, machine).cases] == [cases[8].id]


def test_what_is_left_is_dealt_ever_more_evenly() -> None:
    dealer, machines = make_dealer(make_cases(40), 2, 2)
    assert len(ask(dealer, machines[0]).cases) == 10  # half of what is its own
    assert len(ask(dealer, machines[1]).cases) == 7


def test_who_has_more_than_its_processes_gives_back_to_who_has_nothing() -> None:
    cases = make_cases(8)
    dealer, [busy, idle] = make_dealer(cases, 1, 2, seconds={case.id: 0.1 for case in cases})
    del dealer.machines["host1"]
    assert len(ask(dealer, busy).cases) == 8
    dealer.machines["host1"] = idle
    assert dealer.request(idle) is None
    request = ask(dealer, busy)
    assert request.give_back == 2
    back = (cases[-1].id, cases[-2].id)
    assert dealer.take(busy, Reply("p", returned=back)) == []
    assert {case.id for case in ask(dealer, idle).cases} == set(back)
    assert ask(dealer, busy).give_back == 0


def test_very_many_machines_are_asked_less_often_and_have_more_at_hand() -> None:
    cases = make_cases(100_000)
    seconds = {case.id: 1.0 for case in cases}
    few, machines = make_dealer(cases, *[8] * 10, seconds=seconds)
    assert ask(few, machines[0]).patience == pytest.approx(0.2)
    many, machines = make_dealer(cases, *[8] * 500, seconds=seconds)
    request = ask(many, machines[0])
    assert len(machines) / request.patience == dealing.MOST_REQUESTS
    assert len(request.cases) >= 8 * 2 * request.patience


def test_the_first_result_counts_and_only_once() -> None:
    [case] = cases = make_cases(1)
    dealer, [first, second] = make_dealer(cases, 1, 1)
    ask(dealer, first)
    assert dealer.lose(first) == []
    ask(dealer, second)
    # The one that was given up had it all the same.
    [found] = dealer.take(first, passes([case.id]))
    assert found.case is case
    assert not dealer.missing
    assert dealer.take(second, passes([case.id])) == []
    assert not second.given


def test_what_a_lost_machine_had_goes_to_others() -> None:
    cases = make_cases(100)
    dealer, [first, second] = make_dealer(cases, 1, 1)
    had = [case.id for case in ask(dealer, first).cases]
    assert len(had) == 25
    dealer.take(first, passes(had[:5]))
    assert dealer.lose(first) == []
    assert [case.id for case in ask(dealer, second).cases][:20] == had[5:]


def test_other_processes_than_before_have_only_what_they_were_just_given() -> None:
    cases = make_cases(100)
    dealer, [machine, _] = make_dealer(cases, 1, 1)
    had = [case.id for case in ask(dealer, machine).cases]
    dealer.take(machine, passes(had[:10], pool="first"))
    new = [case.id for case in ask(dealer, machine).cases]
    assert dealer.take(machine, Reply("second")) == []
    assert list(machine.given) == new
    assert [case.id for case in ask(dealer, machine).cases][: len(had) - 10] == had[10:]


def test_a_case_that_takes_machines_down_is_found_and_nobody_else_is_blamed() -> None:
    cases = make_cases(6)
    poison = cases[2].id
    dealer, [machine] = make_dealer(cases, 3)
    found: list[Result] = []
    for _ in range(100):
        if not dealer.missing:
            break
        ask(dealer, machine)
        if poison in machine.given:
            alone = len(machine.given) == 1
            verdicts = dealer.lose(machine)
            found += verdicts
            assert bool(verdicts) <= alone
        else:
            found += dealer.take(machine, passes(tuple(machine.given)))
    assert {r.id for r in found} == {case.id for case in cases}
    assert [r.id for r in found if r.verdict is Verdict.CRASHED] == [poison]
    [blamed] = [r for r in found if r.id == poison]
    assert blamed.message == (
        "3 Dask workers were lost while they had this case, the last of them with nothing beside it"
    )


def test_what_could_not_be_sent_is_dealt_again() -> None:
    cases = make_cases(4)
    dealer, [machine] = make_dealer(cases, 4)
    request = ask(dealer, machine)
    dealer.put_back(machine, request.cases)
    dealer.most_cases = 2
    assert ask(dealer, machine).cases == tuple(cases[:2])
    error = dealer.give_up(machine, cases[0], "planted")
    assert (error.verdict, error.message, error.case) == (Verdict.ERROR, "planted", cases[0])
    assert cases[0].id not in dealer.missing
