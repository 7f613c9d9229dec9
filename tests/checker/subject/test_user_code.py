"""Code of the user's: reached only where it is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gradcheck.checker.subject.user_code import import_object
from gradcheck.errors import FunctionError
from gradcheck.model import Verdict
from tests.checker.cases import run, values

if TYPE_CHECKING:
    from pathlib import Path

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


@pytest.mark.parametrize(
    "name",
    [
        "weights.tofile",
        "stream.write",
        "attribute_of",
        "run_command",
        "traced_command",
        "exponential",
        "vectors",
        "lying",
        "Process.communicate",
        "Text.upper",
        "Text.maketrans",
        "Inside.from_config",
        "dense.save_own_variables",
        "doubled.func.fget",
    ],
)
def test_what_a_package_merely_holds_is_not_its_own(name: str) -> None:
    result = run("function", f"{CODE}:{name}", values("x", [1.0]))
    assert result.verdict is Verdict.ERROR
    assert "not among the allowed packages" in result.message or "has no" in result.message


def test_a_class_that_says_it_is_from_here() -> None:
    result = run("layer", f"{CODE}:Renamed", values("x", [1.0]), init={"args": "true"})
    assert result.verdict is Verdict.ERROR
    assert "is defined in `subprocess`" in result.message


@pytest.mark.parametrize(
    "name",
    ["leaky", "dense", "Outer.Inner.cube", "Outer.Inner.kept", "outer.traced", "right_swish"],
)
def test_what_it_defined_itself_is_reached_through_whatever_stands_around_it(name: str) -> None:
    parameter = {"leaky": "features", "dense": "inputs"}.get(name, "x")
    result = run("function", f"{CODE}:{name}", values(parameter, [[1.0, 2.0]]))
    assert result.verdict is Verdict.PASS, result.message


def test_a_partial_call_of_its_own() -> None:
    result = run("function", f"{CODE}:doubled", values("base", [1.5]), values("shift", [1.0]))
    assert result.verdict is Verdict.PASS, result.message


def test_a_property_that_raises_is_a_sentence() -> None:
    result = run("function", f"{CODE}:broken.property", values("x", [1.0]))
    assert "cannot be had: RuntimeError: not today" in result.message


@pytest.mark.parametrize(
    "text",
    [
        "tests.checker.__main__:run",
        "tests.checker._hidden:f",
        f"{CODE}:ſystem",
        f"{CODE}:",
        f"{CODE}:a..b",
        "tests.checkers:f",
        "tests.chec:f",
        "",
    ],
)
def test_no_other_way_leads_in(text: str) -> None:
    result = run("function", text, values("x", [1.0]))
    assert result.verdict is Verdict.ERROR
    assert "cannot be imported" not in result.message


def test_a_module_that_is_mistyped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    package = tmp_path / "mistyped_pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "activations.py").write_text("def swish(x): return x\n")
    told = r"did you mean `mistyped_pkg\.activations`\?"
    with pytest.raises(FunctionError, match=told):
        import_object("mistyped_pkg.activation:swish", ["mistyped_pkg"], str(tmp_path))
