"""Index notation and its calculus: terms, derivatives, simplification, values.

Imports trees alone of the rest of explain: nothing here knows how mathematics looks.
"""
