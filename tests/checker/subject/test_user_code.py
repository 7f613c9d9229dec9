"""Code of the user's: reached only where it is allowed."""

from __future__ import annotations

import pytest

from gradcheck.model import Verdict
from tests.checker.cases import run, values

CODE = "tests.checker.user_code"


@pytest.mark.parametrize("text", [f"{CODE}:os.system", f"{CODE}:tf.io.write_file"])
def test_other_modules_are_not_reached_through_an_allowed_one(text: str) -> None:
    result = run("function", text, values("x", [1.0]))
    assert result.verdict is Verdict.ERROR
    assert "is a module, not a function" in result.message


def test_a_package_that_was_not_allowed_is_not_imported() -> None:
    result = run("function", "antigravity:fly", values("x", [1.0]))
    assert result.verdict is Verdict.ERROR
    assert "not among the allowed packages" in result.message


def test_the_nearest_name_is_offered() -> None:
    result = run("function", f"{CODE}:subtrac", values("x", [1.0]))
    assert "did you mean `subtract`?" in result.message


@pytest.mark.parametrize(
    "text", [f"{CODE}:__loader__.set_data", f"{CODE}:subtract.__globals__.get", f"{CODE}:_hidden"]
)
def test_private_names_are_not_reached(text: str) -> None:
    result = run("function", text, values("x", [1.0]))
    assert result.verdict is Verdict.ERROR
    assert "is private" in result.message


def test_what_an_allowed_module_imports_is_not_its_own() -> None:
    result = run("function", f"{CODE}:system", values("x", [1.0]))
    assert result.verdict is Verdict.ERROR
    assert "which is not among the allowed packages" in result.message
