"""Every limit of the checker, by meaning: how many, how large, how often, and why so many.

A limit decides how much is done and held, and what is not looked at; `tolerances.py` has what
decides a verdict. Imports nothing.
"""

from __future__ import annotations

from typing import Final

# What is held in memory

NUMBERS_AT_ONCE: Final = 2**22
"""How many numbers, points and outputs together, go through one call and are held at once: 32 MiB,
beyond which a larger call is no faster."""

OUTPUTS_AT_ONCE: Final = 2**21
"""How many outputs are held where coordinates move together: several arrays of that size live."""

COORDINATES_AT_ONCE: Final = 2**15
"""How many coordinates are extrapolated at once; the arrays then fit into the caches."""

NOISY_OUTPUTS_AT_ONCE: Final = 2**15
"""How many outputs' lines are looked at together."""

REMEMBERED_NUMBERS: Final = 2**23
"""How many numbers, points and outputs, are remembered while faults are planted: 64 MiB."""

KEPT_ELEMENTS: Final = 4096
"""Elements up to which a result carries whole gradients: larger ones nobody would read."""

DRAWN_ONCE: Final = 1024
"""Numbers of an upstream up to which it is kept for the next check that draws the same: 256 of them
take 2 MiB."""

LONGEST_ATTRIBUTES: Final = 200
"""Characters of an op's attributes that are told of a gradient function that was called."""

LONGEST_ERROR: Final = 20_000
"""Characters of an exception's text that are looked at: its beginning and its end."""

LONGEST_REASON: Final = 2_000
"""Characters that are told of it: ten times what TensorFlow's own messages take."""

# How many coordinates are moved

BUDGET: Final = 4096
"""Real numbers of one input up to which each is moved, whatever it costs."""

SAMPLED: Final = 256
FEWEST_SAMPLED: Final = 16
"""How many of a larger input's elements are moved by themselves, drawn at random: so many, and
fewer down to this the larger it is."""

SAMPLED_NUMBERS: Final = 2**23
"""How many numbers the points that move a sample hold at most, all together."""

MOVED_NUMBERS: Final = 2**26
"""How many numbers, points and outputs together, may go through the function to move all the
elements there are: some seconds of a layer. Of more, inputs are sampled that would else be moved
whole: those of a layer with some two thousand weights and more, if all of them interfere."""

DIRECTIONS: Final = 8
"""How many random directions stand for the elements of a larger input. Each moves every element, by
one half to one of its size: a fault in one element shows in all of them, and of one in many
elements less than a tenth of its largest part is left in one of them at most once in five times, in
all of them three times in a million."""

FORWARD_ELEMENTS: Final = 64
"""Real numbers of an input up to which each gets a forward pass of its own."""

SEEN_SINGLY: Final = 32
"""Real numbers up to which each is moved by itself where every point costs a call; of more,
directions and a few elements are looked at first, which takes no more calls than so many."""

BESIDE_DIRECTIONS: Final = 4
"""Elements of an input that are moved singly all the same, where there are as many whose
derivatives such moves tell well."""

FEW_COORDINATES: Final = 2
"""So few are not worth the two points that tell whether a function is linear."""

CALLS_PER_NUMBER: Final = 4
"""Points that a number takes where every point costs a call: two steps to either side."""

# Group tests

TESTS_PAY_ONE_BY_ONE: Final = 8
"""Coordinates from which on group tests pay for themselves where every point is a call."""

TESTS_PAY_BATCHED: Final = 2**16
"""Entries (coordinates times outputs) from which on they do where points share a call."""

LARGEST_PATTERN: Final = 2**25
"""Colours times outputs up to which a pattern is worked out."""

TESTED_SINGLY: Final = (32, 1024)
"""Between so many elements of an input each is tested by itself where the bits do not tell."""

# Noise

SPACINGS: Final = (2.0**-40, 2.0**-34, 2.0**-24, 2.0**-20, 2.0**-16, 2.0**-12)
"""Relative spacings of the first lines, for arithmetic of 24 bits and more."""

