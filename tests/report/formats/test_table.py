from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.report import examples
from tests.report.formats.tables import COLOUR, many, on_terminal, table

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


@pytest.mark.parametrize("width", [80, 120])
def test_the_whole_report(width: int, snapshot: SnapshotAssertion) -> None:
    text = table(examples.all_results(), width, problems=True, durations=3)
    assert text == snapshot


@pytest.mark.parametrize("width", [80, 120])
def test_a_long_run_has_a_row_per_file(width: int, snapshot: SnapshotAssertion) -> None:
    assert table(many(), width) == snapshot


def test_verbose_tells_which_stage_decided() -> None:
    assert "by confirmation" in table([examples.mismatch()], verbose=True)
    assert "by confirmation" not in table([examples.mismatch()])


def test_verbose_has_every_row() -> None:
    assert "n49[float32]" not in table(many())
    assert "n49[float32]" in table(many(), verbose=True)


def test_fifty_cases_each_have_their_rows() -> None:
    assert "n49[float32]" in table(many()[:50])


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(on_terminal())
    assert COLOUR.search(on_terminal(color=True)), "who asks for colour gets it"


def test_color_can_be_refused() -> None:
    assert not COLOUR.search(on_terminal(color=False))
