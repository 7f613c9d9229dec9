"""`result.plot()`, with matplotlib and without."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gradcheck.errors import UsageError
from gradcheck.model import Comparison, Element, Result, Verdict
from gradcheck.report import picture
from gradcheck.report.picture import MOST_DRAWN, MOST_PICTURES, points_of
from tests.report import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model import Array


@pytest.fixture(autouse=True)
def _no_window() -> Iterator[None]:
    import matplotlib as mpl
    from matplotlib import pyplot

    before = mpl.get_backend()
    mpl.use("agg")
    yield
    pyplot.close("all")
    mpl.use(before)


def compared(
    analytic: Array | None, numeric: Array, bound: Array, verdict: Verdict = Verdict.PASS
) -> Comparison:
    return Comparison(
        "x", verdict, numeric.shape, "float64", analytic=analytic, numeric=numeric, bound=bound
    )


SMALL = compared(
    np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.full((2, 2), 1e-12)
)


def drawn(result: Result | Comparison) -> dict[str, Array]:
    """By label, the heights that the first input's two drawings show."""
    figure = result.plot()
    figure.canvas.draw()
    lines = [line for axes in figure.axes[:2] for line in axes.get_lines()]
    found = {str(line.get_label()): np.asarray(line.get_ydata()) for line in lines}
    for container in figure.axes[0].containers:
        found[str(container.get_label())] = np.asarray(container[0].get_ydata())
    return found


def test_the_gradient_is_drawn_against_the_numeric_one_with_its_error() -> None:
    worst = Element((1, 1), 0.5, 5.0, 4.0, 1e-12)
    found = drawn(replace(SMALL, verdict=Verdict.MISMATCH, worst=(worst,)))
    np.testing.assert_array_equal(found["analytic"], [1, 2, 3, 5])
    np.testing.assert_array_equal(found["numeric ± bound"], [1, 2, 3, 4])
    np.testing.assert_array_equal(found["bound"], [1e-12] * 4)
    # (Zero has no place on a logarithmic axis: it is drawn below all else.)
    np.testing.assert_array_equal(found["error"][3], 1.0)
    assert (found["error"][:3] < 1e-12).all()
    np.testing.assert_array_equal(found["worst"], [1.0])


def test_a_row_for_each_input() -> None:
    result = Result("f", Verdict.PASS, (SMALL, replace(SMALL, name="y")))
    figure = result.plot()
    assert len(figure.axes) == 4
    assert [axes.get_title(loc="left") for axes in figure.axes[::2]] == [
        "x[2,2]: pass",
        "y[2,2]: pass",
    ]
    assert figure.get_suptitle() == "f: pass"
    many = Result("f", Verdict.PASS, (SMALL,) * (MOST_PICTURES + 3))
    assert "(and 3 inputs more)" in many.plot().get_suptitle()


def test_names_are_no_mathematics() -> None:
    result = Result(r"$\frac$", Verdict.PASS, (replace(SMALL, name=r"$\nothing$"),))
    figure = result.plot()
    figure.canvas.draw()
    assert figure.get_suptitle() == r"\$\frac\$: pass"


def test_complex_gradients_have_two_parts() -> None:
    values = np.array([1 + 2j, 3 - 1j])
    found = drawn(compared(values, values, np.full(2, 1e-12)))
    np.testing.assert_array_equal(found["analytic, real"], [1, 3])
    np.testing.assert_array_equal(found["analytic, imaginary"], [2, -1])


def test_what_is_no_number_is_marked() -> None:
    found = drawn(compared(np.array([1.0, np.nan]), np.array([1.0, 2.0]), np.full(2, 1e-12)))
    np.testing.assert_array_equal(found["no number"], [2.0])


def test_of_a_sample_what_was_judged() -> None:
    numeric = np.full(10, np.nan)
    numeric[[2, 7]] = 1.0
    points = points_of(compared(np.ones(10), numeric, np.full(10, 1e-12)))
    assert points is not None
    assert points.position.tolist() == [2, 7]
    assert points.where == "the 2 judged of 10"


def test_of_very_many_the_worst() -> None:
    count = 3 * MOST_DRAWN
    analytic = np.zeros(count)
    analytic[[5, count - 1]] = 1.0, np.nan
    points = points_of(compared(analytic, np.zeros(count), np.full(count, 1e-12)))
    assert points is not None
    assert len(points.position) == MOST_DRAWN
    assert {5, count - 1} <= set(points.position.tolist())


@pytest.mark.parametrize("result", [examples.mismatch(), examples.kink(), examples.nonfinite()])
def test_without_arrays_the_worst_elements(result: Result) -> None:
    bare = [replace(c, analytic=None, numeric=None, bound=None) for c in result.comparisons]
    points = points_of(bare[0])
    assert points is not None
    assert points.where.startswith("worst elements: ")
    assert len(points.numeric) == len(bare[0].worst)
    replace(result, comparisons=tuple(bare)).plot()


@pytest.mark.parametrize("result", [examples.error(), examples.disconnected(), examples.crashed()])
def test_nothing_to_draw_is_said(result: Result) -> None:
    with pytest.raises(UsageError, match="nothing to draw, for no element was compared"):
        result.plot()


def test_a_notebook_shows_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib import pyplot

    SMALL.plot()
    assert len(pyplot.get_fignums()) == 1
    monkeypatch.setattr(pyplot, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    SMALL.plot()
    assert len(pyplot.get_fignums()) == 1


def test_without_matplotlib_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from tests.report.test_picture import SMALL\n"
        "from gradcheck import UsageError\n"
        "try:\n    SMALL.plot()\n"
        "except UsageError as error:\n    sys.exit('gradcheck[plot]' not in str(error))\n"
        "sys.exit(2)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_matplotlib_is_loaded_by_nobody_else() -> None:
    code = "import sys, gradcheck.report.display; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert "matplotlib" not in vars(picture)
