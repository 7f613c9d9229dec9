from __future__ import annotations

from dataclasses import replace

from gradcheck.model import Case, Mode, Result, Verdict
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
    # The gravest counts: what is known to be wrong.
    assert [cell.text for cell in (*second.all("th"), *second.all("td"))] == ["abs", "! 2", "", ""]
    assert [cell.classes for cell in first.all("td")] == [[], ["pass"], ["failed"]]
    labels = [link.attributes["aria-label"] for link in table.one("tbody").all("a")]
    assert labels == ["passed, 2 cases", "failed, 1 case", "known to be wrong, 2 cases"]


def test_an_old_report_names_the_cases() -> None:
    table = page([ran("matmul-3x4[float32,xla]", ""), ran("matmul-3x4[float64]", "")])
    assert [th.text for th in table.by_id("grid").one("tbody").all("th")] == ["matmul-3x4"]


def test_long_expressions_that_begin_alike_are_called_by_their_cases() -> None:
    long = "tf.reduce_sum(x) + " * 20
    rows = page([ran("one[float32]", long + "x"), ran("two", long + "y")]).by_id("grid")
    assert [th.text for th in rows.one("tbody").all("th")] == ["one", "two"]
    titles = [th.attributes["title"] for th in rows.one("tbody").all("th")]
    assert titles == [long + "x", long + "y"]


def test_what_is_known_has_marks_that_differ() -> None:
    ends = (Verdict.MISMATCH, Verdict.DISCONNECTED, Verdict.INCONCLUSIVE, Verdict.ERROR)
    results = [ran(f"f{end}", f"f{end}", end, expect=end) for end in ends]
    grid = page(results).by_id("grid")
    cells = grid.one("tbody").all("td")
    assert sorted(cell.text for cell in cells) == ["!", "?", "e", "∅"]
    assert {tuple(cell.classes) for cell in cells} == {("known",)}
    legend = [key.text for key in grid.all("span") if "key" in key.classes]
    assert legend == [
        "✗failed", "!known to be wrong", "eknown to end in an error", "∅known to have no gradient",
        "?known to be undecided", "∧at a kink", "✓passed", "–skipped",
    ]  # fmt: skip


def test_without_cases_there_is_none() -> None:
    tree = page([Result("x", Verdict.PASS)])
    assert not [node for node in tree.walk() if node.attributes.get("id") == "grid"]
