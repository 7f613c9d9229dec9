"""Functions that write the declarations of ops which are all alike.

May import `declaration` and `rules` of `gradcheck.ops`; the families call them.
"""
