"""Checks every declared op in every dtype, in many shapes, at many points: there must be no alarm.

    python -m tools.sweep            all of it; writes benchmarks/SWEEP.md
    python -m tools.sweep -k NAME    the checks whose name holds this, with their reports
    python -m tools.sweep --wild     far from the declared samples: magnitudes from 1e-12 to 1e12
    python -m tools.sweep --rounds   functions that round inside: `tools/rounded.py`

All these gradients are TensorFlow's own and, but for the known bugs, right. An alarm is a verdict
that says otherwise, or that nothing can be said.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.frameworks import environment
from benchmarks.markdown import table
from gradcheck.checker.api import describe
from gradcheck.model import Result, Verdict
from gradcheck.run import run
from gradcheck.run.workers.worker import check_with_tensorflow
from tools import rounded
from tools.swept import DTYPES, cases, check_wild, known_somewhere

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

REPORT = Path(__file__).parents[1] / "benchmarks" / "SWEEP.md"

SEEDS = 20

PER_SEED = 12
"""Functions that round inside which stand for a seed."""

_NO_KERNEL = re.compile(
    r"TensorFlow has no \w+ kernel|: it takes no \w+$|must be a floating point"
    r"|Value passed to parameter"
)
"""What TensorFlow says where it has no kernel of this dtype."""

_REFUSED = ("the function raised", "the function runs in float64, but not in")
"""How it begins where Python code before any kernel says so, each function in its own words. In the
first of the dtypes, for which the calls are written, it would be an alarm."""


OUT_OF_RANGE = "leaves the range of"
"""What a check says of a gradient that TensorFlow computes by way of numbers which its precision
cannot hold: the alarm is right, and no fault of the formula."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep, print what is not as it should be, and write the figures."""
    given = _parser().parse_args(arguments)
    if given.rounds:
        return rounded.main([f"--first={given.first}", f"--count={given.seeds * PER_SEED}"])
    chosen = [
        case
        for case in cases(given.dtype or DTYPES, range(given.first, given.first + given.seeds))
        if all(word in case.id for word in given.keyword)
    ]
    if not chosen:
        print("no check has such a name", file=sys.stderr)
        return 5
    started = time.perf_counter()
    tally = Tally(wild=given.wild)
    check = check_wild if given.wild else check_with_tensorflow
    results = run(chosen, allow=(), root=".", jobs=given.jobs, timeout=120, check=check)
    done = 0
    try:
        for done, result in enumerate(results, 1):
            kind = tally.add(result)
            if kind == "out of range":
                print(_out_of_range(result), flush=True)
            elif kind == "alarm" or len(chosen) <= given.verbose:
                again = _replay(result, wild=given.wild)
                print(f"{describe(result)}\n    again: {again}", flush=True)
            if done % 500 == 0 or done == len(chosen):
                elapsed = time.perf_counter() - started
                progress = f"{done} of {len(chosen)} in {elapsed:.0f} s: {tally}"
                print(progress, file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print("interrupted: the report tells of what was done", file=sys.stderr)
    whole = not (given.keyword or given.dtype or given.wild)
    output = given.output or (REPORT if whole else None)
    if output is not None:
        points = given.seeds * done // len(chosen)
        text = tally.report(time.perf_counter() - started, points)
        output.write_text(text, encoding="utf-8")
    return 1 if tally.alarms else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.sweep", description=__doc__)
    parser.add_argument("-k", dest="keyword", action="append", default=[], metavar="NAME")
    parser.add_argument("--dtype", action="append", choices=DTYPES)
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="SEED")
    parser.add_argument("--wild", action="store_true")
    parser.add_argument("--rounds", action="store_true")
    parser.add_argument("-j", dest="jobs", type=int, metavar="N")
    parser.add_argument("--output", type=Path, metavar="FILE")
    parser.add_argument(
        "--verbose", type=int, default=40, metavar="N", help="print all of up to so many checks"
    )
    return parser


def _is_refused(result: Result) -> bool:
    message = result.message
    if _NO_KERNEL.search(message):
        return True
    written_for = result.case is None or result.case.dtype == DTYPES[0]
    return message.startswith(_REFUSED) and not written_for


