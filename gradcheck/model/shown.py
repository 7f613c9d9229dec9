"""How results show themselves: printed, in a notebook, as a picture.

Nothing here knows how: that is the report's part, which the model must not import. The module is
found by its name when somebody looks, so that a result can be made, sent and read without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DISPLAY, PICTURE = "gradcheck.report.display", "gradcheck.report.picture"
"""Who shows a result: each has a function for each way, which takes any noun that is Shown."""


class Shown:
    """What is worth looking at: `print` gives what the command prints, a notebook a small table."""

    __slots__ = ()

    def __str__(self) -> str:
        return str(import_module(DISPLAY).text(self))

    def __repr__(self) -> str:
        return str(import_module(DISPLAY).sentence(self))

    def _repr_html_(self) -> str:
        return str(import_module(DISPLAY).html(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """All that a front end may choose from."""
        del include, exclude  # the front end picks by itself
        return {"text/plain": str(self), "text/html": self._repr_html_()}

    def plot(self) -> Figure:
        """Draw the gradient against the numeric one, element by element, and the errors below.

        Needs matplotlib: `pip install 'gradcheck[plot]'`. Where the arrays were too large to be
        kept, what is drawn are the worst elements.
        """
        figure: Figure = import_module(PICTURE).plot(self)
        return figure
