from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.model import CodePlace, Verdict
from gradcheck.report import make_reporter
from gradcheck.report.background import Background
from gradcheck.report.formats.github import escape_data, escape_property
from tests.report import examples, hostile
from tests.report.formats.html.pages import earlier

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from syrupy.assertion import SnapshotAssertion

    from gradcheck.model import Result


def commands(results: list[Result], *, problems: bool = False) -> list[str]:
    stream = io.StringIO()
    found = (examples.PROBLEM,) if problems else ()
    examples.tell(make_reporter("github", stream), results, found)
    return stream.getvalue().splitlines()


def test_all_commands(snapshot: SnapshotAssertion) -> None:
    assert "\n".join(commands(examples.all_results(), problems=True)) == snapshot


def kinds(lines: list[str]) -> list[str]:
    return [line.partition(" ")[0].strip(":") for line in lines if line.startswith("::")]


def test_each_failure_and_each_problem_is_an_error() -> None:
    results = [r for r in examples.all_results() if r.verdict is not Verdict.PASS]
    lines = commands(results, problems=True)
    # Nine failures, one of them told at the code, and again at its spec.
    assert kinds(lines) == ["error"] * 10 + ["warning", "notice"]
    assert lines[0].startswith("::error file=specs/broken.yaml,line=4,col=7,title=")
    assert lines[1].startswith("::error file=layers/products.py,line=31,")
    assert "crashed in aborts" in lines[2]  # then the gravest
    assert lines[-2].startswith("::warning file=specs/linalg/matmul.yaml,line=7,")
    assert lines[-1].startswith("::notice title=gradcheck::13 cases: ")


def test_what_github_would_not_show_is_folded() -> None:
    results = [replace(examples.timeout(), id=f"a.yaml::{n}") for n in range(37)]
    lines = commands(results)
    assert kinds(lines) == [*["error"] * 10, "group::27", "endgroup", "notice"]
    (start,) = [n for n, line in enumerate(lines) if line.startswith("::group::27 more errors")]
    assert sum(line.startswith("a.yaml::") for line in lines[start:]) == 27


def test_a_gradient_function_has_one_error() -> None:
    wrong = examples.mismatch()
    results = [replace(wrong, id=f"a.yaml::{n}") for n in range(20)]
    lines = commands(results)
    assert kinds(lines) == ["error", *["warning"] * 10, "group::10", "endgroup", "notice"]
    others = ", ".join(f"a.yaml::{n}" for n in range(1, 6))
    assert lines[0].endswith(f"%0Afound by a.yaml::0%0Aalso in {others} and 14 more")


def test_spec_problems_leave_room_for_failures() -> None:
    stream = io.StringIO()
    examples.tell(make_reporter("github", stream), [examples.timeout()], (examples.PROBLEM,) * 20)
    shown = stream.getvalue().splitlines()[:10]
    assert sum("timeout in hangs" in line for line in shown) == 1


def test_a_long_message_is_cut() -> None:
    (line, _) = commands([replace(examples.error(), message="x" * 100_000)])
    assert len(line) < 4500
    assert line.endswith("… (the whole of it is in the other reports)")


def test_a_gradient_function_in_the_repository_is_an_error_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_code, at_spec, _ = commands([examples.mismatch()])
    assert at_spec.startswith("::warning file=specs/linalg/matmul.yaml,line=7,")
    assert at_code.startswith("::error file=layers/products.py,line=31,col=1,title=gradcheck%3A ")
    assert "Product.call.grad: the gradient of a[3,4] is wrong%0AThe gradient is 1.0" in at_code
    inside = tmp_path / "sub"
    inside.mkdir()
    monkeypatch.chdir(inside)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert "::error file=sub/layers/products.py,line=31," in commands([examples.mismatch()])[0]


def test_a_gradient_function_elsewhere_is_none() -> None:
    result = examples.mismatch()
    away = CodePlace("/opt/shared/products.py", 31, "grad")
    moved = [replace(c, places=(away,) if c.places else ()) for c in result.comparisons]
    lines = commands([replace(result, comparisons=tuple(moved))])
    assert [line.partition(",")[0] for line in lines] == [
        "::error file=specs/linalg/matmul.yaml",
        "::notice title=gradcheck::1 case: 1 mismatch in 3.21 s",
    ]
    assert "in your code: /opt/shared/products.py:31, in grad" in lines[0]


def test_a_good_run_is_one_notice() -> None:
    results = [examples.passing(), examples.known_bug()]
    assert commands(results) == [
        "::notice title=gradcheck::2 cases: 1 pass, 1 mismatch (expected) in 3.21 s"
    ]


def test_escaping() -> None:
    assert escape_data("100%\r\nnext: a,b") == "100%25%0Anext: a,b"
    assert escape_property("a:b,c%\nd") == "a%3Ab%2Cc%25%0Ad"
    assert (
        "title=gradcheck%3A mismatch in transposed[float32%2Cxla]::"
        in commands([examples.mismatch()])[0]
    )


def test_the_summary_is_appended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    file = tmp_path / "summary.md"
    file.write_text("before\n\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    commands(examples.all_results(), problems=True)
    text = file.read_text(encoding="utf-8")
    assert text.startswith("before\n\n## ❌ gradcheck: 11 of 16 cases failed; 1 spec problem\n")
    assert text == snapshot


def test_the_summary_of_a_step_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    file.write_text("x" * 500_000, encoding="utf-8")
    commands(hostile.many(5000))
    assert 900_000 < file.stat().st_size <= 2**20
    assert "left out here" in file.read_text(encoding="utf-8")


def test_the_summary_says_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    background = Background((earlier([examples.passing("a.yaml::gone")]),))
    reporter = make_reporter("github", io.StringIO(), background=background)
    examples.tell(reporter, [examples.passing()])
    assert "0 cases in both runs: **1 gone, 1 new**." in file.read_text(encoding="utf-8")


def test_a_summary_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    assert commands([examples.passing()])[-1] == (
        "::warning title=gradcheck::the summary of the step could not be written: Is a directory"
    )


def test_paths_start_at_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "sub"
    inside.mkdir()
    monkeypatch.chdir(inside)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert commands([examples.timeout()])[0].startswith("::error file=sub/specs/guide/edges.yaml")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert commands([examples.timeout()])[0].startswith("::error file=specs/guide/edges.yaml")