class Tally:
    """How many checks ended how."""

    def __init__(self, *, wild: bool) -> None:
        self._wild = wild
        self._kinds: Counter[tuple[str, str]] = Counter()
        self._missing: defaultdict[str, set[str]] = defaultdict(set)
        self._known: set[str] = set()
        self._seconds = 0.0
        self.alarms: list[Result] = []

    def add(self, result: Result) -> str:
        """Count a result; returns what kind it is."""
        case = result.case
        if case is None:
            raise ValueError(f"{result.id}: a result without its case")
        kind = self._kind(result)
        self._kinds[case.dtype, kind] += 1
        self._seconds += result.seconds
        if kind == "no kernel":
            self._missing[case.dtype].add(case.target.text)
        elif kind == "known bug":
            self._known.add(case.target.text)
        elif kind == "alarm":
            self.alarms.append(result)
        return kind

    def _kind(self, result: Result) -> str:
        expect = result.case.expect if result.case else None
        noted = any("does not hold at this point" in c.note for c in result.comparisons)
        if noted and not self._wild:
            # The gradient is right, and what we declare of it is not.
            return "alarm"
        if result.verdict.acceptable:
            # A point may not show a known bug (there may be nothing to show in an empty input).
            return str(result.verdict)
        if result.verdict is Verdict.ERROR and _is_refused(result):
            return "no kernel"
        if expect is not None and result.expected:
            return "known bug"
        return _far_away(result) if self._wild else "alarm"

    def __str__(self) -> str:
        kinds: Counter[str] = Counter()
        for (_, kind), count in self._kinds.items():
            kinds[kind] += count
        return ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())

    def report(self, elapsed: float, points: int) -> str:
        """The figures, in Markdown."""
        kinds = ["pass", "kink", "known bug", "out of range", "inconclusive", "alarm"]
        kinds = [k for k in kinds if k == "alarm" or any(key[1] == k for key in self._kinds)]

        def row(name: str, dtypes: Sequence[str]) -> list[str]:
            counts = [sum(self._kinds[dtype, kind] for dtype in dtypes) for kind in kinds]
            missing = sum(self._kinds[dtype, "no kernel"] for dtype in dtypes)
            return [name, *map(str, (sum(counts), *counts, missing))]

        swept = [dtype for dtype in DTYPES if any(key[0] == dtype for key in self._kinds)]
        rows = [*(row(dtype, [dtype]) for dtype in swept), row("all", swept)]
        return "\n".join(
            [
                "# Sweep",
                "",
                "Every declared op, in its range of shapes and arguments, in every dtype, at "
                f"{points} points each. Made by `make sweep` (`python -m tools.sweep --seeds "
                f"{points}`), in {elapsed / 60:.0f} minutes.",
                "",
                table(["environment", ""], environment()),
                "",
                table(["dtype", "judged", *kinds, "not judged: no kernel"], rows),
                "",
                f"A known bug is one that `specs/*/known_bugs.yaml` holds: {_listed(self._known)}.",
                "",
                "TensorFlow has no kernel, of the function or of its gradient, of:",
                "",
                *(f"- {dtype}: {_listed(ops)}" for dtype, ops in sorted(self._missing.items())),
                "",
                *(f"- **{r.id}**: {r.verdict}" for r in self.alarms),
            ]
        )


def _far_away(result: Result) -> str:
    """What kind a result of a wild sweep is that is not as a spec would have it."""
    case = result.case
    wrong = [
        c
        for c in result.comparisons
        if not (c.verdict.acceptable or c.verdict is Verdict.INCONCLUSIVE)
    ]
    if result.verdict is Verdict.INCONCLUSIVE:
        # Far away a function may round all its digits off: that is an honest answer.
        return str(result.verdict)
    if not wrong or case is None:
        return "alarm"
    if all(OUT_OF_RANGE in c.note for c in wrong):
        return "out of range"
    expect = case.expect
    if (case.target.text, case.dtype) in known_somewhere():
        return "known bug"
    if isinstance(expect, dict) and all(expect.get(c.name) is c.verdict for c in wrong):
        # Of the other inputs nothing can be said.
        return "known bug"
    return "alarm"


def _out_of_range(result: Result) -> str:
    """The size of what is lost, and the reason."""
    lines = []
    for comparison in result.comparisons:
        if OUT_OF_RANGE in comparison.note and comparison.worst:
            worst = comparison.worst[0]
            reason = comparison.note.split("; ")[-1]
            lost = f"{worst.analytic:.3g} in place of {worst.numeric:.3g}"
            lines.append(f"{result.id}: {comparison.name} is {lost}; {reason}")
    return "\n".join(lines)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _replay(result: Result, *, wild: bool) -> str:
    case = result.case
    seed = f" --first {case.seed} --seeds 1 --dtype {case.dtype}" if case else ""
    return f"python -m tools.sweep -k '{result.id}'{seed}{' --wild' if wild else ''}"


if __name__ == "__main__":
    sys.exit(main())
