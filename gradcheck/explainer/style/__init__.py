"""Two ways to set mathematics: Unicode for the terminal, LaTeX for print.

A style knows how a sum, a power or a transpose looks, and nothing of what they mean. Every method
takes texts that are set already and returns one. Nothing of the explainer is imported here.
"""

from typing import TypeAlias

from gradcheck.explainer.style.latex_style import LATEX, Latex
from gradcheck.explainer.style.unicode_style import UNICODE, Unicode

__all__ = ["LATEX", "UNICODE", "Latex", "Style", "Unicode"]

Style: TypeAlias = Unicode | Latex