SPACING_OF_SINGLE: Final = 2.0**-24
"""Spacing from which on points need not be exact, and float32 shows: half its last place."""

FINE_SPACINGS: Final = (2.0**-50, 2.0**-47, 2.0**-44, 2.0**-42)
"""Spacings for outputs that vary too fast for the first lines: those with a singularity close by.
Without them `test_nor_is_a_singularity_close_by` fails."""

COARSE_SPACINGS: Final = (2.0**-12, 2.0**-8, 2.0**-5)
"""Spacings for outputs that stand still on the first lines: arithmetic of 8 to 11 bits. Without
them `test_what_quantises_on_purpose_is_told_what_to_say` fails."""

BITS_OF: Final = {"bfloat16": 8, "float16": 11, "float32": 24}
BITS: Final = tuple(BITS_OF.values())
"""Precisions that a function may round to inside."""

LINE_POINTS: Final = 8
"""Values on one line: differences up to order six, two of the highest."""

STAIRS_SEEN: Final = 3
"""How many steps an output must climb to be one that rounds: fewer may be jumps, as of floor."""

NOISY_OUTPUTS: Final = 2**16
"""Of more outputs than this a sample is looked at."""

SCATTERED_POINTS: Final = 6
"""How many points tell how many bits a function's values have: by chance one value in 2²⁸ fits into
24 bits."""

JUMPS_LOOKED_FOR: Final = 16
"""Along how many coordinates jumps are looked for: each takes hundreds of points."""

BENDS_LOOKED_FOR: Final = 16
"""Of how many outputs it is seen whether a bend looks like noise: each takes some 200 points."""

# Calls

PROBE_ROWS: Final = 17
PROBE_OTHERS: Final = (3, 9, 16)
"""Rows of the probe: the point itself, but for a few rows of an unrelated one. Rows that ought to
be equal also show a function that gives something else each time."""

PROBE_NEAR: Final = 12
PROBE_BEYOND: Final = 2.0**-9
"""A row that is a little farther away from zero than the point, and by how much: whoever branches
by a value has it on the one side or on the other."""

GOLDEN_RATIO: Final = (5**0.5 - 1) / 2
"""Its multiples, without their whole parts, are as good as random numbers and cost less."""

RAISING_SEEN: Final = 4
"""Points at which a shared call raises that are called alone, before the others are believed to
raise as well."""

PROBE_PAYS: Final = 4
"""Points from which on a call looks for a batched form."""

RIDES_IN_PROBE: Final = 2**18
"""Numbers up to which the points that are wanted are evaluated along with the probe."""

PROBE_FROM_ZERO: Final = 2.0**-4
"""How far zeros are moved to probe a batch, at most, relative to the largest number of the point:
so little that an identity matrix stays positive definite."""

# Does it repeat itself?

REPEATED_CALLS: Final = 3
REPEATED_IF_FEW_OUTPUTS: Final = 16
"""How often a function that takes no batches is called again to see whether it repeats itself; more
often if it has few outputs, which can agree by chance."""

REPEATED_IF_KNOWN: Final = 2
"""How often it is if every kernel that it runs is known to draw nothing: whatever Python draws
shows when the derivatives do not fit together."""

FEW_OUTPUTS: Final = 4
"""So few outputs can agree by chance."""

REPEATED_BEFORE_BLAME: Final = 32
"""How often a function is called again before its gradient is blamed: a few calls can agree by
chance, as a coin that fell the same way."""

# Before blame

CONFIRMED: Final = 64
"""How many of the coordinates that look wrong are looked at again with other steps."""

CONFIRMED_IF_DEAR: Final = 4
"""The same where every point costs a call, or is large: each of them takes some fifty."""

LARGE_POINT: Final = 2**15
"""Numbers, of a point and its outputs, from which on one takes as long as a call."""

