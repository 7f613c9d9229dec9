"""Where a gradient comes from: derived formulas that are executed as they are printed.

In the order trees, style, worked_example, document, calculus, formula, typeset, derive, page,
render, proof, verify, tangents, lazy_pictures, traced, compose, explanation each imports from those
before it alone, for types too. loading stands by itself.
"""

from gradcheck.explainer.derive.complete_call import make_call
from gradcheck.explainer.derive.op_subject import Subject
from gradcheck.explainer.document import Document
from gradcheck.explainer.page.op_page import explain_op, one_line

__all__ = ["Document", "Subject", "explain_op", "make_call", "one_line"]
