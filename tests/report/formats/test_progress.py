from __future__ import annotations

import io
from typing import TextIO, cast

import pytest

from gradcheck.report import make_reporter
from gradcheck.report.formats.progress import LiveBar, Pace
from gradcheck.report.formats.table import open_console
from tests.report import examples
from tests.report.formats.tables import COLOUR, HIDDEN_CURSOR, on_terminal


def test_a_terminal_gets_colour_and_a_bar() -> None:
    text = on_terminal()
    assert COLOUR.search(text)
    assert HIDDEN_CURSOR in text
    assert "16/16" in text
    assert "11 failures" in text
    assert text.rindex("\x1b[?25h") < text.index("specs/linalg/matmul.yaml"), "the cursor is back"


class _Clock:
    """Seconds that pass when a test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("gradcheck.report.formats.progress.time.monotonic", lambda: self.now)


def test_rate_and_time_left_are_those_of_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock(monkeypatch)
    pace = Pace(297)
    clock.now += 19
    assert pace.waits()
    assert pace.told(roomy=True).plain == "0/297 cases  0:19 so far"
    pace.advance(failed=False)
    assert not pace.waits()
    for number in range(20):
        clock.now += 0.5
        pace.advance(failed=number < 2)
    # (What loading took is no part of it.)
    assert pace.told(roomy=True).plain == "21/297 cases  2 failures  2.0 cases/s  2:18 left"
    clock.now += 10
    assert "1.0 cases/s  4:36 left" in pace.told(roomy=True).plain, "who stalls is slower"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_bar_fits_and_says_what_is_waited_for(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = _Clock(monkeypatch)
    below = io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    console = open_console(cast("TextIO", examples.Terminal(below)), width=width)
    bar = LiveBar(console, 1297)
    clock.now += 5
    frames = []
    for done in (0, 300):
        for _ in range(done):
            clock.now += 0.05
            bar.advance(failed=True)
        with console.capture() as capture:
            console.print(bar._progress.get_renderable())
        frames.append(COLOUR.sub("", capture.get()))
    assert all(len(line) <= width for frame in frames for line in frame.split("\n"))
    assert "loading TensorFlow" in frames[0]
    assert "0:05 so far" in frames[0]
    assert "loading" not in frames[1]
    for told in ("300/1297", "300 failures", "20 cases/s", "0:50 left"):
        assert told in frames[1], frames[1]


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
