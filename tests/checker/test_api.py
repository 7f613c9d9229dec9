"""The library's way in: what it takes, what it refuses, and what it says."""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradcheck
from gradcheck import Tolerance, UsageError
from gradcheck.checker.api import describe
from tests.checker.planted import planted

if TYPE_CHECKING:
    from gradcheck.model import Array

X = np.array([1.0, 2.0, 3.0])


def verdicts(result: gradcheck.Result) -> dict[str, str]:
    return {c.name: str(c.verdict) for c in result.comparisons}


def whole(comparison: gradcheck.Comparison) -> Array:
    """The analytic gradient, which small inputs carry."""
    assert comparison.analytic is not None
    return comparison.analytic


class TestInputs:
    @pytest.mark.parametrize(
        ("given", "dtype"),
        [
            (2.0, "float64"),
            (1 + 2j, "complex128"),
            ([1.0, 2.0], "float64"),
            (np.float32(2), "float32"),
            (np.array([1, 2], np.float16), "float16"),
            (np.array([1 + 1j], np.complex64), "complex64"),
        ],
    )
    def test_numbers_and_arrays(self, given: Any, dtype: str) -> None:
        result = gradcheck.check(lambda x: x * x, given)
        assert result.verdict == "pass", describe(result)
        assert result.comparisons[0].dtype == dtype
        assert result.comparisons[0].shape == np.shape(given)

    @pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64", "complex128"])
    def test_tensors(self, tf: Any, dtype: str) -> None:
        result = gradcheck.check(tf.square, tf.cast(tf.constant(X), dtype))
        assert result.verdict == "pass", describe(result)
        assert result.comparisons[0].dtype == dtype

    def test_variables(self, tf: Any) -> None:
        result = gradcheck.check(lambda v, x: v * x, tf.Variable(X), X)
        assert verdicts(result) == {"v": "pass", "x": "pass"}

    def test_methods_of_variables(self, tf: Any) -> None:
        result = gradcheck.check(lambda v: v.read_value() ** 2, tf.Variable(X))
        assert result.verdict == "pass", describe(result)

    def test_slices_that_stand_for_a_gradient(self, tf: Any) -> None:
        table = tf.Variable(np.random.default_rng(0).standard_normal((4, 3)))
        result = gradcheck.check(lambda v: tf.gather(v, [0, 2, 2]), table)
        assert result.verdict == "pass", describe(result)
        assert result.comparisons[0].analytic is not None
        assert result.comparisons[0].analytic.shape == (4, 3)

    def test_mixed_precision(self, tf: Any) -> None:
        result = gradcheck.check(
            lambda a, b: tf.cast(a, tf.float64) * b, X.astype(np.float32), X + 1
        )
        assert verdicts(result) == {"a": "pass", "b": "pass"}

    def test_integers_and_booleans_beside_floats(self, tf: Any) -> None:
        result = gradcheck.check(
            lambda x, i, m: tf.where(m, tf.gather(x, i), 0.0),
            X,
            np.array([0, 2, 2]),
            np.array([True, False, True]),
        )
        assert verdicts(result) == {"x": "pass"}

    def test_an_empty_input(self) -> None:
        result = gradcheck.check(lambda a: a * 2, np.zeros((0, 3)))
        assert result.verdict == "pass"
        assert "no elements" in result.comparisons[0].note

    def test_an_empty_input_beside_another(self, tf: Any) -> None:
        result = gradcheck.check(lambda a, b: tf.concat([a, b * b], 0), np.zeros(0), X)
        assert verdicts(result) == {"a": "pass", "b": "pass"}

    def test_no_floating_point_input(self) -> None:
        result = gradcheck.check(lambda a: a * 2, np.array([1, 2]))
        assert result.verdict == "error"
        assert "nothing to differentiate" in result.message

    @pytest.mark.parametrize("given", [[[1.0], [2.0, 3.0]], np.longdouble(1)])
    def test_what_is_no_tensor(self, given: Any) -> None:
        with pytest.raises(UsageError, match="input 'x' is no tensor"):
            gradcheck.check(lambda x: x, given)

    @pytest.mark.parametrize("given", [None, object()])
    def test_what_is_no_tensor_at_all(self, given: Any) -> None:
        with pytest.raises(UsageError, match="input 'x'"):
            gradcheck.check(lambda x: x, given)

    def test_inputs_are_left_as_they_are(self) -> None:
        x = X.copy()
        gradcheck.check(lambda a: a * a, x)
        np.testing.assert_array_equal(x, X)


