"""How the time and the memory of one check grow with the number of elements.

Every size has a process of its own, so that one size's memory is not another one's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import gradcheck
from benchmarks.frameworks import load
from benchmarks.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcheck.model import Array, Comparison

SIZES = (10**3, 10**4, 10**5, 10**6)

CHECKS, SECONDS = 3, 5.0
"""The best of so many checks counts, or of those that were started within so many seconds."""

MIB = 2**20

TEXT = """\
One check of a function of so many elements in a process of its own: the best time of up to three,
and the peak of memory beyond that of a process that has imported TensorFlow and checked a hundred
elements. Where the elements of a large input interfere, so that moving them all would take too many
calls, some of them are moved, and random directions besides; how many of either is in the table.
matmul is x·w with x of the given size and 100 columns, and w of 100×10, which is not
differentiated."""


def run(*, quick: bool = False) -> str:
    """The table of times and peaks, as a section of Markdown."""
    rows = []
    for name in FUNCTIONS:
        for size in SIZES[:2] if quick else SIZES:
            told = _in_own_process(name, size)
            rows.append(
                [
                    name,
                    f"{size:,}",
                    f"{told['seconds']:.3f}",
                    f"{told['memory'] / MIB:.0f}",
                    f"{told['judged']:,}",
                    str(told["directions"]),
                    told["verdict"],
                ]
            )
    header = ["function", "elements", "seconds", "MiB", "moved singly", "directions", "verdict"]
    return "\n\n".join(["## Growth", TEXT, table(header, rows)]) + "\n"


def measure(name: str, size: int) -> dict[str, Any]:
    """Time and peak memory in this process, as far as they come from the check."""
    load("tensorflow")
    small, inputs = FUNCTIONS[name](100)
    gradcheck.check(small, inputs)
    before = _peak()
    function, x = FUNCTIONS[name](size)
    best, started = float("inf"), time.perf_counter()
    for _ in range(CHECKS):
        result = gradcheck.check(function, x)
        best = min(best, result.seconds)
        if time.perf_counter() - started > SECONDS:
            break
    comparison: Comparison = result.comparisons[0]
    return {
        "seconds": best,
        "memory": _peak() - before,
        "judged": comparison.judged,
        "directions": comparison.directions,
        "verdict": str(result.verdict),
    }


def _tanh(size: int) -> tuple[Callable[[Any], Any], Array]:
    tf = load("tensorflow")
    return tf.tanh, np.random.default_rng(0).standard_normal(size)


def _matmul(size: int) -> tuple[Callable[[Any], Any], Array]:
    tf = load("tensorflow")
    rng = np.random.default_rng(0)
    w = tf.constant(rng.standard_normal((100, 10)))
    return lambda x: tf.matmul(x, w), rng.standard_normal((size // 100, 100))


FUNCTIONS: dict[str, Callable[[int], tuple[Callable[[Any], Any], Array]]] = {
    "tanh": _tanh,
    "matmul": _matmul,
}


def _peak() -> int:
    """The most memory that this process has held, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage would do, but on Linux it starts from the peak of the process's parent.
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _in_own_process(name: str, size: int) -> dict[str, Any]:
    root = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.growth", name, str(size)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{name} with {size} elements ended badly:\n{done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
