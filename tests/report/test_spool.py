from __future__ import annotations

import gc

import pytest

from gradcheck.report import spool
from gradcheck.report.spool import Spool


@pytest.mark.parametrize("in_memory", [10**6, 5])
def test_texts_come_back_by_rank(in_memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MOST_IN_MEMORY", in_memory)
    kept = Spool()
    texts = {3: "drei", 1: "eins\n", 2: "∂ and \udcff", 0: ""}
    for rank, text in texts.items():
        kept.add(rank, text)
    kept.add(1, "once more")
    assert list(kept) == ["", "eins\n", "once more", "∂ and \udcff", "drei"]
    assert list(kept) == list(kept)
    assert len(kept) == 5


def test_nothing_is_nothing() -> None:
    assert list(Spool()) == []


def test_who_forgets_it_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "MOST_IN_MEMORY", 5)
    kept = Spool()
    kept.add(0, "more than five bytes")
    file = kept._file
    del kept
    gc.collect()
    assert file.closed
