"""What decides on the cause of a mismatch: what counts as a fit, and how much is tried.

Each number has its reason.
"""

from __future__ import annotations

from typing import Final

from gradcheck.checker import stepping

OTHER_POINTS: Final = 2
OTHER_POINTS_IF_FEW: Final = 5
FEW_ELEMENTS: Final = 4
"""At how many other points a suspect must hold too; at more for an input of fewer elements than
this, as any factor fits one number."""

LONGER_AXES: Final = 8
"""How many axes of one length are made longer, one after the other."""

ELSEWHERE_PAYS: Final = 2**20
"""Numbers of an input times those of the output beyond which one other point has to do."""

OTHER_REACHES: Final = (0.6, 0.2, 0.02)
"""How far other points are, relative to each element; nearer where the function has no value."""

BESIDE: Final = 2.0**-7
"""How far points are that lie beside a kink: as near as they can be without drowning in it."""

TELLING: Final = 6
"""How many different derivatives must fit where no other point could be had."""

# The error as a formula

RESULTS_ON_THE_WAY: Final = 12
"""How many results of a function's own operations are factors: later ones are made of these."""

LONGEST_RESULT: Final = 24
LONGEST_NAMES: Final = 12
"""Characters up to which such a result is written as it is computed, and a function with the names
of its inputs: what a reader takes in at a glance."""

FORMULA_ELEMENTS: Final = 2**12
"""Elements up to which formulas are looked for."""

FORMULA_NUMBERS: Final = 16
FEWEST_NUMBERS: Final = 3
"""How many derivatives a formula is fitted to, and how few will do; all the others must agree."""

POOL: Final = 140
COMPARED: Final = 64
"""How many powers of factors, the shortest, terms are made of: 400,000 products of three; and on
how many values factors are told apart."""

PAIRED_POWERS: Final = 60
PAIRED_FACTORS: Final = 16
PAIRED_TERMS: Final = 600
"""How many terms, the shortest, are tried in sums of two: products of two of so many powers, and
of three of so many factors."""

LARGEST_RATIO: Final = 12
"""Whole numbers up to which a coefficient is made of."""

LENGTHS: Final = {
    "result": 0.6,  # what the function itself computes, and
    "operation": 0.4,  # each operation in it: σ(x) is as good as x
    "function": 1.6,  # of an input, where the function under test does not use it
    "output": 1.5,  # f(x): a reader has to look up what it is
    "beside one": 0.5,  # by how much 1 − a is longer than a,
    "square beside one": 0.9,  # and 1 − a²
    "power": 0.4,  # an exponent, or a stroke that divides: x² is shorter than x·x
    "number": 0.5,  # a whole number in a coefficient
    "digits": 1.5,  # one that needs several digits
    "sum": 0.6,  # a plus
    "one": 1.0,  # that stands by itself in a sum
}
"""How long parts of a formula are to read, in names of an input: of two that fit, the shorter is
told."""

# The user's own code

TRIED_CALLS: Final = 8
"""How many calls of gradient functions are checked by themselves: each costs as much as a check."""

NAMED_PLACES: Final = 3
"""How many gradient functions are named where nobody can tell which is wrong."""

# What fits

JACOBIAN_STEP: Final = stepping.ODD * 2.0**-10
"""Step of a Jacobian that is only compared with suspects, in units of the element: with one
extrapolation that is accurate to far more than `FIT`."""

FIT: Final = 1e-6
"""How well a suspect must explain the numeric derivative, relative to its largest element."""

EXPLAINED: Final = 0.05
"""Share of an error that a suspect may leave, where the error bar does not allow more."""

FORMULA_FITS: Final = 1e-9
"""How far a formula may be from a derivative beyond its error bar, relative to the largest: its own
rounding, and that of the gradient."""

SHOWS_FORMULA: Final = 1e-5
"""Error bars up to which, relative to what is to be explained, an element tells formulas apart."""

# Planted faults

LAST_PLACES: Final = 4.0
"""How many units in the last place make no difference to a gradient in which a fault is planted."""

CONSTANT_ADDED: Final = 1e-6
"""The constant that is added to a gradient, relative to its largest element."""
