"""Many cases, while workers, fork server and the command itself are killed at random.

    python -m tools.soak --cases 100000 --seed 1 --every 3

A command that was killed is picked up with `gradcheck run --resume`. At the end it prints which
cases are lost, doubled or wrong, which processes are left over, and the memory of the command and
of its fork server. The exit code is 1 unless the first four are 0.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
import tempfile
from pathlib import Path

from tools.soak.soak import Soak


def main() -> int:
    """Soak; 1 where something was lost."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cases", type=int, default=2000, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the cases and of the kills")
    parser.add_argument(
        "--every", type=float, default=3.0, help="seconds between two kills, on average"
    )
    parser.add_argument(
        "--kills", type=float, default=math.inf, help="how many there are at most; 0: none"
    )
    parser.add_argument("--jobs", type=int, default=2, help="workers (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="where to work, and to leave what was written")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = given.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            parser.error(f"{folder} is not empty")
        soak = Soak(
            folder,
            given.cases,
            given.seed,
            every=given.every,
            kills=given.kills,
            jobs=given.jobs,
        )
        outcome = soak.run()
    sys.stdout.write(f"{outcome}\n")
    return 0 if outcome.good else 1


if __name__ == "__main__":
    sys.exit(main())
