"""What a check may spend, and what calls and traces cost: how much is done is decided by it.

Imports nothing.
"""

from __future__ import annotations

from typing import Final

SECONDS_OF_A_CHECK: Final = 10.0
"""What a check may spend on evaluating its function where nobody says otherwise: a hundred times
what ordinary ones take, and what a person waits for."""

CLOCK_OF_A_BUDGET: Final = 6.0
"""By the clock it may take so many times as long: the default time limit of a case."""

OF_THE_TIMEOUT: Final = 0.8
"""A check ends by itself within this share of its time limit: one call may be under way."""

SPENT_AT_ONCE: Final = 1 / 32
"""The share of a budget after which it is looked at again."""

DEAR: Final = 1 / 200
"""The share of a budget from which on a point is dear, and what is known of some elements is kept
before others are moved. (Of others it must not be: how many points are asked for decides when a
function is traced, and no figure may depend on a clock.)"""

SPENT_BY_STAGE: Final = {"first_look": 0.6, "measured_noise": 0.75, "confirmation": 0.85}
"""Up to which share of the budget a stage may go. The others need little, and may have it all."""

SPENT_ON_ROUNDING: Final = 0.9
SPENT_ON_CAUSES: Final = 0.9
"""Up to which shares the arithmetic in low precision is judged, and the causes of a mismatch are
looked for; the rest is for its place in the user's code."""

SECONDS_OF_AN_OP: Final = 5e-5
SECONDS_OF_A_TRACE: Final = 0.06
CALLS_OF_A_TRACE: Final = 25
"""What an op costs in eager code with the Python around it, and what tracing a function costs, on
its own and in eager calls of it: measured on functions of 2 to 2,600 ops and on Keras layers, where
an op took 16 to 110 µs. Ops are counted and no clock is read: the two ways differ in the last
digits, and a result must not depend on a clock."""

OPS_OF_A_DEAR_PASS: Final = 100
"""Of a function that runs so many, a pass forward and back takes 15 ms and more, and the twenty
that tell what rounding does to a gradient as long as all the rest of a check."""

CALLS_OF_A_LOOP: Final = 4
OPS_OF_A_LOOP: Final = 4
"""Of a function that runs a loop of TensorFlow's eagerly, a graph has few ops for the many that
run: it is traced from so many calls on, which is given up once there is one for so many of them.
The eigenvalues of a tridiagonal matrix run 2,546 ops in 0.2 s, and their graph 432 in 4 ms."""

OPS_OF_A_PROMOTED: Final = 7
"""What a call of a promoted graph costs more from Python than in a loop inside a traced function,
in eager ops: 0.25 to 0.4 ms. The loop takes 40 to 100 ms to trace: it pays from
some 200 points on, whatever the graph does."""
