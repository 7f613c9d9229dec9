"""Where a gradient comes from: derived formulas that are executed as they are printed.

In the order trees, style, document, calculus, formula, typeset, derive, page, render, proof, verify
each imports from those before it alone, for types too. loading stands by itself.
"""

from gradcheck.explain.derive.complete_call import make_call
from gradcheck.explain.derive.op_subject import Subject
from gradcheck.explain.document import Document
from gradcheck.explain.page.op_page import explain_op, one_line

__all__ = ["Document", "Subject", "explain_op", "make_call", "one_line"]
