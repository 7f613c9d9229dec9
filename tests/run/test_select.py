from __future__ import annotations

import pytest

from gradcheck.errors import UsageError
from gradcheck.run import compile_selector
from tests.run.fakes import make_case

MATMUL = make_case(
    "transposed[float32,xla]", id="specs/linalg/matmul.yaml::transposed[float32,xla]"
)
EXP = make_case("exp-3", id="specs/ops/exp.yaml::exp-3", tags=("Smooth", "slow"))


@pytest.mark.parametrize(
    ("expression", "matmul", "exp"),
    [
        ("", True, True),
        ("   ", True, True),
        ("matmul", True, False),
        ("MatMul", True, False),
        ("[float32,xla]", True, False),
        ("specs/ops", False, True),
        ("smooth", False, True),
        ("not smooth", True, False),
        ("not not smooth", False, True),
        ("matmul or smooth", True, True),
        ("matmul and smooth", False, False),
        ("exp or matmul and smooth", False, True),
        ("(exp or matmul) and smooth", False, True),
        ("not (exp or smooth)", True, False),
        ("not exp or smooth", True, True),
        ("notable", False, False),
        ("android", False, False),
    ],
)
def test_selection(expression: str, matmul: bool, exp: bool) -> None:
    selected = compile_selector(expression)
    assert (selected(MATMUL), selected(EXP)) == (matmul, exp)


@pytest.mark.parametrize(
    ("expression", "tags", "exp"),
    [
        ("", ["slow"], True),
        ("", ["fast", "Smooth"], True),
        ("", ["smooth"], False),
        ("", ["slo"], False),
        ("exp", ["slow"], True),
        ("not exp", ["slow"], False),
    ],
)
def test_tags_are_whole_and_any_will_do(expression: str, tags: list[str], exp: bool) -> None:
    selected = compile_selector(expression, tags)
    assert not selected(MATMUL), "it has none"
    assert selected(EXP) == exp


@pytest.mark.parametrize(
    ("expression", "message", "column"),
    [
        ("matmul and", 'expected a name, "not" or "(" at the end', 10),
        ("and matmul", 'expected a name, "not" or "("', 0),
        ("matmul exp", 'expected "and" or "or" before this', 7),
        ("(matmul", 'expected ")" at the end', 7),
        ("matmul)", 'this ")" closes nothing', 6),
        ("matmul or ()", 'expected a name, "not" or "("', 11),
        ("not", 'expected a name, "not" or "(" at the end', 3),
    ],
)
def test_a_bad_expression_is_shown_with_a_caret(expression: str, message: str, column: int) -> None:
    with pytest.raises(UsageError) as caught:
        compile_selector(expression)
    text, shown, caret = str(caught.value).splitlines()
    assert text == f"bad -k expression: {message}"
    assert shown == f"  {expression}"
    assert caret == " " * (column + 2) + "^"


def test_absurd_nesting_is_refused() -> None:
    with pytest.raises(UsageError, match="nested too deeply"):
        compile_selector("(" * 100_000)
