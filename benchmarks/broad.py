"""A broad set of calls drawn from real use: how long a check takes beside tf.test's.

Nothing was chosen for its figure. The functions, shapes and dtypes follow TensorFlow's own gradient
tests, many of which are in float32 and small; the layers are Keras' as they are made by default,
with all their weights.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from benchmarks.calls import BROAD, Call
from benchmarks.calls.declaration import DTYPES, F32
from benchmarks.figures import (
    SIZES,
    behind,
    grouped,
    long,
    milliseconds,
    not_passed,
    row,
    size_class,
    slowest,
)
from benchmarks.markdown import table
from benchmarks.measuring import FULL, OURS, QUICK, THEIRS, Bench, Effort, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

TEXT = """\
{count} calls, each checked once by gradcheck and once by `tf.test.compute_gradient`, both with
their defaults, at the same numbers and with all of them differentiated (the weights of a layer and
the variables of a closure too, which tf.test is given as further inputs). Both take turns in one
process, and the best time of up to {rounds} rounds counts; the function is made anew for every
check, so that none profits from the last one. A check that takes longer than {limit:g} s is given
up and counts with that. A ratio says how many times as long tf.test takes, in the geometric mean of
the calls; “processor” is the ratio of processor times, “least” and “most” are single calls' ratios.
tf.test has no verdict: it leaves it to its user what to make of two Jacobians.

{shares}.
Many of TensorFlow's own gradient tests are as small, so that what a check costs at least counts as
much here as what it costs for each number."""

HEADER = ["", "calls", "gradcheck ms", "tf.test ms", "ratio", "processor", "least", "most"]


def run(*, quick: bool = False, pattern: str = "", dump: Path | None = None) -> str:
    """The tables, as a section of Markdown; `pattern` chooses calls by name or family."""
    effort = QUICK if quick else FULL
    records = measured(chosen(pattern), effort)
    if dump is not None:
        dump.write_text(as_json(records), encoding="utf-8")
    return section(records, effort)


def chosen(pattern: str) -> list[Call]:
    """The calls whose name or family has the pattern, a regular expression."""
    wanted = re.compile(pattern, re.IGNORECASE)
    calls = [c for c in BROAD if wanted.search(c.name) or wanted.search(c.family)]
    if not calls:
        raise SystemExit(f"no call has {pattern!r} in its name or family")
    return calls


def measured(calls: Sequence[Call], effort: Effort) -> list[Record]:
    """Every call's record, with a line on each as it comes."""
    bench, records = Bench(effort), []
    try:
        for number, call in enumerate(calls, 1):
            record = bench.measure(call)
            records.append(record)
            told = f"{_time(record, OURS)} ms, tf {_time(record, THEIRS)} ms, {record.ratio:.2f}"
            print(
                f"{number}/{len(calls)} {call.name}: {told}, {record.verdict}",
                file=sys.stderr,
                flush=True,
            )
    finally:
        bench.close()
    return records


def as_json(records: Iterable[Record]) -> str:
    """The records for a program to read, to compare one run with another."""
    rows = [{**asdict(record), "ratio": record.ratio} for record in records]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"


def section(records: Sequence[Record], effort: Effort) -> str:
    """What the records say, as a section of Markdown."""
    text = TEXT.format(
        count=len(records), rounds=effort.rounds, limit=effort.limit, shares=shares(records)
    )
    parts = ["## Broad set", text, table(HEADER, [row("**all**", records)])]
    sizes = [size_class(high) for _, high in SIZES]
    parts += [
        table(["dtype", *HEADER[1:]], _rows(records, lambda r: r.dtype, DTYPES)),
        table(["size", *HEADER[1:]], _rows(records, lambda r: size_class(r.numbers), sizes)),
        table(["family", *HEADER[1:]], _rows(records, lambda r: r.family)),
        *_named("The slowest checks", slowest(records)),
        *_named("More than twice as slow as tf.test", behind(records)),
        *_named("Longer than ten seconds", long(records)),
        *_verdicts([r for r in not_passed(records) if not _is_wrong(r)]),
    ]
    return "\n\n".join(parts) + "\n"


def shares(records: Sequence[Record]) -> str:
    """What the set is made of, in a sentence."""
    total = len(records)
    single = sum(r.dtype == F32 for r in records) / total
    small = sum(r.numbers <= SIZES[0][1] for r in records) / total
    keras = sum("Keras" in r.family for r in records)
    return (
        f"Of the calls {single:.0%} are in float32, {small:.0%} have fewer than ten numbers, "
        f"and {keras} are of Keras layers"
    )


def _rows(
    records: Sequence[Record], key: Callable[[Record], str], order: Sequence[str] = ()
) -> list[list[str]]:
    groups = grouped(records, key)
    return [row(name, groups[name]) for name in order or groups if name in groups]


def _named(title: str, records: Sequence[Record]) -> list[str]:
    if not records:
        return [f"{title}: none."]
    header = ["call", "numbers", "gradcheck ms", "tf.test ms", "ratio"]
    rows = [
        [r.name, str(r.numbers), _time(r, OURS), _time(r, THEIRS), f"{r.ratio:.2f}"]
        for r in records
    ]
    return [f"{title}: {len(records)}.", table(header, rows)]


def _time(record: Record, checker: str) -> str:
    over = "> " if checker in record.given_up else ""
    return over + milliseconds(record.seconds[checker])


WRONG = "eigenvalues of a tridiagonal 3, 2, float64"
"""TensorFlow differentiates the bisection that finds them, which gives something else."""


def _is_wrong(record: Record) -> bool:
    return record.name == WRONG and record.verdict == "mismatch"


def _verdicts(records: Sequence[Record]) -> list[str]:
    """False alarms: but for one the gradients of the set are right."""
    right = f"Every gradient of the set is right but one ({WRONG}: `mismatch`)"
    if not records:
        return [f"{right}, and every other verdict is `pass`."]
    rows = [[r.name, r.verdict, r.note.replace("|", "\\|").replace("\n", " ")] for r in records]
    title = f"{right}; {len(records)} verdicts are not what they should be."
    return [title, table(["call", "verdict", "note"], rows)]
