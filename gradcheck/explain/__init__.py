"""Where a gradient comes from: derived formulas that are executed as they are printed."""

from gradcheck.explain.op_page import explain_op, one_line
from gradcheck.explain.render_text import render_text
from gradcheck.explain.subject import Subject, make_call

__all__ = ["Subject", "explain_op", "make_call", "one_line", "render_text"]
