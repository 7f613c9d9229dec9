"""Every tolerance of the checker, by meaning: how far numbers may be apart, and why so far.

A tolerance decides what a verdict says. Each has a sentence that derives it or says what it was
measured on; `limits.py` has what only decides how much is done. Imports nothing.
"""

from __future__ import annotations

from typing import Final

# Round-off of double precision

UNIT_ROUNDOFF: Final = 2.0**-53
"""What rounding to the nearest number in double precision changes at most, relative to it."""

LAST_DIGIT: Final = 2.0**-52
"""Relative change by which a number in double precision is not quite the same, and the noise of a
function that computes in it and loses nothing: outputs are right to their last digit."""

LAST_DIGITS: Final = 2.0**-50
"""Four units in the last place: a change of an input that its function must notice, and what a
function rounds off whose parts are of the size of one, or of its outputs."""

HIDES: Final = 8.0
"""How many times the noise that a function shows its results must round off for it to hide some:
what few ops round off each, by one unit in the last place, adds up to less."""

ROUGH: Final = 2.0**-40
"""Relative noise of a function that does not compute in double precision throughout: 4,096 units in
the last place, more than sums of a thousand terms lose, and far less than float32's 2⁻²⁴."""

COARSE: Final = 2.0**-16
"""Relative noise of a function of fewer digits than float32 has: short steps show little else."""

NEGLIGIBLE: Final = 2.0**-40
"""Noise, and outputs, below this share of the largest hide nothing and say nothing: a bound that is
2⁻³¹ of a derivative does not see them."""

# What a sequence of halving steps shows

HALVES: Final = 0.75
"""The difference between the two sides of a smooth function shrinks at least by this factor with
every halving: by 0.5 in the limit."""

JUMPS: Final = 0.6
"""Over three halvings a smooth function's change shrinks to 1/8, a jump's stays: from this share on
it may be a jump, and smaller steps will tell."""

DIVERGES: Final = 1.3
"""One-sided quotients that grow by this factor with every halving have no limit: those of a square
root at zero grow by 1.41."""

AS_CLAIMED: Final = 3.0
"""How many times its round-off the two sides of one step may differ for a function that is linear:
each side has the round-off of two values, the difference that of three."""

KINK_BOUNDS: Final = 3.0
KINK_NOISES: Final = 4.0
KINK_SHARE: Final = 1e-6
"""The two sides of a kink differ by more than so many of their bounds and so many times the noise,
and by more than this share of what the outputs move: less is no kink that anybody would notice."""

SURELY_JUMPS: Final = 10.0
"""How many times its noise a change must be to be a jump."""

STAYS_OFF: Final = 0.25
"""By what share of itself the distance of values from the line of a side may differ from one step
to another eight times as long: that of a curve grows by a factor of eight at least."""

SEEN_OFF: Final = 2.0
"""How many bounds on its noise that distance must be, to say that a switch is beside the point.
What the point itself is off is in all of them, and in what the function does before the switch."""

# Noise

NOISE_SHARE: Final = 1 / 64
"""Noise is at most this share of a line's variation; more is a function that was undersampled."""

PLATEAU: Final = 3.0
"""Noise on two neighbouring lines differs at most by this factor: two estimates from two values
each, of one standard deviation. Without it `test_nor_steps_that_are_longer_than_they_are` fails."""

FAST: Final = 2.0**-45
QUIET: Final = 1 / 16
"""Relative noise on the shortest line from which on an output may vary too fast for it, and how
much less than on the first lines it must be on all the shorter ones to be none."""

ELSEWHERE: Final = 4.0
"""How many times larger an output must be elsewhere for its noise to be measured there as well."""

HIDDEN_ABOVE: Final = 2.5
HIDDEN_ALIKE: Final = 2.1
"""What a fit leaves over twice its reach tells of larger steps if it is so many times more, and
grows by no more than this, on average, over each of the next two. Beside a switch that the fit does
not reach itself it grows by 2.6 at least."""

LOOKS_LIKE_MORE: Final = 64.0
JUMPS_OF_NOISE: Final = 1 / 8
"""How many times more noise longer lines must show than shorter ones for jumps to be looked for,
and how high these must be, as a share of what looks like noise."""

