from __future__ import annotations

import io
from typing import TYPE_CHECKING

from gradcheck.report import make_reporter
from tests.report import examples
from tests.report.formats.tables import COLOUR, HIDDEN_CURSOR, on_terminal

if TYPE_CHECKING:
    import pytest


def test_a_terminal_gets_colour_and_a_bar() -> None:
    text = on_terminal()
    assert COLOUR.search(text)
    assert HIDDEN_CURSOR in text
    assert "16/16" in text
    assert "11 failures" in text
    assert text.rindex("\x1b[?25h") < text.index("specs/linalg/matmul.yaml"), "the cursor is back"


def test_a_pipe_gets_neither_colour_nor_bar() -> None:
    stream = io.StringIO()
    examples.tell(make_reporter("table", stream), examples.all_results())
    assert "\x1b" not in stream.getvalue()
    assert "16/16" not in stream.getvalue()


def test_a_pipe_can_have_colour_but_never_a_bar() -> None:
    stream = io.StringIO()
    examples.tell(make_reporter("table", stream, color=True), examples.all_results())
    assert COLOUR.search(stream.getvalue())
    assert HIDDEN_CURSOR not in stream.getvalue()


def test_forced_colour_is_no_reason_to_move_a_bar_in_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    stream = io.StringIO()
    examples.tell(make_reporter("table", stream), examples.all_results())
    assert COLOUR.search(stream.getvalue())
    assert HIDDEN_CURSOR not in stream.getvalue()
