"""A folder in which runs leave things."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcheck.cache import History, Store
from gradcheck.model import Case, Result, Verdict
from tests.run.fakes import make_case

if TYPE_CHECKING:
    from pathlib import Path

MACHINE = {"tensorflow": "2.21"}
CASES = [make_case(name) for name in ("a", "b", "c", "d")]


class Project:
    """A folder in which runs leave things, and what they said about it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.said: list[str] = []

    @property
    def folder(self) -> Path:
        return self.root / ".gradcheck"

    def store(self, **options: Any) -> Store:
        return Store(self.root, warn=self.said.append, **options)

    @property
    def history(self) -> History:
        store = self.store()
        store.close()
        return store.history

    @property
    def failed(self) -> list[Case]:
        return [case for case in CASES if self.history.failed(case.id)]

    def run(self, *results: Result, timed: bool = True) -> None:
        store = self.store()
        store.begin(MACHINE, timed=timed)
        for result in results:
            store.add(result)
        store.close()

    def resumed(self, environment: dict[str, str] | None = None, **options: Any) -> list[str]:
        store = self.store(**options)
        results = list(store.resume(CASES, environment or MACHINE))
        store.close()
        return [result.id.partition("::")[2] for result in results]


def result(number: int, verdict: Verdict = Verdict.PASS, seconds: float = 0.25) -> Result:
    return Result(CASES[number].id, verdict, seconds=seconds, case=CASES[number])
