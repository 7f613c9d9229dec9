"""What a page says: of an op, of an expression, of an op without a declaration.

Imports trees, style, document, calculus, formula, typeset and derive.
"""
