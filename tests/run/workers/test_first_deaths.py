from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.model import Result, Verdict
from gradcheck.run import run, shut_down
from gradcheck.run.workers import first_deaths
from gradcheck.run.workers.worker_process import WorkersUnavailableError
from tests.run.fakes import make_case, perform

if TYPE_CHECKING:
    from collections.abc import Iterator

WORKS, DIES, NEVER = "pass", "import os; os.abort()", "raise SystemExit('it was asked')"


@pytest.fixture(scope="module", autouse=True)
def _no_server_left() -> Iterator[None]:
    yield
    shut_down()


def run_fakes(*names: str, plain: str, monkeypatch: pytest.MonkeyPatch) -> list[Result]:
    monkeypatch.setattr(first_deaths, "PLAIN", plain)
    cases = [make_case(name) for name in names]
    light = ("gradcheck.run.workers.worker",)
    return list(run(cases, allow=(), root=".", jobs=1, check=perform, preload=light))


@pytest.mark.parametrize("how", ["segfault", "kill"])
def test_a_tensorflow_that_kills_every_worker_is_one_sentence(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{how}-{n}" for n in range(20)]
    with pytest.raises(WorkersUnavailableError, match=r"plain TensorFlow.* died of SIGABRT"):
        run_fakes(*names, plain=DIES, monkeypatch=monkeypatch)


def test_where_tensorflow_works_every_death_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"segfault-{n}" for n in range(5)]
    results = run_fakes(*names, plain=WORKS, monkeypatch=monkeypatch)
    assert [r.verdict for r in results] == [Verdict.CRASHED] * 5


@pytest.mark.parametrize(
    "names",
    [
        ("segfault-1", "segfault-2"),
        ("segfault-1", "segfault-2", "pass", "segfault-3", "segfault-4"),
        ("raise-1", "segfault-1", "segfault-2", "segfault-3"),
    ],
)
def test_nobody_asks_where_some_worker_works_or_few_die(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = run_fakes(*names, plain=NEVER, monkeypatch=monkeypatch)
    assert [r.id.partition("::")[2] for r in results] == list(names)