class TestFunctions:
    def test_any_number_of_arguments(self) -> None:
        result = gradcheck.check(lambda *xs: xs[0] * xs[1] * xs[2], X, X, X)
        assert verdicts(result) == {"input0": "pass", "input1": "pass", "input2": "pass"}

    def test_a_name_and_any_number_of_arguments(self) -> None:
        result = gradcheck.check(lambda first, *rest: first * rest[0], X, X)
        assert list(verdicts(result)) == ["first", "input1"]

    def test_partial_functions(self, tf: Any) -> None:
        result = gradcheck.check(functools.partial(tf.multiply, y=2.0), X)
        assert verdicts(result) == {"x": "pass"}

    def test_objects_that_can_be_called(self) -> None:
        class Square:
            def __call__(self, a: Any) -> Any:
                return a * a

        result = gradcheck.check(Square(), X)
        assert result.verdict == "pass"
        assert result.id == "Square"

    def test_traced_functions(self, tf: Any) -> None:
        @tf.function(reduce_retracing=True)  # type: ignore[untyped-decorator]  # no types in TF
        def function(a: Any, b: Any) -> Any:
            return tf.sin(a) * b

        assert verdicts(gradcheck.check(function, X, X)) == {"a": "pass", "b": "pass"}

    def test_keras_layers(self, tf: Any) -> None:
        layer = tf.keras.layers.Dense(2, activation="tanh", dtype="float64")
        rows = np.random.default_rng(0).standard_normal((4, 3))
        assert gradcheck.check(layer, rows).verdict == "pass"

    def test_keras_layers_in_single_precision(self, tf: Any) -> None:
        layer = tf.keras.layers.Dense(2, activation="tanh")
        rows = np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32)
        assert gradcheck.check(layer, rows).verdict == "pass"

    def test_variables_that_are_closed_over(self, tf: Any) -> None:
        weight = tf.Variable(2.0, dtype=tf.float64)
        result = gradcheck.check(lambda x: weight * x * x, X)
        assert verdicts(result) == {"x": "pass", "weight": "pass"}

    def test_several_outputs_of_any_structure(self, tf: Any) -> None:
        def function(a: Any) -> Any:
            return {
                "tuple": (a * a, [tf.sin(a)]),
                "complex": tf.complex(a, a),
                "whole": tf.cast(a, tf.int32),
                "none": None,
                "text": "text",
            }

        result = gradcheck.check(function, X)
        assert result.verdict == "pass", describe(result)

    def test_an_error_in_the_second_output_alone(self) -> None:
        double = planted(lambda a: 2 * a, lambda gs: [gs[0] * 1.001])
        result = gradcheck.check(lambda a: (a * a, {"b": double(a)}), X)
        assert result.verdict == "mismatch"

    def test_sparse_outputs(self, tf: Any) -> None:
        result = gradcheck.check(lambda a: tf.SparseTensor([[0], [1], [2]], a * a, [3]), X)
        assert result.verdict == "pass", describe(result)

    def test_ragged_outputs(self, tf: Any) -> None:
        result = gradcheck.check(lambda a: tf.RaggedTensor.from_row_lengths(a * a, [1, 2]), X)
        assert result.verdict == "pass", describe(result)

    def test_an_output_that_changes_its_shape(self, tf: Any) -> None:
        result = gradcheck.check(lambda a: tf.boolean_mask(a, a >= 2.0), X)
        assert result.verdict in ("inconclusive", "error")
        assert "please report" not in result.message

    def test_what_cannot_be_called(self) -> None:
        with pytest.raises(UsageError):
            gradcheck.check(3, X)  # type: ignore[arg-type]


