"""Where a gradient comes from: derived formulas that are executed as they are printed."""

from gradcheck.explain.derive.complete_call import make_call
from gradcheck.explain.derive.op_subject import Subject
from gradcheck.explain.document import Document
from gradcheck.explain.page.op_page import explain_op, one_line

__all__ = ["Document", "Subject", "explain_op", "make_call", "one_line"]
