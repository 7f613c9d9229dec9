"""Long runs: `python -m tools.fuzz explain specs --count 10000 --seed 1`.

Each attack has its own seed, which is printed with what went wrong: `--seed N --count 1` repeats
it.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from tools.fuzz.attacks import ATTACKS

SLOW = 15.0
"""Seconds, beyond which an attack is told."""


def main() -> int:
    """Run the attacks; 1 where one of them succeeded."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("what", nargs="*", choices=[*ATTACKS, []], help="default: all")
    parser.add_argument("--count", type=int, default=1000, help="attacks of each kind")
    parser.add_argument("--seed", type=int, default=0, help="that of the first")
    parser.add_argument("--strict", action="store_true", help="what nobody foresaw raises")
    given = parser.parse_args()
    if given.strict:
        os.environ["GRADCHECK_DEBUG"] = "1"
    kinds: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for name in given.what or ATTACKS:
            for seed in range(given.seed, given.seed + given.count):
                begun, out = time.perf_counter(), io.StringIO()
                try:
                    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                        ATTACKS[name](Random(seed), Path(folder))  # noqa: S311
                    failed = ""
                except Exception as error:
                    place = error.__traceback__
                    while place is not None and place.tb_next is not None:
                        place = place.tb_next
                    where = (
                        place
                        and f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
                    )
                    failed = f"{type(error).__name__} at {where}: {error}"
                took = time.perf_counter() - begun
                failed = failed or (f"took {took:.0f} s" if took > SLOW else "")
                if failed:
                    kinds[f"{name}: {failed.partition(': ')[0]}"] += 1
                    sys.stdout.write(f"{name} --seed {seed}: {failed[:300]}\n")
    for kind, number in kinds.most_common():
        sys.stdout.write(f"{number:6}  {kind}\n")
    sys.stdout.write(f"{sum(kinds.values())} of the attacks succeeded\n")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
