"""Derivations: of one op in one call, and along a chain of calls.

Imports trees, style, calculus, formula and typeset; what a page says of a derivation lies above.
"""
