"""Formulas as people write them, in matrices or in indices.

Imports trees, style and calculus; formula lies below it too, and is not needed.
"""
