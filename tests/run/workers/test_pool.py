from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gradcheck.model import Case, Location, Result, Target, TargetKind, Verdict
from gradcheck.run import Pool, run, shut_down
from tests.run.fakes import make_case, perform
from tests.run.processes import descendants, gone, reaped

if TYPE_CHECKING:
    from collections.abc import Iterator


LIGHT = ("gradcheck.run.workers.worker",)
"""What is loaded before the workers fork: no TensorFlow, so that these tests are fast."""


@pytest.fixture(scope="module", autouse=True)
def _no_server_left() -> Iterator[None]:
    yield
    shut_down()


LONG = 600.0
"""Seconds: a limit for what is to come to its end, however slow the machine is."""


def run_fakes(*cases: Case | str, **options: Any) -> list[Result]:
    made = [make_case(case) if isinstance(case, str) else case for case in cases]
    defaults = {"jobs": 2, "allow": (), "root": ".", "check": perform, "preload": LIGHT}
    return list(run(made, **{**defaults, **options}))


def run_one(name: str, **options: Any) -> Result:
    (result,) = run_fakes(name, **options)
    return result


def test_no_cases_are_no_results() -> None:
    assert run_fakes() == []


def test_every_case_gets_one_result_with_its_own_case_attached() -> None:
    cases = [make_case(f"pass-{number}") for number in range(30)]
    results = run_fakes(*cases)
    assert sorted(r.id for r in results) == sorted(case.id for case in cases)
    by_id = {case.id: case for case in cases}
    assert all(result.case is by_id[result.id] for result in results)


def test_a_check_is_told_what_is_allowed_and_where() -> None:
    assert run_one("echo", allow=["b", "a"], root="/there").message == "['a', 'b'] /there"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("abort", "SIGABRT"),
        ("segfault", "SIGSEGV"),
        ("nullpointer", "SIGSEGV"),
        ("vanish-7", "exit code 7"),
        ("vanish-0", "exit code 0"),
        ("mute", "closed its connection"),
    ],
)
def test_a_worker_that_dies_costs_one_case(name: str, said: str) -> None:
    results = run_fakes("pass-1", name, "pass-2", "pass-3", jobs=1)
    assert [r.verdict for r in results] == [
        Verdict.PASS,
        Verdict.CRASHED,
        Verdict.PASS,
        Verdict.PASS,
    ]
    assert said in results[1].message


def test_a_crash_shows_what_was_printed_last_and_where_it_happened() -> None:
    message = run_one("abort").message
    assert "Check failed: the planted reason" in message
    assert "fakes.py" in message
    assert "in _abort" in message
    assert "multiprocessing" not in message


def test_output_of_an_earlier_case_is_not_shown_for_a_later_one() -> None:
    chatter, crash = run_fakes("chatter", "segfault", jobs=1)
    assert chatter.verdict == Verdict.PASS
    assert "on std" not in crash.message


def test_a_flood_of_output_keeps_only_its_end() -> None:
    result = run_one("flood")
    assert result.verdict == Verdict.CRASHED
    assert "the end of the flood" in result.message
    assert len(result.message) < 2_000


def test_nothing_that_a_case_prints_reaches_the_screen(capfd: pytest.CaptureFixture[str]) -> None:
    run_fakes("chatter", "abort", "flood", "raise", "exit-1")
    assert capfd.readouterr() == ("", "")


def test_a_case_cannot_read_the_terminal() -> None:
    assert run_one("input").message == "b''"


def test_sys_exit_is_an_error_and_the_worker_lives_on() -> None:
    before, left, after = run_fakes("pid-1", "exit-3", "pid-2", jobs=1)
    assert left.verdict == Verdict.ERROR
    assert "sys.exit(3)" in left.message
    assert before.message == after.message


def test_a_check_that_raises_is_an_error() -> None:
    result = run_one("raise")
    assert (result.verdict, result.message) == (Verdict.ERROR, "ValueError: planted")


def test_results_that_cannot_be_sent_are_errors() -> None:
    results = run_fakes("unpicklable", "nothing", "pass", jobs=1)
    assert [r.verdict for r in results] == [Verdict.ERROR, Verdict.ERROR, Verdict.PASS]
    assert "sent back" in results[0].message
    assert "NoneType" in results[1].message


