from __future__ import annotations

from dataclasses import replace

from gradcheck.model import CheckKind, Mode, Result, Verdict
from gradcheck.report.matrix import Matrix
from tests.report import examples


def ran(
    text: str, verdict: Verdict, mode: Mode, check: CheckKind, dtype: str = "float64"
) -> Result:
    case = examples.case(f"a.yaml::{text}[{mode},{check},{dtype}]")
    target = replace(case.target, text=text)
    case = replace(case, target=target, mode=mode, checks=(check,), dtype=dtype)
    return Result(case.id, verdict, case=case)


def drawn(results: list[Result]) -> list[str]:
    matrix = Matrix()
    for position, result in enumerate(results):
        matrix.add(result, position)
    return matrix.lines()


def test_a_row_for_each_function_and_dtype() -> None:
    lines = drawn(
        [
            ran("abs", Verdict.PASS, Mode.EAGER, CheckKind.REVERSE),
            ran("abs", Verdict.MISMATCH, Mode.EAGER, CheckKind.SECOND),
            ran("abs", Verdict.SKIPPED, Mode.XLA, CheckKind.SECOND, "float32"),
        ]
    )
    assert lines == [
        "                   eager            xla",
        "function  dtype    reverse  second  second",
        "abs       float64  ✓        ✗",
        "abs       float32                   –",
        "",
        "(✗ failed, ! known bugs, ∧ at a kink, ✓ passed, – skipped)",
    ]


def test_none_for_one_mode_and_check() -> None:
    assert drawn([ran("abs", Verdict.PASS, Mode.XLA, CheckKind.SECOND)]) == []


def test_of_many_rows_those_that_pass_are_counted() -> None:
    kinds = (CheckKind.REVERSE, CheckKind.FORWARD)
    results = [ran(f"f{n}", Verdict.PASS, Mode.EAGER, kind) for n in range(50) for kind in kinds]
    results.append(ran("bad", Verdict.ERROR, Mode.EAGER, CheckKind.FORWARD))
    lines = drawn(results)
    assert lines[2].split() == ["bad", "float64", "✗"]
    assert lines[3] == "50 other rows: ✓ everywhere"
