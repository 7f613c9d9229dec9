from __future__ import annotations

import re
from collections import Counter

import pytest

from gradcheck.model import Result, Verdict
from gradcheck.report import numbers
from tests.report import examples
from tests.report.formats.tables import many, table

WIDTHS = range(40, 201)
"""Columns."""
FEWER = (*WIDTHS[:60:3], *WIDTHS[60::10])
"""For what folds in the same way at every width: at all of them no number is split."""

_NUMBER = re.compile(r"\d\.\de[+-]\d+|\d+\.\d+(?= s)")
"""An error, or a time."""


def _body(text: str) -> str:
    return text[: text.index(" failures ")]


def _whole(results: list[Result]) -> Counter[str]:
    """The errors that the table has to show, each as often as it is there."""
    figures = (
        figure
        for result in results
        for c in result.comparisons
        for figure in (c.max_abs_error, c.max_rel_error, c.error_bar)
    )
    return Counter(n for f in figures if _NUMBER.fullmatch(n := numbers.error(f)))


@pytest.mark.parametrize(
    ("verbose", "width"), [*((False, w) for w in WIDTHS), *((True, w) for w in FEWER)]
)
def test_at_no_width_is_a_number_split(width: int, verbose: bool) -> None:
    results = [*examples.all_results(), _with_long_names()]
    body = _body(table(results, width, verbose=verbose))
    assert max(len(line) for line in body.split("\n")) <= width
    seen, wanted = Counter(_NUMBER.findall(body)), _whole(results)
    if "left out" in body:
        wanted = Counter(numbers.error(c.max_abs_error) for r in results for c in r.comparisons)
        wanted = Counter({n: times for n, times in wanted.items() if _NUMBER.fullmatch(n)})
    assert seen & wanted == wanted


@pytest.mark.parametrize("width", FEWER)
def test_each_input_has_a_row_of_its_own(width: int) -> None:
    result = _with_long_names()
    lines = table([result, examples.mismatch()], width).split("\n")
    lines = lines[: next(i for i, line in enumerate(lines) if "failure" in line)]
    rows = [line for line in lines if re.search(r" (pass|disconnected|mismatch)\b", line)]
    assert len(rows) == len(result.comparisons) + len(examples.mismatch().comparisons)
    text = table([result, examples.mismatch()], width)
    for name in ("transformer_", "normalization/"):
        assert name in text, "a word is torn apart"


@pytest.mark.parametrize("width", FEWER)
def test_a_row_for_each_file_at_every_width(width: int) -> None:
    body = table(many(), width).split("failure")[0]
    assert max(len(line) for line in body.split("\n")) <= width
    assert re.search(r"\b3\.0e-16\b|\b\d\.\de-\d\d\b", body)
    assert len([line for line in body.split("\n") if re.search(r"\b\d\.\de-\d\d\b", line)]) >= 3


def test_what_a_narrow_screen_leaves_out_is_told() -> None:
    assert "left out, for want of width: " in table(examples.all_results(), 50)
    assert "left out" not in table(examples.all_results(), 120)


def test_time_stands_beside_the_name_where_it_has_no_column() -> None:
    lines = table([_with_long_names(), examples.mismatch()], 60).split("\n")
    heads = [line for line in lines if re.search(r"block\[float64\]  \d\.\d\d s$", line)]
    assert len(heads) == 1


@pytest.mark.parametrize("width", FEWER)
def test_the_elements_of_a_failure_keep_their_digits(width: int) -> None:
    text = table([examples.mismatch(), examples.complex_mismatch()], width)
    wide = table([examples.mismatch(), examples.complex_mismatch()], 200)
    for number in re.findall(r"(?<=  )\d\.\d{4,}\S*", wide):
        assert number in text


def _with_long_names() -> Result:
    names = [
        "inputs",
        "transformer_block/multi_head_attention/query/kernel",
        "transformer_block/batch_normalization/gamma",
        "x",
    ]
    inputs = [examples.compared(name) for name in names]
    inputs[-1] = examples.compared("x", Verdict.DISCONNECTED, errors=None)
    case = examples.case("a.yaml::block[float64]")
    return Result("a.yaml::block[float64]", Verdict.DISCONNECTED, tuple(inputs), case=case)


def test_a_case_that_failed_as_a_whole_has_a_row_of_its_own() -> None:
    case = examples.case("a.yaml::x")
    result = Result("a.yaml::x", Verdict.ERROR, (examples.compared("x"),), "not twice", case=case)
    rows = [line.split() for line in table([result]).split("\n") if line.startswith("  x ")]
    assert rows[0][:2] == ["x", "–"]
    assert "error" in rows[0]