def test_a_case_that_cannot_be_sent_is_an_error() -> None:
    bad = make_case("pass-bad", args={"f": lambda: None})
    results = run_fakes(bad, "pass-good", jobs=1)
    assert [r.verdict for r in results] == [Verdict.ERROR, Verdict.PASS]
    assert "cannot be sent" in results[0].message
    assert results[0].case is bad


def test_a_case_over_its_limit_is_stopped_and_the_others_go_on() -> None:
    results = run_fakes("hang", make_case("pass", timeout=LONG), jobs=1, timeout=0.5)
    assert [r.verdict for r in results] == [Verdict.TIMEOUT, Verdict.PASS]
    assert "0.5 s" in results[0].message
    assert results[0].seconds >= 0.5


def test_a_check_knows_its_limit() -> None:
    own = make_case("limit-1", timeout=7.0)
    first, second = run_fakes(own, "limit-2", jobs=1, timeout=9.0)
    assert (first.message, second.message) == ("7 s", "9 s")
    assert first.case is own
    assert second.case is not None
    assert second.case.timeout is None, "what the spec says is not changed"


def test_a_case_has_its_own_limit_before_the_general_one() -> None:
    (result,) = run_fakes(make_case("hang", timeout=0.25), timeout=3600.0)
    assert result.verdict == Verdict.TIMEOUT
    assert "0.25 s" in result.message


def test_what_a_stopped_case_started_ends_with_it(tmp_path: Path) -> None:
    (result,) = run_fakes("brood", timeout=1.5, root=str(tmp_path))
    assert result.verdict == Verdict.TIMEOUT
    assert gone(int((tmp_path / "brood").read_text()))


def test_after_maxfail_unexpected_results_the_rest_is_skipped() -> None:
    known = make_case("mismatch-known", expect=Verdict.MISMATCH)
    results = run_fakes(known, "mismatch-1", "pass-1", "mismatch-2", "pass-2", jobs=1, maxfail=2)
    assert [r.verdict for r in results] == [
        Verdict.MISMATCH,
        Verdict.MISMATCH,
        Verdict.PASS,
        Verdict.MISMATCH,
        Verdict.SKIPPED,
    ]
    assert results[-1].message == "not run: stopped after 2 failures"
    assert results[-1].case is not None


@pytest.mark.parametrize("jobs", [1, 2])
def test_of_many_results_at_once_those_behind_the_last_failure_are_skipped(jobs: int) -> None:
    names = [f"pass-{n}" for n in range(300)]
    results = run_fakes(*names[:200], "mismatch", *names[200:], jobs=jobs, maxfail=1)
    assert sorted(r.id for r in results) == sorted(
        f"specs/a.yaml::{n}" for n in [*names, "mismatch"]
    )
    verdicts = [r.verdict for r in results]
    failure = verdicts.index(Verdict.MISMATCH)
    assert set(verdicts[:failure]) == {Verdict.PASS}
    assert set(verdicts[failure + 1 :]) == {Verdict.SKIPPED}


def test_of_many_cases_that_cannot_be_sent_those_behind_the_first_are_skipped() -> None:
    cases = [make_case(f"pass-{n}") for n in range(200)]
    cases[100:100] = [make_case(f"pass-bad-{n}", args={"f": lambda: None}) for n in range(3)]
    results = run_fakes(*cases, jobs=1, maxfail=1)
    assert sorted(r.id for r in results) == sorted(case.id for case in cases)
    assert [r.verdict for r in results].count(Verdict.ERROR) == 1


def test_a_case_that_runs_when_the_run_stops_is_skipped_at_once() -> None:
    hang, fail = make_case("hang"), make_case("mismatch")
    results = run_fakes(hang, fail, "pass", maxfail=1, timeout=3600.0)
    assert [(r.id, r.verdict) for r in results] == [
        (fail.id, Verdict.MISMATCH),
        (hang.id, Verdict.SKIPPED),
        ("specs/a.yaml::pass", Verdict.SKIPPED),
    ]
    assert results[1].message == "not run: stopped after 1 failure"


