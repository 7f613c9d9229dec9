"""Index notation and its calculus: terms, derivatives, simplification, values.

Imports trees alone of the rest of the explainer: nothing here knows how mathematics looks.
"""
