from __future__ import annotations

from dataclasses import replace

from gradcheck.model import GradientCall, Result, Target, TargetKind
from tests.report import examples
from tests.report.formats.html.pages import page


def about(kind: TargetKind, text: str) -> Result:
    result = examples.passing(f"a.yaml::{kind}-{text}")
    assert result.case is not None
    target = Target(kind, text, result.case.location)
    return replace(result, case=replace(result.case, target=target))


def test_ops_that_no_case_checks_are_named() -> None:
    section = page([examples.passing()]).by_id("coverage")
    assert "1 of 2 declared ops have cases of their own." in section.text
    (missing, checked) = section.all("table")
    assert missing.one("caption").text == "Declared ops that no case checks"
    assert [td.text for td in missing.one("tbody").all("td")] == ["tanh"]
    assert [td.text for td in checked.one("tbody").all("td")] == ["linalg", "1", "0"]
    assert "Of 32 elements in all gradients 32 were judged one by one." in section.text


def test_what_an_expression_calls_is_no_case_of_its_own() -> None:
    text = "tf.reduce_sum(tf.tanh(x))"
    section = page([about(TargetKind.EXPR, text)]).by_id("coverage")
    assert "0 of 2 declared ops" in section.text
    assert "tanh (in expressions)" in section.text
    others = section.all("table")[-1]
    assert [node.text for node in others.one("tbody").all("code")] == [text]


def test_other_functions_are_counted() -> None:
    results = [
        about(TargetKind.FUNCTION, "mypkg:f"),
        about(TargetKind.LAYER, "keras.layers.Dense"),
        about(TargetKind.OP, "tf.linalg.matmul"),
    ]
    section = page(results).by_id("coverage")
    assert "Functions besides the declared ops (2: 1 by function, 1 by layer)" in section.text


def test_an_old_report_does_not_know() -> None:
    section = page([about(TargetKind.OP, "")]).by_id("coverage")
    assert "does not say which functions" in section.text
    assert not section.all("table")


def test_gradient_functions_that_were_called() -> None:
    section = page([examples.with_gradients(), examples.passing()]).by_id("coverage")
    assert "2 gradient functions of TensorFlow were called on the ways back" in section.text
    assert "2 verified, 0 known to be wrong" in section.text
    (called,) = [t for t in section.all("table") if "Gradient functions" in t.one("caption").text]
    assert [td.text for td in called.one("tbody").all("td")] == [
        *("verified", "float32, float64", "1"),
        *("verified", "float64", "1"),
    ]


def test_a_report_that_does_not_tell_of_gradient_functions() -> None:
    assert "gradient function" not in page([examples.passing()]).by_id("coverage").text


def test_one_that_was_called_for_nothing() -> None:
    failing = replace(examples.mismatch(), called=(GradientCall("Sin"),))
    section = page([failing]).by_id("coverage")
    assert "1 gradient function of TensorFlow was called" in section.text
    assert "0 verified, 0 known to be wrong" in section.text
