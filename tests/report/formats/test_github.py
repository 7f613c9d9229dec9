from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.model import CodePlace
from gradcheck.report import make_reporter
from gradcheck.report.formats.github import escape_data, escape_property
from tests.report import examples

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


def test_each_failure_and_each_problem_is_an_error() -> None:
    lines = commands(examples.all_results(), problems=True)
    assert sum(line.startswith("::error file=") for line in lines) == 11 + 1 + 1
    assert lines[0].startswith("::error file=specs/broken.yaml,line=4,col=7,title=")
    assert lines[-1].startswith("::notice title=gradcheck::16 cases: ")
    assert len(lines) == 14


def test_a_gradient_function_in_the_repository_is_an_error_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_spec, at_code, _ = commands([examples.mismatch()])
    assert at_spec.startswith("::error file=specs/linalg/matmul.yaml,line=7,")
    assert at_code.startswith("::error file=layers/products.py,line=31,col=1,title=gradcheck%3A ")
    assert "Product.call.grad: the gradient of a[3,4] is wrong%0AThe gradient is 1.0" in at_code
    inside = tmp_path / "sub"
    inside.mkdir()
    monkeypatch.chdir(inside)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert "::error file=sub/layers/products.py,line=31," in commands([examples.mismatch()])[1]


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
    assert text.startswith("before\n\n## gradcheck\n\n❌ 16 cases")
    assert text == snapshot


def test_what_is_written_stays_in_its_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(file))
    commands([examples.crashed(), examples.error()])
    text = file.read_text(encoding="utf-8")
    assert "&lt;b>" in text
    assert "vs. \\[4,5\\] at Add\\[x\\]" in text


def test_paths_start_at_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "sub"
    inside.mkdir()
    monkeypatch.chdir(inside)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert commands([examples.mismatch()])[0].startswith(
        "::error file=sub/specs/linalg/matmul.yaml"
    )
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "elsewhere"))
    assert commands([examples.mismatch()])[0].startswith("::error file=specs/linalg/matmul.yaml")
