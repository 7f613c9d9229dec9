"""How a case's function is reached and called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcheck.checker import check_case
from gradcheck.model import Case, Input, Location, Result, Target, TargetKind, Verdict

HERE = Location("specs/s.yaml", 3, 5)
ROOT = str(Path(__file__).parents[3])
CODE = "tests.checker.user_code"


def run(kind: str, text: str, inputs: dict[str, Any], **rest: Any) -> Result:
    given = tuple(
        Input(name=name, shape=np.shape(v), location=HERE, values=np.asarray(v, dtype=float))
        for name, v in inputs.items()
    )
    target = Target(TargetKind(kind), text, HERE)
    case = Case("specs/s.yaml::c", "specs/s.yaml", "c", HERE, target, given, **rest)
    return check_case(case, allow=["tests.checker"], root=ROOT)


@pytest.mark.parametrize("name", ["x", "anything"])
def test_a_wrong_custom_gradient_is_found_whatever_its_input_is_called(name: str) -> None:
    # Called by keyword, tf.custom_gradient would hand out the gradient of the ops inside.
    values = {name: [0.5, -1.0, 2.0]}
    assert run("function", f"{CODE}:wrong_swish", values).verdict is Verdict.MISMATCH
    assert run("function", f"{CODE}:right_swish", values).verdict is Verdict.PASS


def test_inputs_go_to_the_parameters_of_their_names() -> None:
    inputs = {"shift": [1.0, 2.0], "base": [2.0, 3.0]}
    result = run("function", f"{CODE}:power_of", inputs, args={"exponent": 2.0}, upstream="ones")
    gradients = {c.name: c.analytic for c in result.comparisons}
    assert result.verdict is Verdict.PASS, result.message
    np.testing.assert_allclose(np.asarray(gradients["base"]), [4.0, 6.0])
    np.testing.assert_allclose(np.asarray(gradients["shift"]), [3.0, 3.0])


def test_raw_ops_take_keywords() -> None:
    result = run("op", "tf.raw_ops.Atan2", {"y": [0.5, 1.0], "x": [2.0, -1.0]})
    assert result.verdict is Verdict.PASS, result.message


@pytest.mark.parametrize("text", [f"{CODE}:os.system", f"{CODE}:tf.io.write_file"])
def test_other_modules_are_not_reached_through_an_allowed_one(text: str) -> None:
    result = run("function", text, {"x": [1.0]})
    assert result.verdict is Verdict.ERROR
    assert "is a module, not a function" in result.message


def test_a_package_that_was_not_allowed_is_not_imported() -> None:
    result = run("function", "antigravity:fly", {"x": [1.0]})
    assert result.verdict is Verdict.ERROR
    assert "not among the allowed packages" in result.message


def test_a_function_outside_the_list_is_refused_when_it_runs() -> None:
    result = run("op", "tf.io.write_file", {"x": [1.0]})
    assert result.verdict is Verdict.ERROR
    assert "not on the list of pure TensorFlow functions" in result.message