def test_results_come_as_they_are_done_not_at_the_end() -> None:
    cases = [make_case("hang"), make_case("pass")]
    stream = run(cases, jobs=2, allow=(), root=".", check=perform, preload=LIGHT, timeout=3600.0)
    assert next(stream).id == "specs/a.yaml::pass"
    stream.close()
    assert worker_pids() == []


def test_no_more_workers_than_cases_and_no_more_than_jobs() -> None:
    assert len({r.message for r in run_fakes("pid-1", jobs=8)}) == 1
    assert len({r.message for r in run_fakes(*(f"pid-{n}" for n in range(9)), jobs=2)}) <= 2


def test_tensorflow_has_one_thread_however_many_workers_there_are() -> None:
    assert {r.message for r in run_fakes("threads-1", "threads-2", jobs=2)} == {"1 1 1"}
    assert run_one("threads", jobs=1).message == "1 1 1"


def test_a_worker_that_has_grown_is_replaced() -> None:
    before, fat, after = run_fakes("pid-1", "fatten-300", "pid-2", jobs=1)
    assert fat.verdict == Verdict.PASS
    assert before.message != after.message
    before, slim, after = run_fakes("pid-1", "fatten-20", "pid-2", jobs=1)
    assert slim.verdict == Verdict.PASS
    assert before.message == after.message


@pytest.mark.parametrize("name", ["thread", "orphan"])
def test_what_a_case_leaves_running_ends_with_its_worker(name: str) -> None:
    before, left, after = run_fakes("pid-1", name, "pid-2", jobs=1)
    assert left.verdict == Verdict.PASS
    assert before.message != after.message
    assert all(gone(int(pid)) for pid in (before.message, left.message) if pid)


def test_a_case_that_eats_memory_is_stopped_and_the_others_go_on() -> None:
    limit = 300 * 2**20
    results = run_fakes("pass-1", "eat", "pass-2", "pass-3", memory_limit=limit)
    verdicts = {r.id.partition("::")[2]: r for r in results}
    eater = verdicts.pop("eat")
    assert eater.verdict == Verdict.CRASHED
    assert "over the limit of 300 MiB" in eater.message
    assert "about to eat" in eater.message
    assert {r.verdict for r in verdicts.values()} == {Verdict.PASS}


def test_memory_of_what_a_case_starts_counts_too() -> None:
    result = run_one("feed", memory_limit=300 * 2**20)
    assert result.verdict == Verdict.CRASHED
    assert "over the limit" in result.message


def test_a_busy_loop_is_a_time_out_that_says_where() -> None:
    results = run_fakes("spin", make_case("pass", timeout=LONG), jobs=1, timeout=0.5)
    assert [r.verdict for r in results] == [Verdict.TIMEOUT, Verdict.PASS]
    assert "round and round" in results[0].message
    assert "in _spin" in results[0].message


def test_an_endless_flood_is_a_time_out_and_does_not_hold_up_the_others() -> None:
    others = [make_case(f"pass-{n}", timeout=LONG) for n in (1, 2, 3)]
    results = run_fakes("endless", *others, jobs=2, timeout=2.0)
    assert [r.verdict for r in results] == [Verdict.PASS] * 3 + [Verdict.TIMEOUT]


def test_workers_stay_from_one_run_to_the_next_until_they_are_refreshed() -> None:
    with Pool(allow=(), root=".", jobs=1, check=perform, preload=LIGHT) as pool:
        first, second = (r.message for _ in range(2) for r in pool.run([make_case("pid")]))
        pool.refresh()
        (third,) = pool.run([make_case("pid")])
        assert first == second != third.message
    assert worker_pids() == []


@pytest.mark.parametrize("name", ["fork", "fork-reaped"])
def test_a_case_that_forks_and_returns_twice_has_one_result(name: str) -> None:
    cases = [f"pass-{n}" for n in range(20)]
    results = run_fakes(*cases[:10], name, *cases[10:], jobs=1)
    assert len(results) == len({r.id for r in results}) == 21
    assert {r.verdict for r in results} == {Verdict.PASS}