class TestWrt:
    @pytest.mark.parametrize(
        ("wrt", "names"),
        [
            (0, ["x"]),
            (-1, ["y"]),
            ("y", ["y"]),
            (["y", 0], ["x", "y"]),
            ({"x"}, ["x"]),
            (None, ["x", "y"]),
        ],
    )
    def test_positions_and_names(self, tf: Any, wrt: Any, names: list[str]) -> None:
        assert list(verdicts(gradcheck.check(tf.multiply, X, X, wrt=wrt))) == names

    def test_an_error_elsewhere_does_not_count(self) -> None:
        function = planted(lambda a, b: a * b, lambda gs: [gs[0], -gs[1]])
        assert gradcheck.check(function, X, X + 1, wrt=0).verdict == "pass"
        assert gradcheck.check(function, X, X + 1, wrt=1).verdict == "mismatch"

    @pytest.mark.parametrize(
        ("wrt", "text"),
        [
            ([], "wrt is empty"),
            (7, "wrt names input 7, but there are 2"),
            (-3, "wrt names input -3"),
            ("z", "wrt names 'z', but there are x, y"),
        ],
    )
    def test_what_is_not_there(self, tf: Any, wrt: Any, text: str) -> None:
        with pytest.raises(UsageError, match=text):
            gradcheck.check(tf.multiply, X, X, wrt=wrt)

    def test_an_integer(self, tf: Any) -> None:
        with pytest.raises(UsageError, match="'indices' is int64: it has no gradient"):
            gradcheck.check(tf.gather, X, np.array([0]), wrt="indices")

    @pytest.mark.parametrize("wrt", [1.5, [None]])
    def test_what_is_no_position(self, tf: Any, wrt: Any) -> None:
        with pytest.raises(UsageError):
            gradcheck.check(tf.multiply, X, X, wrt=wrt)