ROUNDING_SHARE: Final = 12**-0.5
"""Standard deviation of rounding to steps, as a share of their height: that of even chances."""

SWITCHES: Final = 8.0
"""Units in the last place by which a switch jumps at least; what rounds climbs by one to three."""

FEWEST_BITS_SPACING: Final = 2.0**-7
"""Relative spacing of the coarsest values that a function may round to (bfloat16's): what an output
may hide that depends on the inputs and stands still all the same."""

UNSEEN: Final = 2.0
WILD: Final = 0.1
"""How much worse than those of a sample the noise of the other outputs may be, and the share of
wild outputs from which on a function is hopeless."""

# What noise does to a derivative

ROUNDOFF_SAFETY: Final = 3.0
"""How many standard deviations of the measured noise a bound allows for."""

SINGLE_SAFETY: Final = 6.0
"""How many standard deviations a bound allows for of a function that computes in float32 inside:
its approximations err smoothly by a few units in the last place, which no difference of values
shows. Of 17,280 known derivatives of 16 such functions none was off by twice its bound, with this
or with 3."""

ILL_CONDITIONED: Final = 2.0**-20
"""Relative noise from which on a function that does not round inside must be ill-conditioned."""

ILL_CONDITIONED_SAFETY: Final = 100.0
"""How many standard deviations a bound allows for of such a function: its noise is not the same in
all directions, and was measured along one."""

FIT_SIGMAS: Final = 3.0
"""How many standard deviations of its slope the bound of a fitted polynomial allows for."""

FIT_COARSEST: Final = 1.2 * 2.0**-7
"""How far an element may move, in units, while bfloat16 hides that, as known from many points."""

FIT_COARSEST_INSIDE: Final = 16.0
"""How many spacings of a precision that the function was seen to compute in an element may move, in
units, while rounding hides that: what is rounded inside moves by less than the element."""

FIT_LEAVES: Final = 2.0
"""How many times its own scatter a polynomial may leave of an output: both are known to a fifth."""

# Comparing a gradient with its numeric derivative

BOUND_SAFETY: Final = 2.0
"""How many times its bound the numeric derivative may be off before the gradient is wrong. Over
11,400 known derivatives none was off by more than one (`docs/numerics.md`)."""

ARITHMETIC: Final = 32 * LAST_DIGIT
"""Rounding that is granted to the analytic gradient, relative to its parts before they cancel."""

VACUOUS: Final = 0.1
"""A bound that is more than this share of the input's largest derivative judges nothing."""

VACUOUS_IF_COARSE: Final = 0.2
"""A bound judges nothing above this share where the function rounds to few bits: its gradient does
so too, and a bar at that precision still refutes one that is wrong by half."""

GOOD: Final = 2.0**-29
"""A bound is good at first sight below this share of the derivative: an error of 1e-8 shows."""

GOOD_OF_PARTS: Final = 2.0**-7
"""What the parts of a derivative count for there, before they cancelled."""

CANCELLED: Final = 2.0**-12
"""What a derivative that cancels counts for, relative to the outputs' moves."""

REFUTES: Final = 0.3
"""Smaller steps are worth while, before blame, as long as their round-off stays below this share of
what is to be refuted."""

DISJOINT: Final = 2.0**20
"""How many times its bound a derivative must be off for rounding to be no excuse."""

SURELY_MOVES: Final = 4.0
"""How many times its bound a derivative must be to say that an output moves."""

STILL: Final = 2.0**-40
"""Share of the outputs' size that they may seem to move by rounding alone."""

# What rounding may do to a gradient

ROUNDING_SAFETY: Final = 4.0
"""How many times the change that rounding was seen to make a gradient may be off: sixteen draws see
the largest of many to within a factor of two or three."""

PERSISTS: Final = 2.0
ROUNDS_BESIDE: Final = 1 / 8
UNEXPLAINED: Final = 12.0
HIDDEN_SHARE: Final = 0.25
"""Last digits excuse what is off by so many times what it changes by (a whole unit does three times
what rounding does), if this share of it is off beside the point too, and if any two elements are no
more standard deviations of twelve draws off (normal ones are once in a million times); and let
nothing pass where a fault of this share of all the gradient would not show."""