@pytest.mark.parametrize(
    ("name", "verdict"),
    [("abort", Verdict.CRASHED), ("eat", Verdict.CRASHED), ("hang", Verdict.TIMEOUT)],
)
def test_of_many_cases_at_hand_the_one_that_did_it_is_blamed(name: str, verdict: Verdict) -> None:
    names = [f"pass-{n}" for n in range(300)]
    one = make_case(name, timeout=1.0 if verdict is Verdict.TIMEOUT else LONG)
    results = run_fakes(*names[:150], one, *names[150:], jobs=1, memory_limit=300 * 2**20)
    assert [r.id for r in results if r.verdict != Verdict.PASS] == [f"specs/a.yaml::{name}"]
    assert {r.verdict for r in results} == {Verdict.PASS, verdict}
    assert sorted(r.id for r in results) == sorted(f"specs/a.yaml::{n}" for n in [*names, name])


def test_what_lies_behind_a_slow_case_goes_to_another_worker(tmp_path: Path) -> None:
    # One of them is slow, which nobody can know beforehand: it ends when all others have begun.
    names = ["last-199" if n == 60 else f"log-{n}" for n in range(200)]
    results = run_fakes(*names, jobs=2, root=str(tmp_path))
    assert {r.verdict for r in results} == {Verdict.PASS}, results
    # Each was run once.
    names.remove("last-199")
    assert {len((tmp_path / name).read_text().split()) for name in names} == {1}


def test_large_cases_and_large_results_find_their_way() -> None:
    # Larger than what the line between two processes holds: neither side may wait for the other.
    load = {"load": "x" * 500_000}
    cases = [make_case(f"large-{n}", args=load if n % 3 else {}) for n in range(60)]
    cases.insert(30, make_case("hang", timeout=1.0))
    results = run_fakes(*cases, jobs=2)
    assert [r.id for r in results if r.verdict is not Verdict.PASS] == ["specs/a.yaml::hang"]
    arrays = [c.numeric for r in results if r.verdict is Verdict.PASS for c in r.comparisons]
    assert all(array is not None and array[-1] == 39_999 for array in arrays)
    assert len(results) == 61


class Deadly:
    """A check that ends whoever reads it."""

    def __reduce__(self) -> Any:
        return exec, ("import os; print('planted', flush=True); os._exit(7)",)


def test_a_large_case_whose_workers_die_at_once_has_a_verdict() -> None:
    large = make_case("pass-large", args={"load": "x" * 8_000_000})
    for result in run_fakes(large, make_case("pass-small"), jobs=1, check=Deadly()):
        assert result.verdict is Verdict.CRASHED
        assert "exit code 7" in result.message
        assert "planted" in result.message


def test_results_are_not_kept_back_by_a_case_that_hangs() -> None:
    names = [f"pass-{n}" for n in range(100)]
    cases = [make_case(name) for name in [*names, "hang"]]
    stream = run(cases, jobs=1, allow=(), root=".", check=perform, preload=LIGHT, timeout=3600.0)
    assert [next(stream).verdict for _ in names] == [Verdict.PASS] * 100
    stream.close()


def test_a_run_that_is_given_up_ends_only_what_was_under_way() -> None:
    with Pool(allow=(), root=".", jobs=2, check=perform, preload=LIGHT, timeout=3600.0) as pool:
        stream = pool.run([make_case("hang"), make_case("pid"), make_case("hang-2")])
        assert next(stream).verdict == Verdict.PASS
        stream.close()
        (result,) = pool.run([make_case("pid")])
        assert result.verdict == Verdict.PASS


def test_a_run_can_be_told_to_stop_while_a_case_hangs() -> None:
    asked: list[int] = []

    def enough() -> bool:
        asked.append(1)
        return len(asked) > 5

    with Pool(allow=(), root=".", jobs=1, check=perform, preload=LIGHT, timeout=3600.0) as pool:
        cases = [make_case("pass"), make_case("hang"), make_case("pass-2")]
        results = list(pool.run(cases, stop=enough))
        assert [r.id for r in results] == [cases[0].id]
        assert [r.verdict for r in pool.run([make_case("pass")])] == [Verdict.PASS]


