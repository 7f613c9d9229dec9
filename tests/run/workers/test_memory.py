from __future__ import annotations

import os

import pytest

from gradcheck.errors import UsageError
from gradcheck.run.workers.memory import LEAST_MEMORY, default_limit, held, parse_size, shown


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2G", 2 * 2**30),
        ("1.5GiB", 3 * 2**29),
        ("800M", 800 * 2**20),
        ("800 mb", 800 * 2**20),
        ("4194304", 2**22),
        ("none", None),
    ],
)
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1G", "2X", "5", "nan", "1e9G", "٣G "])
def test_what_is_no_size_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="write 2G, 800M or none"):
        parse_size(text)


def test_what_this_process_holds_is_seen_and_what_does_not_exist_holds_nothing() -> None:
    before = held(os.getpid())
    fat = bytearray(b"x") * 100_000_000
    assert held(os.getpid()) >= before + 90_000_000
    assert held(2**22 + 1) == 0
    del fat


def test_the_default_is_a_share_of_the_machine() -> None:
    one, two, many = (default_limit(jobs) or 0 for jobs in (1, 2, 100_000))
    assert LEAST_MEMORY == many <= two <= one


def test_sizes_are_shown_short() -> None:
    assert [shown(n * 2**20) for n in (300, 1024, 1536)] == ["300 MiB", "1 GiB", "1.5 GiB"]
