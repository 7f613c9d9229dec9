"""The small numpy language in which formulas are written, executed and shown.

May import `gradcheck.model` alone: what an op is, the language does not know.
"""
