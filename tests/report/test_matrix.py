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


def expected(result: Result) -> Result:
    assert result.case is not None
    return replace(result, case=replace(result.case, expect=result.verdict))


def called(result: Result, case_id: str) -> Result:
    assert result.case is not None
    return replace(result, id=case_id, case=replace(result.case, id=case_id))


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
        "(✗ failed, ✓ passed, – skipped)",
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


def test_what_is_known_has_marks_that_differ() -> None:
    ends = [
        (Verdict.MISMATCH, Mode.EAGER, CheckKind.REVERSE),
        (Verdict.NONFINITE, Mode.EAGER, CheckKind.SECOND),
        (Verdict.DISCONNECTED, Mode.GRAPH, CheckKind.REVERSE),
        (Verdict.INCONCLUSIVE, Mode.GRAPH, CheckKind.SECOND),
        (Verdict.ERROR, Mode.XLA, CheckKind.REVERSE),
        (Verdict.CRASHED, Mode.XLA, CheckKind.SECOND),
    ]
    lines = drawn([expected(ran("abs", *end)) for end in ends])
    assert lines == [
        "                   eager            graph            xla",
        "function  dtype    reverse  second  reverse  second  reverse  second",
        "abs       float64  !        !       ∅        ?       e        e",
        "",
        "(! known to be wrong, e known to end in an error, ∅ known to have no gradient, "
        "? known to be undecided)",
    ]


def test_the_gravest_mark_counts() -> None:
    ends = (Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.DISCONNECTED)
    results = [expected(ran("abs", end, Mode.EAGER, CheckKind.REVERSE)) for end in ends]
    results.append(ran("abs", Verdict.PASS, Mode.EAGER, CheckKind.SECOND))
    assert drawn(results)[2].split() == ["abs", "float64", "∅", "3", "✓"]


def test_expressions_that_begin_alike() -> None:
    long = "tf.math.special.spence(tf.reduce_sum(x * x) + "
    kinds = (CheckKind.REVERSE, CheckKind.SECOND)
    texts = [("a", "1.0)"), ("a", "2.0)"), ("b", "1.0)"), ("b", "3.0)")]
    results = []
    for (file, end), name in zip(texts, ("one", "two", "again", "one"), strict=True):
        for kind in kinds:
            result = ran(long + end, Verdict.PASS, Mode.EAGER, kind)
            results.append(called(result, f"specs/{file}.yaml::{name}[{kind}]"))
    names = [line.split()[0] for line in drawn(results)[2:-2]]
    # (The third is the first expression again.)
    assert names == ["one", "two", "b::one"]
