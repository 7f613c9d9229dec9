"""From index notation back to closed formulas, and from formulas to TensorFlow code.

Imports trees, named_functions and calculus.
"""
