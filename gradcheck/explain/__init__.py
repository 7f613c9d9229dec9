"""Where a gradient comes from: derived formulas that are executed as they are printed."""

from gradcheck.explain.calls import make_call
from gradcheck.explain.document import Document
from gradcheck.explain.op_page import explain_op, one_line
from gradcheck.explain.subject import Subject

__all__ = ["Document", "Subject", "explain_op", "make_call", "one_line"]
