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


@pytest.mark.parametrize(("name", "by_position"), [("x", False), ("anything", True)])
def test_a_wrong_custom_gradient_is_found_whatever_its_input_is_called(
    name: str, by_position: bool
) -> None:
    # Called by keyword, tf.custom_gradient would hand out the gradient of the ops inside.
    values = {name: [0.5, -1.0, 2.0]}
    wrong = run("function", f"{CODE}:wrong_swish", values, by_position=by_position)
    assert wrong.verdict is Verdict.MISMATCH
    right = run("function", f"{CODE}:right_swish", values, by_position=by_position)
    assert right.verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("inputs", "rest", "words"),
    [
        ({"y": [1.0], "a": [2.0]}, {}, ["has no input `a`", "it takes: x, y"]),
        ({"y": [1.0]}, {}, ["needs `x`", "it takes: x, y"]),
        ({"x": [1.0], "y": [1.0]}, {"args": {"yy": 1}}, ["has no arg `yy`", "did you mean `y`?"]),
        ({"x": [1.0]}, {"by_position": True}, ["needs `y`"]),
        ({"a": [1.0], "b": [1.0], "c": [1.0]}, {"by_position": True}, ["takes 2 by position"]),
        ({"a": [1.0]}, {"by_position": True, "args": {"x": 1}}, ["gets `x` twice"]),
    ],
)
def test_names_that_a_function_has_not(
    inputs: dict[str, Any], rest: dict[str, Any], words: list[str]
) -> None:
    result = run("function", f"{CODE}:subtract", inputs, **rest)
    assert result.verdict is Verdict.ERROR
    assert result.message.startswith("specs/s.yaml:3:5: ")
    for word in words:
        assert word in result.message


def test_a_wrong_name_is_blamed_at_its_place() -> None:
    here = Location("specs/s.yaml", 7, 9)
    inputs = tuple(Input(n, (), here, values=np.array(1.0)) for n in ("x", "why"))
    target = Target(TargetKind.FUNCTION, f"{CODE}:subtract", HERE)
    case = Case("s::c", "s", "c", HERE, target, inputs)
    result = check_case(case, allow=["tests.checker"], root=ROOT)
    assert result.message.startswith("specs/s.yaml:7:9: ")


@pytest.mark.parametrize("name", ["positional", "any_number"])
def test_inputs_by_position(name: str) -> None:
    inputs = {"a": [2.0, 3.0], "b": [1.0, 2.0]}
    result = run("function", f"{CODE}:{name}", inputs, by_position=True, upstream="ones")
    assert result.verdict is Verdict.PASS, result.message
    np.testing.assert_allclose(np.asarray(result.comparisons[1].analytic), [-1.0, -1.0])
    named = run("function", f"{CODE}:{name}", inputs)
    assert named.verdict is Verdict.ERROR
    assert "as a list" in named.message


def test_a_builtin_takes_a_list() -> None:
    result = run("function", f"{CODE}:no_signature", {"a": [2.0]})
    assert "write `inputs` as a list" in result.message
    result = run("function", f"{CODE}:no_signature", {"a": [2.0]}, by_position=True)
    assert "by position" not in result.message


def test_a_class_is_no_function() -> None:
    result = run("function", f"{CODE}:Scale", {"x": [2.0]}, args={"factor": 4})
    assert result.verdict is Verdict.ERROR
    assert f"write `layer: {CODE}:Scale` and `init: {{factor: 4}}`" in result.message


def test_arguments_beyond_the_declaration() -> None:
    values = {"input": np.ones([1, 4, 4, 1]), "filters": np.ones([2, 2, 1, 1])}
    args = {"strides": 1, "padding": "VALID", "name": "mine"}
    result = run("op", "tf.nn.conv2d", values, args=args)
    assert result.verdict is Verdict.PASS, result.message
    assert result.comparisons[0].formula is None
    plain = run("op", "tf.nn.conv2d", values, args={"strides": 1, "padding": "VALID"})
    assert plain.comparisons[0].formula is not None


def test_the_outputs_of_a_case() -> None:
    both = run("op", "tf.linalg.qr", {"input": [[2.0, 1.0], [0.5, 3.0]]})
    one = run("op", "tf.linalg.qr", {"input": [[2.0, 1.0], [0.5, 3.0]]}, outputs=("r",))
    assert both.verdict is one.verdict is Verdict.PASS, one.message
    assert not np.allclose(
        np.asarray(both.comparisons[0].analytic), np.asarray(one.comparisons[0].analytic)
    )
    none = run("op", "tf.linalg.qr", {"input": [[2.0, 1.0], [0.5, 3.0]]}, outputs=("s",))
    assert none.verdict is Verdict.ERROR
    assert "`outputs` names `s`, and there are 2: q, r" in none.message


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


def test_a_function_outside_the_list_is_refused_when_it_runs() -> None:
    result = run("op", "tf.io.write_file", {"x": [1.0]})
    assert result.verdict is Verdict.ERROR
    assert "not on the list of pure functions of TensorFlow and Keras" in result.message