LOST_ON_THE_WAY: Final = 2.0**-30
"""Share of the numbers that meet in a gradient (the upstream, the outputs, these by an input) that
rounding may take from it: four million times the last digit, for what is larger on the way."""

UPSTREAM_SCALED: Final = 2.0**-9
"""By how much of itself the upstream is made larger to see what rounding does to the gradient."""

REORDERED: Final = 2.0**-40
"""Share of its largest element by which a gradient may differ from one call to the next: sums that
are taken in another order do that, and it is rounding."""

SAME_AGAIN: Final = 2.0**-48
"""Share of its largest output by which a function may differ from one call to the next and be the
same: sixteen units in the last place, as a sum in another order; in low precision as many there."""

OTHER_MODE: Final = 2.0**-38
"""Share of its largest output by which a function may differ from one mode to another and be the
same: compilers reorder and fuse what rounds, some thousand times in a row."""

ITERATED: Final = 2.0**-20
"""Share of its outputs by which a function may be off in XLA, which iterates to a millionth."""

STANDS_OUT: Final = 2.0**10
"""How many times farther from its neighbours than they are from each other a gradient must be to
count as one that is special to the point. (Rounding can have long tails, but not such.)"""

FORMULA: Final = 2.0**-42
"""Rounding granted between two exact formulas, relative to the gradient's largest element."""

FORMULA_SAFETY: Final = 64.0
"""How many times what a change in the last digit does to it a formula may be off: on its way to the
result it rounds many times."""

BATCHED: Final = 1e-12
"""How far a batched call may be from single ones, relative to the largest output: summation in
another order is all that may differ."""

BATCHED_IN_LOW_PRECISION: Final = 2.0**29
"""How many times as far in float32: its last digit is so much larger."""

# Low precision

ULPS: Final = {"float32": 4.0, "complex64": 4.0, "float16": 0.5, "bfloat16": 0.5}
"""Units in the last place that the errors of an element may have in common: approximations of
float32 err smoothly by a few; what is coarser is computed in float32 and rounded once."""

LARGEST_ULPS: Final = 16.0
"""Units in the last place of the largest element that every element may be off: what its parts
lost before they cancelled."""

LOST_SHARE: Final = 0.25
"""Share of itself that an element must be off to be lost, unless that is explained."""

SCATTER: Final = 1.5
"""How many standard deviations of their scatter the errors' mean may be off (it is that of nine,
so by chance a third of one)."""

NEIGHBOUR_DISTANCE: Final = 2.0**-5
"""How far the neighbours are, relative to each element: far enough to round differently."""

ANOTHER_FUNCTION: Final = 0.25
"""Share of the largest output by which one is another: where a sum overflows inside, say."""

TWIN_ROUNDING: Final = 2.0**10
"""Units in the last place, of the largest output, by which a layer and the same one in float64 may
differ: some hundred roundings in a row. One that draws other numbers differs by far more."""

SLOPE_SIGMAS: Final = 6.0
"""How many standard deviations the slope of a function and its gradient may differ: one that is
clamped somewhere along the way is off in other ways than by rounding."""

SLOPE_SHOWN: Final = 1 / 4
"""Share of an error that the function's slope may leave as its cause: a clamped one curves."""

COMMON_FACTOR_SIGMAS: Final = 8.0
"""How many standard deviations a common factor may be off by chance."""

LEAST_SCATTER: Final = 0.25
"""Of relative errors, in units in the last place: what a few points may hide."""

ROUNDED_ONCE: Final = 8.0
"""Units in the last place by which elements differ by what is rounded once for all points."""

COUNTS_FOR_FACTOR: Final = 2.0**-4
"""Share of the largest element from which on one counts for a common factor: smaller ones may be
off by what larger parts lost before they cancelled."""

FEW_DIGITS: Final = 2.0**-6
"""What a number below the smallest normal one is off that keeps too few digits."""

# Planted faults

PLAINLY: Final = 1e-3
"""A relative error that must show in every element, however small its gradient is."""

TINY: Final = 2.0**-20
"""Elements below this share of the largest do not move with it."""

COUNTED: Final = 1e-8
"""The smallest planted relative error that a check is expected to catch."""
