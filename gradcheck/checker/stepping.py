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

CANCELLATION: Final = 2.0**-10
"""Elements that cancel to less than this share of their parts are not pursued to `GOAL`."""

SLIGHTLY_SMALLER: Final = 2.0**-2
SMALLER: Final = 2.0**-6
"""By what the steps shrink from one sequence to the next where truncation dominates: between these,
as much as the bound asks for (it falls with the sixth power of the step)."""

LARGER: Final = 2.0**4
"""By what they grow where round-off dominates, which falls with the step."""

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

HUGE_MOVE: Final = 2.0**500
HUGE_MOVE_IN_LOW_PRECISION: Final = 2.0**14
"""Moves that show in whatever depends on them; and yet times zero they are zero."""

LARGEST_MOVE: Final = 2.0**1021
"""A move that shows in outputs next to which a huge one is nothing: a quarter of the largest
number."""

LARGEST: Final = (65504.0, (2 - 2.0**-7) * 2.0**127, (2 - 2.0**-23) * 2.0**127)
"""The largest numbers of float16, bfloat16 and float32: what the minimum of nothing is in them."""

ALL_BITS: Final = 25 / 24
"""A factor that gives numbers of few bits all of them: it is periodic in binary."""

ONE_STEP_PAYS: Final = 2**13
"""Numbers (points and outputs), over all the moves of one step, up to which another call costs more
than needless steps: measured on a product of matrices."""
