from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcheck.errors import UsageError
from gradcheck.run.shard import cut, parse_shard
from tests.run.fakes import make_case

CASES = [make_case(f"case-{number}") for number in range(40)]


def unknown(case_id: str) -> None:
    return None


def test_a_shard_is_written_as_part_of_a_whole() -> None:
    assert parse_shard("2/5") == (2, 5)
    assert parse_shard("1/1") == (1, 1)


@pytest.mark.parametrize("text", ["", "2", "0/5", "6/5", "2/0", "-1/5", "a/b", "1/2/3", "1/99999"])
def test_what_is_no_shard_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="shard"):
        parse_shard(text)


@given(
    st.integers(1, 12),
    st.lists(st.none() | st.floats(0, 100), min_size=len(CASES), max_size=len(CASES)),
)
def test_every_case_is_in_exactly_one_shard_whatever_is_known(
    count: int, times: list[float | None]
) -> None:
    known = {case.id: time for case, time in zip(CASES, times, strict=True)}
    parts = [cut(CASES, index, count, known.__getitem__) for index in range(1, count + 1)]
    placed = [position for _, shard in parts for position in shard.positions]
    assert sorted(placed) == list(range(len(CASES)))
    assert len({shard.cut for _, shard in parts}) == 1
    for cases, shard in parts:
        assert cases == [CASES[position] for position in shard.positions]
        assert list(shard.positions) == sorted(shard.positions)


def test_without_times_the_numbers_are_even() -> None:
    sizes = [len(cut(CASES, index, 7, unknown)[0]) for index in range(1, 8)]
    assert max(sizes) - min(sizes) <= 1


def test_each_has_some_of_every_mode_and_check() -> None:
    """Compiled cells take longest by far: one shard of four would have them all."""
    cells = [
        f"{mode}-{check}" for mode in ("eager", "graph", "xla") for check in ("a", "b", "c", "d")
    ]
    cases = [make_case(f"case-{number}[{cell}]") for number in range(40) for cell in cells]
    for index in range(1, 5):
        mine = [case.id for case in cut(cases, index, 4, unknown)[0]]
        assert all(any(f"[{cell}]" in each for each in mine) for cell in cells)


def test_recorded_times_are_spread_evenly() -> None:
    times = {case.id: 30.0 if number == 3 else 1.0 for number, case in enumerate(CASES)}
    loads = [sum(times[c.id] for c in cut(CASES, i, 2, times.get)[0]) for i in (1, 2)]
    assert sorted(loads) == [34.0, 35.0]


def test_another_cut_has_another_name() -> None:
    _, first = cut(CASES, 1, 2, unknown)
    _, again = cut(CASES, 1, 2, unknown)
    _, slow = cut(CASES, 1, 2, {CASES[0].id: 9.0, CASES[1].id: 1.0}.get)
    _, fewer = cut(CASES[1:], 1, 2, unknown)
    assert first == again
    assert len({first.cut, slow.cut, fewer.cut}) == 3