def test_the_fork_server_may_be_killed_and_every_case_still_has_a_result() -> None:
    cases = [make_case(f"nap-{number}") for number in range(12)]
    stream = run(cases, jobs=2, allow=(), root=".", check=perform, preload=LIGHT)
    results = [next(stream)]
    for pid in server_pids():
        if "resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_text():
            os.kill(pid, signal.SIGKILL)
    results += stream
    assert sorted(r.id for r in results) == sorted(case.id for case in cases)
    assert sum(r.verdict is Verdict.CRASHED for r in results) <= 2
    assert sum(r.verdict is Verdict.PASS for r in results) >= 10


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP])
def test_a_worker_that_is_killed_from_outside_costs_no_case(sent: signal.Signals) -> None:
    rng = np.random.default_rng(7)
    cases = [make_case(f"nap-{number}") for number in range(60)]
    results, killed = [], 0
    for result in run(cases, jobs=2, allow=(), root=".", check=perform, preload=LIGHT):
        results.append(result)
        for pid in worker_pids():
            if rng.random() < 0.3 and len(results) < 40:  # what then runs alone is left in peace
                with suppress(ProcessLookupError):  # it may have gone since
                    os.kill(pid, sent)
                    killed += 1
    assert sorted(r.id for r in results) == sorted(case.id for case in cases)
    assert {r.verdict for r in results} == {Verdict.PASS}
    assert killed


def test_who_is_killed_again_and_again_is_to_blame() -> None:
    results = run_fakes("pass-1", "kill", "pass-2", "pass-3", jobs=1)
    assert [r.id.partition("::")[2] for r in results] == ["pass-1", "pass-2", "pass-3", "kill"]
    assert [r.verdict for r in results] == [Verdict.PASS] * 3 + [Verdict.CRASHED]
    assert "SIGKILL: killed, perhaps out of memory, again" in results[-1].message


@pytest.mark.parametrize(("kind", "times"), [(TargetKind.OP, 3), (TargetKind.FUNCTION, 2)])
def test_how_often_a_case_that_is_killed_runs(kind: TargetKind, times: int, tmp_path: Path) -> None:
    (result,) = run_fakes(make_case("killed-9", target=target(kind)), root=str(tmp_path))
    assert result.verdict is Verdict.CRASHED
    assert len((tmp_path / "killed-9").read_text()) == times


@pytest.mark.parametrize(("kind", "workers"), [(TargetKind.OP, 1), (TargetKind.FUNCTION, 3)])
def test_what_runs_alone_has_a_worker_without_users_code(
    kind: TargetKind, workers: int, tmp_path: Path
) -> None:
    cases = [make_case(f"killed-1-{n}", target=target(kind)) for n in range(3)]
    results = run_fakes(*cases, root=str(tmp_path))
    assert {r.verdict for r in results} == {Verdict.PASS}
    assert len({r.message for r in results}) == workers


def target(kind: TargetKind) -> Target:
    return Target(kind, "a:f", Location("specs/a.yaml", 1, 1))


def test_a_worker_that_dies_between_cases_is_nobodys_fault() -> None:
    stream = run(
        [make_case("pid-1"), make_case("pid-2")],
        jobs=1,
        allow=(),
        root=".",
        check=perform,
        preload=LIGHT,
    )
    pid = int(next(stream).message)
    os.kill(pid, signal.SIGKILL)
    assert reaped(pid)
    (second,) = stream
    assert second.verdict == Verdict.PASS


@pytest.fixture
def _ctrl_c_is_heard() -> Iterator[None]:
    # Where the tests run in the background, or below pytest-xdist, it is ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_ctrl_c_is_heard")
def test_ctrl_c_stops_the_workers_and_is_passed_on() -> None:
    stream = run(
        [make_case("pass"), make_case("hang")],
        jobs=1,
        allow=(),
        root=".",
        check=perform,
        preload=LIGHT,
        timeout=3600.0,
    )
    assert next(stream).verdict == Verdict.PASS
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    signal.signal(signal.SIGALRM, before)
    assert worker_pids() == []


def test_shut_down_leaves_no_process() -> None:
    run_one("pass")
    shut_down()
    deadline = time.monotonic() + 60
    while server_pids() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server_pids() == []
    assert run_one("pass").verdict == Verdict.PASS  # and it can be started again


def server_pids() -> list[int]:
    return [pid for pid, text in descendants(os.getpid()) if "server_process" in text]


def worker_pids() -> list[int]:
    servers = server_pids()
    return [pid for server in servers for pid, _ in descendants(server)]
