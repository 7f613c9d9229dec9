"""How the values of inputs are drawn, by the name of a sample.

May import `gradcheck.model` and `gradcheck.ops.declaration`, which says what a domain is.
"""