ROUNDING_DRAWS: Final = 16
ROUNDING_DRAWS_OF_ITS_OWN: Final = 4
"""How often a gradient is taken at other roundings, and what takes a call for each. Terms that
cancel can do so in one draw, and a difference of a few digits can come out the same in some of
them; hardly in all."""

PERSISTENT: Final = 4
BESIDE_KINKS: Final = 4
"""At how many points beside a kink a gradient is looked at that is outside of its sides."""

PERSISTENCE_DRAWS: Final = 8
UNDOING_DRAWS: Final = 3
"""Of how many elements that look wrong in float64 it is seen whether they stay so where inputs have
other last digits in their own precision, at how many such points at most, and at how many of them
each has to be off by something else. (Beside a kink one or two may be off by anything.)"""

EXPLAINING_DRAWS: Final = 12
ACCOMPANIED: Final = 2
"""At how many more it is seen in which shares they are off, and of how many with neighbours."""

NEIGHBOUR_TRIES: Final = 16
"""How often other neighbours are drawn because numbers that were equal are so again."""

UNTIED: Final = 8
"""Equal numbers up to which that is tried: of more, some are equal again whatever is drawn."""

TIES: Final = 16
"""How many groups of equal elements are moved together."""

TELLING_VALUES: Final = (1.0, 0.0, float("nan"))
"""Values that show what an infinite output depends on: powers, products and exponentials of one and
of zero are finite, and what is infinite does not stay so if it depends on what is no number."""

WORST: Final = 5
"""How many elements a comparison names."""

# Low precision

NEIGHBOURS: Final = 8
"""At how many neighbours the gradient in low precision is compared besides the point."""

FEWEST_NEIGHBOURS: Final = 5
"""Points at which an element must have a gradient to be judged by its scatter."""

POOLED: Final = 32
"""Elements, over all the points, that it takes to see a common factor."""

SLOPES: Final = 16
"""How many elements that look wrong in low precision are moved one by one."""

SLOPE_REACHES: Final = (2.0**-4, 2.0**-6, 2.0**-8)
"""How far the points of a slope reach to both sides, relative to the element: far, against
rounding, and near, where the function is clamped not far away. With one of them alone
`test_close_to_where_tanh_is_one` fails."""

SLOPE_POINTS: Final = 12
"""Values of one element that the slope of its function is taken from."""

# Diagnosis

PERMUTED_RANK: Final = 4
"""Rank up to which all orders of the axes are tried."""

SUMMED_RANK: Final = 4
"""Rank of an output up to which sums over all its axes are tried."""

JACOBIAN_ENTRIES: Final = 2**18
"""Entries of a Jacobian up to which it is worked out."""

JACOBIAN_ROWS: Final = 128
"""Rows of a Jacobian, each a way back, up to which all are made; of more, so many are drawn."""

DUAL_NEIGHBOURS: Final = 8
"""Points that differ from the user's in their last digits, where forward and reverse mode differ:
what they do to both is what rounding may do."""

NAMED_SLICES: Final = 4
"""How many slices are named one by one."""

QUANTILE_STEPS: Final = 8
"""Steps towards a quantile whose parameters moved a little: each leaves a share of what is missing
that is about as large as the move."""

REACHED_OBJECTS: Final = 20_000
"""How many objects are looked through for variables and their names: some hundred layers."""

REACHED_ITEMS: Final = 1_000
"""How long a list may be whose items are looked at: longer ones hold data, not layers."""

WEIGHT_SPREAD: Final = 0.5
"""How far the weights of a layer are drawn around their initial values: so far that none is near
zero by rule, so near that a scale of one stays positive for most and no activation saturates."""

MOST_WRAPPERS = 100
"""Decorators around a function of the user's that are looked through: more are a circle."""

# Pictures

JACOBIAN_SIDE: Final = 64
"""Outputs, and elements of an input, up to which a picture shows which move which: of more, the
eye sees no single one."""

SECONDS_OF_A_PICTURE: Final = 0.5
"""What may be spent on close-ups of a check, besides its budget, where each point costs a call."""
