"""The fixture, and assertions inside of tests: failures that read like pytest's own."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    import pytest

TESTS = """\
import numpy as np
import pytest
import tensorflow as tf

import gradcheck as gc

X = np.array([1.0, 2.0, 3.0])


@tf.custom_gradient
def cube(x):
    return x**3, lambda upstream: upstream * 2 * x**2


def test_right(gradcheck):
    result = gradcheck(tf.sin, X)
    assert result.verdict == "pass"
    assert gradcheck.results == [result]


@gc.parametrize(dtype=["float32", "float64"], mode=["eager", "xla"])
def test_variants(gradcheck, dtype, mode):
    assert gradcheck(tf.sin, X.astype(dtype), mode=mode).comparisons[0].dtype == dtype


def test_wrong(gradcheck):
    gradcheck(tf.sin, X)
    gradcheck(cube, X)


def test_asserted():
    gc.assert_gradients(cube, X)


def test_looked_at(gradcheck):
    assert gradcheck.check(cube, X).verdict == "mismatch"


def test_misused(gradcheck):
    gradcheck(cube, X, mode="graf")
"""


def test_checks_inside_of_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=TESTS)
    result = pytester.runpytest_subprocess("--junitxml=r.xml", "-o", "junit_family=xunit1")
    result.assert_outcomes(passed=6, failed=3)
    result.stdout.fnmatch_lines(
        [
            "*____ test_wrong ____*",
            "gradcheck = <gradcheck: sin: pass.*",
            ">       gradcheck(cube, X)",
            "E       AssertionError: cube, x[[]3[]]: mismatch",
            "E         x[[]3[]]: mismatch, float64, 3 of 3 elements, max abs error*",
            "E           index  input value*analytic*numeric ± bound*error",
            "E           likely cause: *",
            "E           in your code: test_it.py:12, in cube.<lambda>",
            "test_it.py:28: AssertionError",
            "*____ test_asserted ____*",
            ">       gc.assert_gradients(cube, X)",
            "E       AssertionError: cube, x[[]3[]]: mismatch",
            "test_it.py:32: AssertionError",
            "*____ test_misused ____*",
            '>       gradcheck(cube, X, mode="graf")',
            "E       gradcheck.errors.UsageError: there is no mode 'graf'*did you mean 'graph'*",
            "test_it.py:40: UsageError",
            "FAILED test_it.py::test_wrong - AssertionError: cube, x[[]3[]]: mismatch",
        ]
    )
    # No frame of ours is shown.
    told = result.stdout.str().partition("= FAILURES =")[2]
    assert "assertion.py" not in told
    assert "fixture.py" not in told
    assert "api.py" not in told
    root = ET.parse(pytester.path / "r.xml").getroot()  # noqa: S314 - our own
    noted = {
        str(case.get("name")): [str(p.get("value")) for p in case.iter("property")]
        for case in root.iter("testcase")
    }
    assert noted["test_right"][0].startswith("sin: pass. The gradient of x[3]: max rel error")
    assert noted["test_wrong"][1].startswith("cube: mismatch. x[3]: ")
    assert noted["test_looked_at"][0].startswith("cube: mismatch. x[3]: ")
