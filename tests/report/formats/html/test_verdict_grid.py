from __future__ import annotations

from dataclasses import replace

from gradcheck.model import Case, Mode, Result, TargetKind, Verdict
from tests.report import examples
from tests.report.formats.html.pages import page


def ran(name: str, text: str, verdict: Verdict = Verdict.PASS, **changes: object) -> Result:
    case = examples.case(f"a.yaml::{name}")
    target = replace(case.target, text=text)
    case = replace(case, target=target, **changes)  # type: ignore[arg-type]
    assert isinstance(case, Case)
    return Result(case.id, verdict, (examples.compared("x", verdict),), case=case)


def test_a_row_for_each_function_and_a_column_for_each_mode_and_dtype() -> None:
    results = [
        ran("one", "matmul", dtype="float32"),
        ran("two", "tf.linalg.matmul", dtype="float32"),
        ran("three", "matmul", Verdict.MISMATCH, mode=Mode.XLA),
        ran("four", "abs", Verdict.KINK),
        ran("five", "abs", Verdict.MISMATCH, expect=Verdict.MISMATCH),
    ]
    table = page(results).by_id("grid").one("table")
    assert [th.text for th in table.one("thead").all("th")] == [
        "function", "eager", "xla", "float64", "float32", "float64",
    ]  # fmt: skip
    assert [th.attributes.get("colspan") for th in table.all("tr")[0].all("th")] == [None, "2", "1"]
    # Spellings of one op share a row; one with a failure comes first.
    first, second = table.one("tbody").all("tr")
    assert [cell.text for cell in (*first.all("th"), *first.all("td"))] == [
        "matmul", "", "✓ 2", "✗",
    ]  # fmt: skip
    # The gravest counts: a known bug.
    assert [cell.text for cell in (*second.all("th"), *second.all("td"))] == ["abs", "! 2", "", ""]
    assert [cell.classes for cell in first.all("td")] == [[], ["pass"], ["failed"]]
    labels = [link.attributes["aria-label"] for link in table.one("tbody").all("a")]
    assert labels == ["passed, 2 cases", "failed, 1 case", "known bugs, 2 cases"]


def test_an_old_report_names_the_cases() -> None:
    table = page([ran("matmul-3x4[float32,xla]", ""), ran("matmul-3x4[float64]", "")])
    assert [th.text for th in table.by_id("grid").one("tbody").all("th")] == ["matmul-3x4"]


def test_a_long_expression_is_cut() -> None:
    long = ran("x", "tf.reduce_sum(x) + " * 20)
    kind = replace(long.case, target=replace(long.case.target, kind=TargetKind.EXPR))  # type: ignore[type-var, union-attr]
    (name,) = page([replace(long, case=kind)]).by_id("grid").one("tbody").all("th")
    assert len(name.text) == 60
    assert name.text.endswith("…")


def test_without_cases_there_is_none() -> None:
    tree = page([Result("x", Verdict.PASS)])
    assert not [node for node in tree.walk() if node.attributes.get("id") == "grid"]
