"""Every number of the steps of difference quotients: how long they are, how many, and why.

Imports nothing.
"""

from __future__ import annotations

from typing import Final

FIRST_STEP: Final = 2.0**-4
"""The first step, in units of the coordinate: with three halvings and extrapolation the truncation
is near 2⁻⁴⁷ for a function with a singularity one unit away, the round-off near 2⁻⁴⁵."""

ODD: Final = 868_667 / 2**20
"""Steps are so many times a power of two. Mere powers of two would meet a function that rounds to
multiples of 1/128 only where that is exact, and not see its stairs. With twenty binary digits a
step is a multiple of no quantum that people round to, and yet so short a number that it can be
added to most others without rounding: what a function rounds off at the point it rounds off after
the step too, and the difference knows nothing of it. Without it `test_stairs_are_seen` fails."""

DIRECTION_UNIT: Final = 2.0**-2
"""The unit of a random direction, relative to the sizes of all the elements that it moves at once:
together they bend a function more than each by itself."""

NEAR: Final = 2.0**-6
"""What two small steps are of the first step of a sequence: with one extrapolation the truncation
is near 2⁻⁴⁸ for a function with a singularity one unit away, the round-off near 2⁻⁴⁰."""

GOAL: Final = 2.0**-31
"""Relative bound that ends the search for better steps, well below an error of 1e-8."""

FAR_GOAL: Final = 2.0**5
"""A bound that is so many times that asks for steps that are longer than the element itself."""

CANCELLATION: Final = 2.0**-10
"""Elements that cancel to less than this share of their parts are not pursued to `GOAL`."""

SLIGHTLY_SMALLER: Final = 2.0**-2
SMALLER: Final = 2.0**-6
"""By what the steps shrink from one sequence to the next where truncation dominates: between these,
as much as the bound asks for (it falls with the sixth power of the step)."""

LARGER: Final = 2.0**4
"""By what they grow at least where round-off dominates, which falls with the step."""

MUCH_SMALLER: Final = 2.0**-10
"""By what they shrink where a kink shows, to tell one that is here from one that is near."""

STILL_SHRINKS: Final = 0.5
"""Smaller steps can still shrink a bound whose round-off would then be less than this share."""

MOSTLY_ROUNDOFF: Final = 0.25
"""Larger steps can shrink a bound of which round-off is more than this share."""

RESOLVES: Final = 0.05
"""A kink shows where the round-off is below this share of the difference between its sides."""

HALF_A_BAR: Final = 0.5
HALF_A_KINK: Final = 0.5
"""Share of a bar that chance explains, and of what a kink's sides differ by that hides it."""

SWITCH_FIRST: Final = 8
SWITCH_HALVINGS: Final = 3
SWITCH_LAST_HALVINGS: Final = (49, 50, 51, 52)
"""How often the longest step is halved for the first of the moves that tell a kink from a switch
close by, how often from one to the next, and how often a unit is for the last, a digit each."""

SIDE_HALVINGS: Final = (0, 4, 7, 11, 16)
"""How often the first step is halved at the start of each sequence of steps to one side: one-sided
quotients have errors of all orders, and ask for shorter steps than central ones."""

SMALLEST_STEP: Final = 2.0**-46
"""In units of the coordinate; below, a step has no digits left."""

UNIT_STEP: Final = 0.25
"""First step for a function that stands still over the size of its inputs. Without it
`test_a_change_that_is_lost_inside` fails."""

SMALLEST_SIZE: Final = 2.0**-1000
"""Below this an element is taken for zero when steps are chosen: its square is no number."""

# How many, and far ones

STEPS: Final = 4
"""Steps of one sequence: three halvings remove the terms of order two, four and six."""

SEQUENCES: Final = 9
"""Sequences of steps after the first: from 2⁻⁴ down to the smallest step takes seven."""

FAR_MOVES: Final = (1.0, -1.0, 4.0, -4.0)
"""Moves, in units, that show which outputs depend on a coordinate at all; beside moves past the
largest element of the point."""

MOST_BETWEEN: Final = 8
"""How many steps there are between the two, each four times as long as the one before or more."""

HUGE_MOVE: Final = 2.0**500
HUGE_MOVE_IN_LOW_PRECISION: Final = 2.0**14
"""Moves that show in whatever depends on them; and yet times zero they are zero."""

LARGEST_MOVE: Final = 2.0**1021
"""A move that shows in outputs next to which a huge one is nothing: a quarter of the largest
number."""

