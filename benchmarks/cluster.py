"""`--dask` against as many workers of this machine: `python -m benchmarks.cluster`.

Both run the same small cases in turn, within the same minutes, so that whatever else the machine
does hits both; what counts is the ratio of a round. The cluster is there before, as clusters are,
and is of this machine: what is measured is what the way over Dask costs. TensorFlow is loaded anew
in every run, on either side.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.execution import GRADCHECK, suite
from benchmarks.markdown import table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

START_SECONDS = 120.0
"""Seconds for the scheduler to be there; the workers are waited for by the command."""


SETTLE_SECONDS = 3.0
"""Seconds in which the processes of a run are gone, and their processor time is counted."""


class Run(NamedTuple):
    """What a run took, in seconds, and what it found."""

    used: float
    """Processor time of all processes, those of Dask's included."""
    whole: float
    first: float
    """Until the first result."""
    report: Any
    """What the JSON report holds, times aside."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run both in turn and print a table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cluster",
        description="Compare `gradcheck run --dask` with as many workers of this machine.",
    )
    parser.add_argument("--cases", type=int, default=3_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2, help="Dask workers")
    parser.add_argument("--threads", type=int, default=1, help="threads of each")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite(folder / "specs", given.cases)
        with dask_cluster(folder, given.workers, given.threads) as (address, processes):
            jobs = str(given.workers * given.threads)
            rounds = [
                (_run(folder, (), "-j", jobs), _run(folder, processes, "--dask", address))
                for _ in range(given.rounds)
            ]
    print(_told(rounds, jobs, given.cases))


def _told(rounds: Sequence[tuple[Run, Run]], jobs: str, cases: int) -> str:
    rows = [
        [
            str(number),
            f"{here.whole:.1f}",
            f"{there.whole:.1f}",
            f"{there.whole / here.whole:.2f}",
            f"{there.used / here.used:.2f}",
            f"{here.first:.1f}",
            f"{there.first:.1f}",
            "yes" if here.report == there.report else "NO",
        ]
        for number, (here, there) in enumerate(rounds, 1)
    ]
    ratio = median(there.whole / here.whole for here, there in rounds)
    used = median(there.used / here.used for here, there in rounds)
    header = [
        f"{cases:,} small cases: round",
        f"-j {jobs}, s",
        "--dask, s",
        "ratio",
        "of processor time",
        f"first result, -j {jobs}",
        "--dask",
        "same JSON",
    ]
    return f"{table(header, rows)}\n\nmedian ratio {ratio:.2f}, of processor time {used:.2f}"


def _run(folder: Path, processes: Collection[int], *options: str) -> Run:
    """A whole command, with nothing remembered but how long each case took.

    `processes` are those that work for it and outlive it, with all that is below them.
    """
    before = sum(map(used, with_descendants(processes)))
    output = folder / "report.json"
    report = ("--format", "json", "--output", str(output))
    begun = time.perf_counter()
    process = subprocess.Popen(
        [*GRADCHECK, "run", "specs", "-v", "--format", "plain", *options, *report],
        cwd=folder,
        env=_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first = 0.0
    for line in process.stdout:
        if not first and line.startswith("PASS"):
            first = time.perf_counter() - begun
    _, code, usage = os.wait4(process.pid, 0)
    whole = time.perf_counter() - begun
    if code:
        raise SystemExit(f"`gradcheck run {' '.join(options)}` ended with {code}")
    time.sleep(SETTLE_SECONDS)
    beside = sum(map(used, with_descendants(processes))) - before
    report_data = _without_seconds(json.loads(output.read_text()))
    return Run(usage.ru_utime + usage.ru_stime + beside, whole, first, report_data)


def used(pid: int) -> float:
    """The processor time in seconds of a process, and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def with_descendants(processes: Collection[int]) -> set[int]:
    """These processes and all below them."""
    found, waiting = set(processes), list(processes)
    while waiting:
        tasks = Path(f"/proc/{waiting.pop()}/task").iterdir()
        below = {int(pid) for task in tasks for pid in (task / "children").read_text().split()}
        waiting += below - found
        found |= below
    return found


def _without_seconds(data: Any) -> Any:
    if isinstance(data, dict):
        return {k: _without_seconds(v) for k, v in data.items() if k != "seconds"}
    return [_without_seconds(item) for item in data] if isinstance(data, list) else data


@contextlib.contextmanager
def dask_cluster(folder: Path, workers: int, threads: int) -> Iterator[tuple[str, list[int]]]:
    """A scheduler and its workers: its address, and their numbers as processes, its own first."""
    told = folder / "scheduler.json"
    started = [_dask("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(told))]
    try:
        deadline = time.monotonic() + START_SECONDS
        while not told.exists():
            if time.monotonic() > deadline:
                raise SystemExit("the Dask scheduler does not start")
            time.sleep(0.1)
        address = json.loads(told.read_text())["address"]
        counts = ["--nworkers", str(workers), "--nthreads", str(threads)]
        scratch = ["--local-directory", str(folder / "dask")]
        started.append(_dask("worker", address, "--no-dashboard", *counts, *scratch))
        yield address, [process.pid for process in started]
    finally:
        for process in reversed(started):
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        shutil.rmtree(folder / "dask", ignore_errors=True)


def _dask(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        env=_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


if __name__ == "__main__":
    main()
