"""Who may take part."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gradcheck.model.versions import installed_version
from gradcheck.run import describe
from gradcheck.run.dask.messages import Introduction
from gradcheck.run.dask.roster import Roster

if TYPE_CHECKING:
    from collections.abc import Mapping


class FakeClient:
    """A client whose workers answer what they are told to."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers

    async def run(self, what: object, *details: object, workers: Any, on_error: str) -> Any:
        del what, details
        assert on_error == "return"
        return {a: self.answers[a] for a in workers or self.answers}


def make(dask: str = "", **changes: str) -> Introduction:
    dask = dask or installed_version("distributed") or ""
    return Introduction("place", "host", describe() | changes, dask)


def meet(roster: Roster, *addresses: str) -> list[str]:
    return asyncio.run(roster.meet(addresses or None))


def test_workers_without_gradcheck_or_with_another_one_are_named() -> None:
    answers = {
        "tcp://a": make(),
        "tcp://b": ModuleNotFoundError("No module named 'gradcheck'"),
        "tcp://c": make(gradcheck="0.0.1"),
        "tcp://d": make(dask="2020.1"),
    }
    roster = Roster(FakeClient(answers))
    here = describe()["gradcheck"]
    assert meet(roster) == [
        "the Dask worker tcp://b cannot run gradcheck: ModuleNotFoundError: No module named "
        "'gradcheck'; `pip install 'gradcheck[dask]'` there",
        f"the Dask worker tcp://c has gradcheck 0.0.1, and here it is {here}",
        "the Dask worker tcp://d has Dask 2020.1, and here it is "
        f"{installed_version('distributed')}",
    ]
    assert list(roster.workers) == ["tcp://a"]


def test_those_of_the_beginning_may_differ_and_are_told_side_by_side() -> None:
    roster = Roster(FakeClient({"tcp://a": make(tensorflow="2.2"), "tcp://b": make()}))
    assert meet(roster) == []
    told = roster.environment()
    assert told["tensorflow"] == " | ".join(sorted(["2.2", describe()["tensorflow"]]))
    assert told["numpy"] == describe()["numpy"]


def test_those_that_come_later_must_be_like_one_of_them() -> None:
    answers = {"tcp://a": make(), "tcp://b": make(processors="512"), "tcp://c": make(numpy="1.0")}
    roster = Roster(FakeClient(answers))
    assert meet(roster, "tcp://a") == []
    assert meet(roster, "tcp://b") == []
    numpy = describe()["numpy"]
    assert meet(roster, "tcp://c") == [
        f"the Dask worker tcp://c has numpy 1.0, where others have {numpy}"
    ]


def compare(roster: Roster, here: dict[str, str]) -> dict[str, str]:
    addresses = ["tcp://a", "tcp://b"]
    return asyncio.run(roster.compare(["mine", "other"], "/root", addresses, here))


def test_a_package_that_is_not_here_must_be_the_same_everywhere() -> None:
    same = {"mine/a.py": "1", "other.py": "2"}
    roster = Roster(FakeClient({"tcp://a": same, "tcp://b": same}))
    assert compare(roster, {"mine/a.py": "1"}) == {}
    roster = Roster(FakeClient({"tcp://a": same, "tcp://b": same | {"other.py": "3"}}))
    found = compare(roster, {"mine/a.py": "1"})
    assert list(found) == ["tcp://b"]
    assert "other.py differs" in found["tcp://b"]