HUGE_SLOPE: Final = 2.0**960
"""Quotients above this are made smaller by it while they are combined: what they are multiplied
with, and added up, might leave the range."""

LARGEST: Final = (65504.0, (2 - 2.0**-7) * 2.0**127, (2 - 2.0**-23) * 2.0**127)
"""The largest numbers of float16, bfloat16 and float32: what the minimum of nothing is in them."""

ALL_BITS: Final = 25 / 24
"""A factor that gives numbers of few bits all of them: it is periodic in binary."""

ONE_STEP_PAYS: Final = 2**13
"""Numbers (points and outputs), over all the moves of one step, up to which another call costs more
than needless steps: measured on a product of matrices."""

# The fit of a polynomial

FIT_POINTS: Final = 48
"""How many points around an element its slope is taken from: eight for each coefficient."""

FIT_HALVINGS: Final = 16
"""How often their reach is halved at most: from the larger of what is typical of the input and the
element's own size down to a share of the smaller."""

FIT_DEGREES: Final = (1, 3, 5)
"""Degrees of the polynomials, each controlled by the next: a line averages rounding best where the
function is straight."""

FIT_WORSE: Final = 3.0
"""A bound that is so many times the best ends the search: half the reach doubles what rounding
does."""

FIT_SHORTEST: Final = 2.0**-12
"""The shortest reach, relative to the element: below, too little is left of float32."""

FIT_CLOSE_LOOKS: Final = 4
"""Along how many coordinates it is seen whether what scatters does so over the shortest moves."""

FIT_PAYS: Final = 2.0**-15
"""A bound above this share of the largest derivative is worth a fit where a function rounds."""

FIT_PAYS_IF_ROUGH: Final = 2.0**-8
"""The same where it loses some digits: mostly quotients know better then."""

LINE_DIGIT: Final = 2.0**-48
"""The last digit of the spacing of lines, in units: a few times that can be added to numbers of the
size of one without rounding, and what cancels to multiples of more shows on all of the lines."""

JUMP_POINTS: Final = 16
"""Points between two neighbours, of which the two are taken next that a jump lies between."""

JUMPING_PLACES: Final = (-(2.0**-13), -(2.0**-16), 2.0**-17, 2.0**-14)
JUMPING_PIECE: Final = 2.0**-18
"""Where on a line jumps are looked for, in units, and how long each piece is: longer than those
that cancellation makes where it leaves half of the digits."""

PLACES_BESIDE: Final = 12
FAR_BESIDE: Final = 2.0**-11
"""At how many places beside the point a slope is taken, and how far they are at most, as a share of
each element: float32 rounds otherwise there, and what a slope is off a straight line over as much
is the square of that, two last digits."""

NEXT_TO_EACH_OTHER: Final = 2.0**-50
"""Places on a line that are no farther apart are neighbours: a few of the last digits."""

CLOSEST_BEND: Final = 2.0**-43
"""Places on a line, in units, between which bends are looked at last: the points between them are
some last digits apart, and so are not the same."""

JUMPING_OUTPUTS: Final = 6
"""Of so many outputs jumps are looked for; each takes some 600 points."""

CLIMBS: Final = 4
"""Of so many of those points each must differ from the one before it, for a side to climb."""

FIT_CLOSE_BY: Final = 2.0**-36
"""Moves, in units, over which no precision that people round to shows a step."""

FIT_MATTERS: Final = 1 / 16
"""Share of the rounding of all the outputs below which what is left of one does not matter."""

FIT_KINK_SIGMAS: Final = 5.0
FIT_KINK_ALIKE: Final = 0.3
"""A kink at the point is so many standard deviations from none over two reaches, which agree on its
size to this share: what is missed otherwise shrinks to a 32nd."""

NORMAL_MEDIAN: Final = 0.6745
"""The median size of normal numbers of unit deviation."""

FITTED: Final = 512
"""Coordinates up to which a polynomial is fitted: each takes hundreds of evaluations."""

# Pictures

CLOSE_UP_HALVINGS: Final = (1, 2, 3, 4, 5, 6, 7, 8, *range(10, 45, 2))
"""How often a unit is halved for the steps of a close-up: first so that the function itself can be
drawn, then so that both branches of the error show, down to where a step has no digits left."""

JACOBIAN_MOVE: Final = ODD * 2.0**-6
"""How far elements are moved to see which outputs move with them, in units."""