class TestUpstream:
    def test_ones(self, tf: Any) -> None:
        comparison = gradcheck.check(tf.square, X, upstream="ones").comparisons[0]
        np.testing.assert_allclose(whole(comparison), 2 * X)

    @pytest.mark.parametrize("kind", ["array", "list", "tensor"])
    def test_one(self, tf: Any, kind: str) -> None:
        given = {"array": X, "list": [1.0, 2.0, 3.0], "tensor": tf.constant(X)}[kind]
        comparison = gradcheck.check(tf.square, X, upstream=given).comparisons[0]
        assert comparison.verdict == "pass"
        np.testing.assert_allclose(whole(comparison), 2 * X * X)

    def test_several(self) -> None:
        result = gradcheck.check(lambda a: (a, a * a), X, upstream=[X, np.ones(3)])
        assert result.verdict == "pass"
        np.testing.assert_allclose(whole(result.comparisons[0]), X + 2 * X)

    def test_a_real_one_for_a_complex_output(self, tf: Any) -> None:
        assert gradcheck.check(tf.sin, X + 1j, upstream=X).verdict == "pass"

    def test_the_random_one_is_seeded_and_signed(self, tf: Any) -> None:
        first, again, other = (
            whole(gradcheck.check(tf.identity, np.ones(100), seed=seed).comparisons[0])
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(first, again)
        assert (first != other).any()
        assert (first > 0).any()
        assert (first < 0).any()
        assert np.abs(first).min() >= 0.5

    def test_a_word(self, tf: Any) -> None:
        with pytest.raises(UsageError, match="'onse': it is 'random', 'ones' or values"):
            gradcheck.check(tf.sin, X, upstream="onse")

    @pytest.mark.parametrize("given", [np.ones(2), [X, X]])
    def test_another_shape_or_number(self, tf: Any, given: Any) -> None:
        try:
            text = gradcheck.check(tf.sin, X, upstream=given).message
        except UsageError as error:
            text = str(error)
        assert "`upstream` has" in text

    @pytest.mark.parametrize("given", [np.zeros(3), np.full(3, np.nan), np.array(["a"] * 3)])
    def test_one_that_judges_nothing(self, tf: Any, given: Any) -> None:
        function = planted(tf.sin, lambda gs: [-gs[0]])
        try:
            result = gradcheck.check(function, X, upstream=given)
        except UsageError:
            return
        assert result.verdict in ("inconclusive", "error")
        assert "please report" not in result.message


class TestTolerance:
    @pytest.mark.parametrize("given", [(1e-2, 0.0), Tolerance(rtol=1e-2), (0.0, 1e-2)])
    def test_it_replaces_the_error_bars(self, tf: Any, given: Any) -> None:
        near = planted(tf.square, lambda gs: [gs[0] * 1.001])
        far = planted(tf.square, lambda gs: [gs[0] * 1.1])
        assert gradcheck.check(near, X).verdict == "mismatch"
        assert gradcheck.check(near, X, tolerance=given).verdict == "pass"
        assert gradcheck.check(far, X, tolerance=given).verdict == "mismatch"

    @pytest.mark.parametrize("given", [(1.0, 0.0), (-1.0, 0.0), (0.1, -1.0), (float("nan"), 0.0)])
    def test_it_must_be_able_to_fail(self, tf: Any, given: Any) -> None:
        with pytest.raises(UsageError, match="cannot fail"):
            gradcheck.check(tf.sin, X, tolerance=given)

    def test_it_must_be_able_to_pass(self, tf: Any) -> None:
        with pytest.raises(UsageError, match="cannot pass"):
            gradcheck.check(tf.sin, X, tolerance=(0.0, 0.0))

    @pytest.mark.parametrize("atol", [100.0, np.inf])
    def test_above_the_largest_derivative(self, tf: Any, atol: float) -> None:
        try:
            text = gradcheck.check(tf.sin, X, tolerance=(0.0, atol)).message
        except UsageError as error:
            text = str(error)
        assert "cannot fail" in text

    def test_no_number(self, tf: Any) -> None:
        with pytest.raises(UsageError):
            gradcheck.check(tf.sin, X, tolerance=(0.0, float("nan")))

    @pytest.mark.parametrize("given", [1e-3, (0.1, 0.2, 0.3), "a"])
    def test_no_pair(self, tf: Any, given: Any) -> None:
        with pytest.raises(UsageError):
            gradcheck.check(tf.sin, X, tolerance=given)


class TestModesAndChecks:
    @pytest.mark.parametrize("mode", ["eager", "graph", "xla"])
    def test_modes(self, tf: Any, mode: str) -> None:
        assert gradcheck.check(tf.sin, X, mode=mode).verdict == "pass"
        wrong = planted(tf.sin, lambda gs: [gs[0] * 1.001])
        assert gradcheck.check(wrong, X, mode=mode).verdict == "mismatch"

    def test_every_check(self, tf: Any) -> None:
        result = gradcheck.check(tf.sin, X, checks=["reverse", "forward", "second"])
        assert [str(c.check) for c in result.comparisons] == ["reverse", "forward", "second"]
        assert result.verdict == "pass"

    @pytest.mark.parametrize("options", [{"mode": "grph"}, {"checks": ["forwrad"]}])
    def test_what_there_is_not(self, tf: Any, options: dict[str, Any]) -> None:
        with pytest.raises(UsageError, match="there is no"):
            gradcheck.check(tf.sin, X, **options)

    def test_nothing_to_check(self, tf: Any) -> None:
        with pytest.raises(UsageError):
            gradcheck.check(tf.sin, X, checks=[])

    @pytest.mark.parametrize("seed", [-1, "a"])
    def test_no_seed(self, tf: Any, seed: Any) -> None:
        with pytest.raises(UsageError):
            gradcheck.check(tf.sin, X, seed=seed)


def test_verdicts_are_strings(tf: Any) -> None:
    assert str(gradcheck.check(tf.sin, X).verdict) == "pass"


def test_importing_does_not_import_tensorflow() -> None:
    code = (
        "import sys, gradcheck; assert gradcheck.check and gradcheck.Verdict and gradcheck.Result; "
        "sys.exit('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_name_that_there_is_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        _ = gradcheck.chekc


def test_an_argument_of_ours_that_is_mistyped_is_no_input(tf: Any) -> None:
    def plain(x: Any, mod: Any = None) -> Any:
        return tf.tanh(x)

    told = "tolerence is no argument of check, and no input of plain"
    with pytest.raises(gradcheck.UsageError, match="did you mean 'mode'"):
        gradcheck.check(lambda x: 2 * x, np.ones(2), mod="graph")
    with pytest.raises(gradcheck.UsageError, match=told):
        gradcheck.check(plain, np.ones(2), tolerence=1e-3)
    assert gradcheck.check(plain, np.ones(2), mod=np.ones(2)).verdict != "error", "it is an input"
