"""Start-up, throughput, memory and the time from edit to verdict of `gradcheck run`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import IO, TYPE_CHECKING, Any

from gradcheck.cache import Store
from gradcheck.cli.outputs import Destination
from gradcheck.cli.run_context import RunContext
from gradcheck.cli.run_request import RunRequest
from gradcheck.cli.session import execute
from gradcheck.model import Plan
from gradcheck.run import Pool, default_limit, describe, shut_down, warm_up
from gradcheck.run import run as run_cases
from gradcheck.run.workers.memory import held
from gradcheck.spec import load

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from gradcheck.model import Case, Result

OPS = ("exp", "sin", "tanh", "square", "sigmoid", "cos")
GRADCHECK = (sys.executable, "-u", "-m", "gradcheck")
SOURCE = "import tensorflow as tf\n\n\ndef f(x):\n    return tf.exp(x) + {}\n"
ROUNDS = 5
MIB = 2**20

MEMORY_COUNTS = (10, 500, 1_000, 2_000, 5_000)
"""After how many cases the table tells what a worker holds."""
LOOK_EVERY = 10
"""After how many cases it is looked at, to find the most that it ever held."""
MEMORY_MODES = {
    "eager": ["eager"],
    "a fifth XLA, a fifth graph": ["eager", "eager", "eager", "graph", "xla"],
}

MEMORY = """\
TensorFlow keeps what XLA compiled until its process ends: a worker that has grown by 256 MiB is
replaced, which is why it does not hold more and more."""

OUTSIDE = """\
A check is all that one case takes: drawing its inputs, the gradients, the verdict. Outside is what
else the workers' time goes to, waiting included, from the first case to the last line of the
report. The workers are warm; the start and the end of the command are not in it. The command itself
works beside them, on whatever processor is free. Each figure is the median of five."""


def run() -> str:
    """The figures of this machine, as a section of Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sections = [
            "## Execution",
            _start_up(folder),
            _commands(folder),
            _throughput(folder),
            _memory(folder),
            _watch(folder),
        ]
    return "\n\n".join(sections) + "\n"


def _start_up(folder: Path) -> str:
    """Both in turn, so that whatever else the machine does hits both."""
    suite(folder / "one", 1)
    imports, firsts = [], []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import tensorflow"], capture_output=True, check=True)
        imports.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        with _started(folder, "run", "one", "--format", "plain") as lines:
            next(line for line in lines if line.startswith("PASS"))
            firsts.append(time.perf_counter() - begun)
    ratio = median(first / bare for first, bare in zip(firsts, imports, strict=True))
    return _table(
        ["start-up, median of 5", "seconds"],
        ['`python -c "import tensorflow"`', f"{median(imports):.2f}"],
        ["`gradcheck run` to the first result", f"{median(firsts):.2f}"],
        ["ratio (goal: at most 1.25)", f"{ratio:.2f}"],
    )


def _commands(folder: Path) -> str:
    rows = []
    for command in ("--help", "ops", "schema", "validate one", "run one --collect-only"):
        times = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            with _started(folder, *command.split()) as lines:
                list(lines)
            times.append(time.perf_counter() - begun)
        rows.append([f"`gradcheck {command}`", f"{median(times):.2f}"])
    return _table(["without TensorFlow (goal: under 0.4)", "seconds"], *rows)


def _throughput(folder: Path) -> str:
    """Workers that are warm, and everything else that a run does: journal, history and report."""
    suite(folder / "thousand", 1_000)
    cases = load([str(folder / "thousand")]).cases
    rows = []
    for jobs in (1, 2):
        rounds = [_round(folder, cases, jobs) for _ in range(ROUNDS)]
        rates, outside, own = (median(column) for column in zip(*rounds, strict=True))
        rows.append([str(jobs), f"{rates:.0f}", f"{100 * outside:.1f} %", f"{100 * own:.1f} %"])
    table = _table(
        [
            "1,000 small cases: jobs",
            "cases per second",
            "time outside checks (goal: under 5 %)",
            "processor time of the command itself",
        ],
        *rows,
    )
    return f"{table}\n\n{OUTSIDE}"


