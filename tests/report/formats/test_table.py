from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, TextIO, cast

import pytest

from gradcheck.model import Element, Result, Verdict
from gradcheck.report import make_reporter
from gradcheck.report.formats.table import TableReporter
from gradcheck.report.reporter import Options
from tests.report import examples

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def table(
    results: list[Result],
    width: int = 80,
    *,
    problems: bool = False,
    verbose: bool = False,
    durations: int | None = None,
) -> str:
    stream = io.StringIO()
    options = Options(verbose=verbose, durations=durations, color=False)
    reporter = TableReporter(stream, options, width=width)
    examples.tell(reporter, results, (examples.PROBLEM,) if problems else ())
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))


def many() -> list[Result]:
    good = [examples.passing(f"specs/f{i % 3}/ops.yaml::n{i}[float32]") for i in range(50)]
    return [*good, examples.mismatch()]


@pytest.mark.parametrize("width", [80, 120])
def test_the_whole_report(width: int, snapshot: SnapshotAssertion) -> None:
    text = table(examples.all_results(), width, problems=True, durations=3)
    assert text == snapshot


@pytest.mark.parametrize("width", [80, 120])
def test_a_long_run_has_a_row_per_file(width: int, snapshot: SnapshotAssertion) -> None:
    assert table(many(), width) == snapshot


@pytest.mark.parametrize("width", [40, 72, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    text = table(examples.all_results(), width)
    body = text[: text.index(" failures ")]
    assert max(len(line) for line in body.split("\n")) <= max(width, 72)


def test_verbose_has_every_row() -> None:
    assert "n49[float32]" not in table(many())
    assert "n49[float32]" in table(many(), verbose=True)


def test_fifty_cases_each_have_their_rows() -> None:
    assert "n49[float32]" in table(many()[:50])


def test_a_case_that_failed_as_a_whole_has_a_row_of_its_own() -> None:
    case = examples.case("a.yaml::x")
    result = Result("a.yaml::x", Verdict.ERROR, (examples.compared("x"),), "not twice", case=case)
    rows = [line.split() for line in table([result]).split("\n") if line.startswith("  x ")]
    assert rows[0][:2] == ["x", "–"]
    assert "error" in rows[0]


def test_elements_too_wide_for_the_screen_become_lists() -> None:
    text = table([examples.complex_mismatch()], 72)
    assert re.search(r"index +input value +analytic", text)
    wide = Element((0, 0), 1 / 3 + 1j / 7, 1 / 3 + 1j, 1 / 3 + 1.0000000001j, 1e-13, 1j)
    result = Result(
        "a.yaml::x",
        Verdict.MISMATCH,
        (examples.compared("z", Verdict.MISMATCH, worst=(wide,)),),
        case=examples.case("a.yaml::x"),
    )
    text = table([result], 80)
    assert re.search(r"\[0, 0\] +input value +0.333333\+0.142857j", text)
    assert re.search(r"^ +analytic +0.33333333333\d*\+1j$", text, re.MULTILINE)


def on_terminal(*, color: bool | None = None) -> str:
    below = io.StringIO()
    stream = cast("TextIO", examples.Terminal(below))
    examples.tell(make_reporter("table", stream, color=color), examples.all_results())
    return below.getvalue()


HIDDEN_CURSOR = "\x1b[?25l"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def test_a_terminal_gets_colour_and_a_bar() -> None:
    text = on_terminal()
    assert COLOUR.search(text)
    assert HIDDEN_CURSOR in text
    assert "16/16" in text
    assert "11 failures" in text
    assert text.rindex("\x1b[?25h") < text.index("specs/linalg/matmul.yaml"), "the cursor is back"


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not COLOUR.search(on_terminal())
    assert COLOUR.search(on_terminal(color=True)), "who asks for colour gets it"


def test_color_can_be_refused() -> None:
    assert not COLOUR.search(on_terminal(color=False))


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
