"""One picture per module, each from a Comparison; None where it would show nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.model import Verdict
from gradcheck.report.formats.html.pictures.agreement_plot import agreement_plot
from gradcheck.report.formats.html.pictures.error_map import error_map
from gradcheck.report.formats.html.pictures.jacobian_pattern import jacobian_pattern
from gradcheck.report.formats.html.pictures.kink_sides import kink_sides
from gradcheck.report.formats.html.pictures.step_curve import step_curve

if TYPE_CHECKING:
    from gradcheck.model import Comparison
    from gradcheck.report.formats.html.markup import Html

__all__ = ["pictures_of"]

_ALWAYS = (agreement_plot, step_curve, jacobian_pattern)
_IN_DOUBT = (agreement_plot, error_map, kink_sides, step_curve, jacobian_pattern)
"""What is drawn of a gradient that passes, and of any other, in the order of the page."""


def pictures_of(comparison: Comparison) -> list[Html]:
    """What there is to see of one input."""
    kinds = _ALWAYS if comparison.verdict is Verdict.PASS else _IN_DOUBT
    return [drawn for draw in kinds if (drawn := draw(comparison)) is not None]
