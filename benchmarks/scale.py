"""What a case costs besides its check, and a request to a machine: `python -m benchmarks.scale`.

From these follows what a million cases on a thousand processors need. The results are those of real
checks, repeated under other names; the times are processor time, so that a busy machine does not
count, and memory is what comes on top at the peak.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import gc
import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.cluster import dask_cluster, used
from benchmarks.execution import GRADCHECK, suite
from benchmarks.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from gradcheck.model import Case, Result

CHECKED = 240
"""How many cases are really checked; the others have their results."""

REQUESTS = 2_000
"""How many requests the scheduler passes on."""

PARTS = 10
"""How many reports are merged."""

AT_ONCE = 64
"""How many of them are under way at any time: one for each machine."""

BATCH = 64
"""How many cases a request has, and how many results its reply."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print two tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--stage", metavar="FOLDER", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.stage is not None:
        print(json.dumps(_in_one_process(given.stage, given.cases)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite(folder / "specs", given.cases)
        rows = _of_cases(folder, given.cases)
        print(
            table(
                [f"for each of {given.cases:,} cases", "µs", "bytes", "memory, bytes at the peak"],
                rows,
            )
        )
        print()
        print(table(["for each request", ""], _of_requests(folder)))


def _of_cases(folder: Path, count: int) -> list[list[str]]:
    """What the command does with each case and its result, in a process of its own."""
    code = [sys.executable, "-m", "benchmarks.scale", "--cases", str(count), "--stage", str(folder)]
    done = subprocess.run(code, env=_environment(), capture_output=True, text=True, check=True)
    rows: list[list[str]] = json.loads(done.stdout)
    parts = [str(path) for path in sorted(folder.glob("part*.json"))]
    merge = [*GRADCHECK, "merge", *parts, "--output", str(folder / "merged.json")]
    process = subprocess.Popen(merge, env=_environment(), cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit("`gradcheck merge` failed")
    seconds = used.ru_utime + used.ru_stime
    rows.append([f"`merge` of {PARTS} reports", *_each(count, seconds, 0, used.ru_maxrss * 1024)])
    return rows


def _each(count: int, seconds: float, size: int = 0, memory: int = 0) -> list[str]:
    told = [f"{seconds / count * 1e6:.0f}"]
    return told + [f"{n / count:,.0f}" if n else "" for n in (size, memory)]


def _in_one_process(folder: Path, count: int) -> list[list[str]]:
    """All that a command does, one after the other."""
    from gradcheck.run import run, shut_down
    from gradcheck.spec import load

    rows: list[list[str]] = []

    def measure(what: str, work: Callable[[], Any], size: Callable[[], int] = lambda: 0) -> Any:
        held = _peak(afresh=True)
        begun = time.process_time()
        found = work()
        seconds = time.process_time() - begun
        rows.append([what, *_each(count, seconds, size(), _peak() - held)])
        return found

    paths = [str(folder / "specs")]
    cases = measure("specs are read", lambda: load(paths, max_cases=count).cases)
    checked = list(run(cases[:CHECKED], allow=(), root=str(folder), jobs=1))
    shut_down()
    results = [_under(checked[i % CHECKED], case) for i, case in enumerate(cases)]
    sent = measure("cases are sent", lambda: [pickle.dumps(b) for b in _batches(cases)])
    rows[-1][2] = f"{sum(map(len, sent)) / count:,.0f}"
    light = [dataclasses.replace(result, case=None) for result in results]
    came = [pickle.dumps(batch) for batch in _batches(light)]
    measure("results are received", lambda: [pickle.loads(b) for b in came])  # noqa: S301  (ours)
    rows[-1][2] = f"{sum(map(len, came)) / count:,.0f}"
    _run(folder, cases, results, measure)
    return rows


def _run(
    folder: Path, cases: Sequence[Case], results: Sequence[Result], measure: Callable[..., Any]
) -> None:
    from gradcheck.cache import Store
    from gradcheck.cli.outputs import Destination
    from gradcheck.cli.run_context import RunContext
    from gradcheck.cli.run_request import RunRequest
    from gradcheck.cli.session import execute
    from gradcheck.model import Plan
    from gradcheck.run import describe

    context = RunContext(root=folder, environment=describe())
    plan = Plan(tuple(cases), (), context.environment)
    cache = folder / ".gradcheck"

    def executed(*destinations: Destination, resume: bool = False) -> None:
        def stream(missing: Sequence[Case]) -> Generator[Result, None, None]:
            yield from results[len(results) - len(missing) :]

        request = RunRequest(destinations=destinations, resume=resume)
        execute(request, context, plan, Store(folder, warn=print), stream)

    plain = Destination("plain", Path(os.devnull))
    report = folder / "report.json"
    measure(
        "journal, history, plain report",
        lambda: executed(plain),
        lambda: sum((cache / name).stat().st_size for name in ("journal.jsonl", "history.json")),
    )
    shutil.rmtree(cache)
    measure(
        "the same with a JSON report",
        lambda: executed(Destination("json", report)),
        lambda: report.stat().st_size,
    )
    measure("`--resume` reads the journal", lambda: executed(plain, resume=True))
    _cut(report, folder)


def _cut(report: Path, folder: Path) -> None:
    """The report as several, of different cases."""
    whole = json.loads(report.read_text())
    results = whole["results"]
    for part in range(PARTS):
        whole["results"] = results[part::PARTS]
        (folder / f"part{part}.json").write_text(json.dumps(whole))


def _under(result: Result, case: Case) -> Result:
    return dataclasses.replace(result, id=case.id, case=case)


def _batches(items: Sequence[Any]) -> list[Sequence[Any]]:
    return [items[i : i + BATCH] for i in range(0, len(items), BATCH)]


def _of_requests(folder: Path) -> list[list[str]]:
    """What it costs the scheduler to pass a request on, and how many it does in a second."""
    from gradcheck.run.dask.loop_thread import LoopThread

    with dask_cluster(folder, 2, 4) as (address, processes):
        loop = LoopThread()
        wall, own, passed = loop.call(_requests(address, processes[0]), 600)
        loop.stop()
    return [
        ["passed on in a second", f"{REQUESTS / wall:,.0f}"],
        ["processor time of the scheduler", f"{passed / REQUESTS * 1e3:.2f} ms"],
        ["processor time of the command", f"{own / REQUESTS * 1e3:.2f} ms"],
    ]


async def _requests(address: str, scheduler: int) -> tuple[float, float, float]:
    import distributed

    async with distributed.Client(address, asynchronous=True, set_as_default=False) as client:
        await client.wait_for_workers(2, timeout=60)
        workers = list(await client.nthreads())
        request, reply = os.urandom(BATCH * 200), BATCH * 400

        async def speak(number: int, count: int) -> None:
            for i in range(count):
                await client.submit(
                    bytes.ljust,
                    request,
                    reply,
                    key=f"request-{number}-{i}",
                    workers=[workers[number % len(workers)]],
                    pure=False,
                )

        await asyncio.gather(*(speak(-1 - n, 2) for n in range(AT_ONCE)))
        before, own, begun = used(scheduler), time.process_time(), time.perf_counter()
        await asyncio.gather(*(speak(n, REQUESTS // AT_ONCE) for n in range(AT_ONCE)))
        wall = time.perf_counter() - begun
        return wall, time.process_time() - own, used(scheduler) - before


def _peak(*, afresh: bool = False) -> int:
    """The most that this process has held, in bytes; from now on, if `afresh`."""
    if afresh:
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text().splitlines()
    return int(next(x for x in status if x.startswith("VmHWM:")).split()[1]) * 1024


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


if __name__ == "__main__":
    main()
