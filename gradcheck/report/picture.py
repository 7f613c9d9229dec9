"""`result.plot()`: the gradient against the numeric one, element by element, and the errors.

Draws what the result holds: the arrays, or the worst elements where those were too large to keep.
matplotlib is loaded here alone, and only when somebody asks for a picture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.errors import UsageError
from gradcheck.model import Comparison
from gradcheck.report import numbers
from gradcheck.report.details import input_label
from gradcheck.report.safe_text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from gradcheck.model import Array, Result

MOST_DRAWN = 2_000
"""Elements in a picture, those with the largest errors: more are a solid bar, and take seconds."""
MOST_PICTURES = 12
"""Inputs in a picture: a model may have hundreds of weights."""

_ROW, _WIDTH = 2.6, 10.0
"""Inches for each input, and for the whole."""
_ANALYTIC, _NUMERIC, _WRONG = "#d55e00", "#0072b2", "#cc0000"
"""Colours that people tell apart who see few of them, on white and on black."""


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The elements of one input that are drawn."""

    position: Array
    """Where each stands along the axis."""
    analytic: Array
    numeric: Array
    bound: Array
    wrong: Array
    """Whether each is one of the worst, where the gradient is not as it should be."""
    where: str
    """What the positions are."""

    @property
    def errors(self) -> Array:
        """How far the gradient is from the numeric one."""
        with np.errstate(invalid="ignore"):
            distances: Array = np.abs(self.analytic - self.numeric)
        return distances

    def only(self, kept: Array, where: str) -> Points:
        """Some of them, by their places in the arrays."""
        arrays = ("position", "analytic", "numeric", "bound", "wrong")
        parts: dict[str, Any] = {name: getattr(self, name)[kept] for name in arrays}
        return replace(self, where=where, **parts)


def plot(shown: Result | Comparison) -> Figure:
    """A figure with a row for each input: the gradients on the left, their errors on the right."""
    comparisons = [shown] if isinstance(shown, Comparison) else list(shown.comparisons)
    drawn = [(c, points) for c in comparisons if (points := points_of(c)) is not None]
    if not drawn:
        raise UsageError(f"there is nothing to draw, for no element was compared: {shown!r}")
    drawn, left_out = drawn[:MOST_PICTURES], len(drawn[MOST_PICTURES:])
    pyplot = _pyplot()
    size = (_WIDTH, _ROW * len(drawn) + 0.4)
    figure, axes = pyplot.subplots(len(drawn), 2, figsize=size, squeeze=False, layout="constrained")
    for (comparison, points), (left, right) in zip(drawn, axes, strict=True):
        _draw_gradients(left, points)
        _draw_errors(right, points)
        left.set_title(_plain(f"{input_label(comparison)}: {comparison.verdict}"), loc="left")
    if not isinstance(shown, Comparison):
        more = f" (and {numbers.count(left_out, 'input')} more)" if left_out else ""
        figure.suptitle(_plain(f"{one_line(shown.id)}: {shown.verdict}{more}"))
    if "inline" in pyplot.get_backend():
        # A notebook shows what a cell returns, and would show every open figure besides.
        pyplot.close(figure)
    drawing: Figure = figure
    return drawing


def points_of(comparison: Comparison) -> Points | None:
    """What there is to draw of an input; None where nothing of it was compared."""
    analytic, numeric, bound = comparison.analytic, comparison.numeric, comparison.bound
    if analytic is None or numeric is None or bound is None or analytic.shape != numeric.shape:
        return _worst(comparison)
    count = numeric.size
    every = Points(
        np.arange(count), analytic.ravel(), numeric.ravel(), bound.ravel(),
        _wrong(comparison, count), "element, by its flat index",
    )  # fmt: skip
    # Of a large input a sample is judged, and the rest is NaN.
    judged = np.flatnonzero(~np.isnan(every.numeric))
    if not judged.size:
        return _worst(comparison)
    where = every.where if judged.size == count else f"the {judged.size:,} judged of {count:,}"
    points = every.only(judged, where)
    if judged.size <= MOST_DRAWN:
        return points
    # (What is no number is the worst of all.)
    order = np.argsort(-np.nan_to_num(points.errors, nan=np.inf), kind="stable")[:MOST_DRAWN]
    where = f"the {MOST_DRAWN:,} with the largest errors of {count:,}"
    return points.only(np.sort(order), where)


def _wrong(comparison: Comparison, count: int) -> Array:
    found = np.zeros(count, dtype=bool)
    if not comparison.verdict.acceptable:
        for element in comparison.worst:
            if len(element.index) == len(comparison.shape):
                found[np.ravel_multi_index(element.index, comparison.shape)] = True
    return found


def _worst(comparison: Comparison) -> Points | None:
    elements = comparison.worst
    if not elements:
        return None
    return Points(
        np.arange(len(elements)),
        np.array([e.analytic for e in elements]),
        np.array([e.numeric for e in elements]),
        np.array([e.bound for e in elements]),
        np.full(len(elements), not comparison.verdict.acceptable),
        "worst elements: " + ", ".join(numbers.index(e.index) for e in elements),
    )


def _draw_gradients(axes: Axes, points: Points) -> None:
    position = points.position
    for name, part, marker in _parts(points):
        numeric, analytic = part(points.numeric), part(points.analytic)
        axes.errorbar(
            position, numeric, yerr=points.bound, fmt=marker, ms=6, mfc="none", capsize=3,
            color=_NUMERIC, label=f"numeric ± bound{name}",
        )  # fmt: skip
        axes.plot(position, analytic, "x", ms=5, color=_ANALYTIC, label=f"analytic{name}")
        broken = np.flatnonzero(~np.isfinite(analytic) & np.isfinite(numeric))
        if broken.size:
            axes.plot(
                position[broken], numeric[broken], "|", ms=14, color=_WRONG, label="no number"
            )
    _label(axes, points)


def _parts(points: Points) -> Sequence[tuple[str, Any, str]]:
    """What is drawn of each number, and by which sign."""
    if np.iscomplexobj(points.numeric) or np.iscomplexobj(points.analytic):
        return ((", real", np.real, "o"), (", imaginary", np.imag, "s"))
    return (("", np.asarray, "o"),)


def _draw_errors(axes: Axes, points: Points) -> None:
    """Errors over the bound that they are held against; on a logarithmic axis zero is its foot."""
    position, errors = points.position, points.errors
    both = np.concatenate([errors, points.bound])
    positive = both[np.isfinite(both) & (both > 0)]
    foot = float(positive.min()) / 3 if positive.size else 1e-17
    axes.plot(position, np.maximum(points.bound, foot), "_", color=_NUMERIC, label="bound")
    axes.plot(position, np.maximum(errors, foot), ".", color=_ANALYTIC, label="error")
    worst = points.wrong
    if worst.any():
        axes.plot(
            position[worst], np.maximum(errors[worst], foot), "o", ms=9, mfc="none",
            color=_WRONG, label="worst",
        )  # fmt: skip
    axes.set_yscale("log")
    axes.set_title("|analytic − numeric|", loc="left")
    _label(axes, points)


def _label(axes: Axes, points: Points) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_xlabel(points.where)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(fontsize="small")


def _plain(text: str) -> str:
    """The text as it is: between dollars matplotlib would look for mathematics."""
    return text.replace("$", r"\$")


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise UsageError(
            "plot() draws with matplotlib, which is not installed here: "
            "pip install 'gradcheck[plot]', or pip install matplotlib"
        ) from error
    return pyplot
