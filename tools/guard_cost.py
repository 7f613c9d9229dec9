"""What it costs to look at the state of a worker before and after a user's function.

    python -m tools.guard_cost

prints microseconds for a case, of the quickest of many rounds: the machine may be busy.
"""

from __future__ import annotations

import os
import sys
import time

from gradcheck.model import Case, Location, Target, TargetKind

ROUNDS = 200
CASES = 20


def microseconds() -> float:
    """What a case of the user's own code costs more, where nothing was changed."""
    import gradcheck.run.workers.preload
    from gradcheck.run.workers.state_guard import StateGuard

    del gradcheck
    place = Location("a.yaml", 1, 1)
    target = Target(TargetKind.FUNCTION, "package:function", place)
    case = Case("a.yaml::a", "a.yaml", "a", place, target, ())
    guard = StateGuard(".")
    quickest = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for _ in range(CASES):
            guard.begin(case)
            guard.changes()
        quickest = min(quickest, (time.perf_counter() - begun) / CASES)
    return quickest * 1e6


if __name__ == "__main__":
    screen = os.dup(1)  # loading TensorFlow is quiet: it sends what is printed to nowhere
    os.write(screen, f"{microseconds():.1f} µs for a case\n".encode())
    sys.exit(0)
