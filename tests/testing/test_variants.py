"""`@gradcheck.parametrize`."""

from __future__ import annotations

from typing import Any

import pytest

import gradcheck


def test_a_test_for_each_combination(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import gradcheck, pytest

        @gradcheck.parametrize(dtype=["float64", "bfloat16"], mode=["eager", "xla"], seed=[0, 7])
        def test_all(dtype, mode, seed): pass

        @gradcheck.parametrize(mode=("graph", "xla"), dtype="float32")
        def test_one_dtype(dtype, mode):
            assert dtype == "float32"

        @gradcheck.parametrize(dtype="float32")
        def test_alone(dtype): pass

        @gradcheck.parametrize(checks=["reverse", "second"])
        @pytest.mark.parametrize("size", [1, 2])
        class TestClass:
            def test_in_it(self, checks, size): pass
        """
    )
    result = pytester.runpytest_inprocess("--collect-only", "-q", "--strict-markers", "-W", "error")
    found = [line.partition("::")[2] for line in result.outlines if "::" in line]
    assert [name for name in found if name.startswith("test_all")] == [
        f"test_all[{dtype},{mode},seed={seed}]"
        for dtype in ("float64", "bfloat16")
        for mode in ("eager", "xla")
        for seed in (0, 7)
    ]
    assert [name for name in found if "all" not in name] == [
        "test_one_dtype[graph]",
        "test_one_dtype[xla]",
        "test_alone[float32]",
        "TestClass::test_in_it[1-reverse]",
        "TestClass::test_in_it[1-second]",
        "TestClass::test_in_it[2-reverse]",
        "TestClass::test_in_it[2-second]",
    ]
    pytester.runpytest_inprocess().assert_outcomes(passed=15)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "needs one of dtype, mode, checks and seed"),
        ({"dtype": ["float63"]}, "dtype is 'float63'; there are .* did you mean 'float64'"),
        # (There is no gradient with respect to whole numbers.)
        ({"dtype": "int32"}, "dtype is 'int32'; there are float64, .*, complex64$"),
        ({"mode": "graf"}, "mode is 'graf'; there are eager, graph, xla; did you mean 'graph'"),
        ({"checks": ["backward"]}, "checks is 'backward'; there are reverse, forward, second"),
    ],
)
def test_what_there_is_not(given: dict[str, Any], said: str) -> None:
    with pytest.raises(gradcheck.UsageError, match=said):
        gradcheck.parametrize(**given)
