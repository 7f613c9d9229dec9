"""Derivations: of one op, and along a chain of calls."""
