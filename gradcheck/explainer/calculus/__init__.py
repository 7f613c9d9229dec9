"""Index notation and its calculus: terms, derivatives, simplification, values.

Imports trees, time_limit and named_functions: nothing here knows how mathematics looks.
"""