def _round(folder: Path, cases: Sequence[Case], jobs: int) -> tuple[float, float, float]:
    """Cases per second, the share of the workers' time outside checks, that of the command."""
    request = RunRequest(destinations=(Destination("plain", Path(os.devnull)),))
    context = RunContext(root=folder, environment=describe())
    plan = Plan(tuple(cases), (), context.environment)
    limits: dict[str, Any] = {"jobs": jobs, "memory_limit": default_limit(jobs)}
    with Pool(allow=(), root=str(folder), **limits) as pool:
        for _ in range(3):
            list(pool.run(cases[: 50 * jobs]))
        inside: list[float] = []
        store = Store(folder, warn=lambda _: None)
        own = time.process_time()
        begun = time.perf_counter()
        execute(
            request,
            context,
            plan,
            store,
            lambda cases: _noted(pool.run(cases), inside),
        )
        wall = time.perf_counter() - begun
        own = time.process_time() - own
    shut_down()
    busy = wall * jobs
    return len(inside) / wall, 1 - sum(inside) / busy, own / busy


def _noted(results: Iterable[Result], seconds: list[float]) -> Generator[Result, None, None]:
    for result in results:
        seconds.append(result.seconds)
        yield result


def _memory(folder: Path) -> str:
    """One worker over 5,000 cases; where it is replaced, the new one is looked at."""
    rows = []
    for name, modes in MEMORY_MODES.items():
        suite(folder / name, MEMORY_COUNTS[-1], modes)
        cases = load([str(folder / name)]).cases
        warm_up()
        sizes: dict[int, int] = {}
        workers: set[int] = set()
        for number, _ in enumerate(run_cases(cases, allow=(), root=str(folder), jobs=1), 1):
            worker = _worker() if number % LOOK_EVERY == 0 else None
            if worker is not None:  # between two workers there is none
                workers.add(worker)
                sizes[number] = held(worker) // MIB
        shut_down()
        told = [str(sizes.get(count, "–")) for count in MEMORY_COUNTS]
        rows.append([name, *told, str(max(sizes.values())), str(len(workers))])
    counts = [f"{count:,}" for count in MEMORY_COUNTS]
    header = ["MiB held by the worker after cases", *counts, "at most", "workers"]
    return f"{_table(header, *rows)}\n\n{MEMORY}"


def _watch(folder: Path) -> str:
    project = folder / "watched"
    (project / "specs").mkdir(parents=True)
    spec, source = project / "specs" / "a.yaml", project / "mine.py"
    (project / "pyproject.toml").write_text('[tool.gradcheck]\nallow = ["mine"]\n')
    spec.write_text("op: exp\ninputs: {x: [3]}\n")
    source.write_text(SOURCE.format(0))
    (project / "specs" / "b.yaml").write_text("function: mine:f\ninputs: {x: [3]}\n")
    edits, saves = [], []
    with _started(project, "run", "specs", "--watch", "--format", "plain") as lines:
        _until(lines, "watching")
        for seed in range(1, ROUNDS + 1):
            begun = time.perf_counter()
            spec.write_text(f"op: exp\nseed: {seed}\ninputs: {{x: [3]}}\n")
            _until(lines, "a.yaml::")
            edits.append(time.perf_counter() - begun)
            _until(lines, "watching")
            begun = time.perf_counter()
            source.write_text(
                f"import tensorflow as tf\ndef f(x):\n    return tf.exp(x) + {seed}\n"
            )
            _until(lines, "b.yaml::")
            saves.append(time.perf_counter() - begun)
            _until(lines, "watching")
    return _table(
        ["`--watch`, from save to verdict (goal: under 1)", "seconds"],
        ["a spec", f"{median(edits):.2f}"],
        ["a function of the user's", f"{median(saves):.2f}"],
    )


def suite(folder: Path, cases: int, modes: Sequence[str] = ("eager",)) -> None:
    """Small cases, spread over a few ops."""
    folder.mkdir()
    for number, op in enumerate(OPS[:cases]):
        lines = [f"op: {op}", "cases:"]
        for case in range(number, cases, len(OPS)):
            mode = modes[case // len(OPS) % len(modes)]
            lines.append(f"  - {{name: c{case}, seed: {case}, mode: {mode}, inputs: {{x: [3]}}}}")
        (folder / f"{op}.yaml").write_text("\n".join(lines) + "\n")


@contextmanager
def _started(folder: Path, *arguments: str) -> Iterator[IO[str]]:
    """The command, and what it prints; it is ended when that is no longer wanted."""
    process = subprocess.Popen(
        [*GRADCHECK, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout
    finally:
        # Not Ctrl-C: whoever starts this in the background has that ignored.
        process.terminate()
        process.communicate()


def _until(lines: IO[str], text: str) -> None:
    if not any(text in line for line in lines):
        raise RuntimeError(f"the command ended before it said {text!r}")


def _worker() -> int | None:
    """The worker: the only process below the fork server, which is below this one."""
    for server in _children(os.getpid()):
        for worker in _children(server):
            return worker
    return None


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def _table(header: list[str], *rows: list[str]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    print(run())
