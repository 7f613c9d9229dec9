"""`gradcheck run --dask` as a user has it: real specs, real checks, a real cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import without_seconds
from tests.run.dask.clusters import DaskProcesses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("distributed")

GRADCHECK = (sys.executable, "-u", "-m", "gradcheck", "run")

SPECS = """\
cases:
  - {op: exp, inputs: {x: [3]}, dtype: [float64, float32]}
  - {op: matmul, inputs: {a: [2, 3], b: [3, 2]}, seed: [1, 2, 3, 4]}
  - {op: relu, inputs: {features: {values: [-1.0, 0.0, 2.0]}}, expect: kink}
  - {function: "mine:scaled", inputs: {x: [2]}}
  - {function: "mine:wrong", inputs: {x: [2]}, expect: mismatch, reason: planted}
"""

MINE = """\
import os
import time
from pathlib import Path

import tensorflow as tf


def scaled(x):
    return x * float(Path("factor.txt").read_text())


def patient(x):
    while not os.path.exists("go"):
        time.sleep(0.05)
    return x * 2.0


@tf.custom_gradient
def wrong(x):
    return x * x, lambda upstream: upstream * 3.0 * x
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "specs").mkdir(parents=True)
    (folder / "specs/a.yaml").write_text(SPECS)
    (folder / "mine.py").write_text(MINE)
    (folder / "factor.txt").write_text("3.0")
    (folder / "pyproject.toml").write_text('[tool.gradcheck]\nallow = ["mine"]\n')
    return folder


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[DaskProcesses]:
    """Two workers, which are elsewhere."""
    (tmp_path / "dask").mkdir()
    with DaskProcesses(tmp_path / "dask") as processes:
        processes.add_worker("--nworkers", "2", "--nthreads", "1", cwd=tmp_path / "dask")
        yield processes


def report(project: Path, *options: str) -> Any:
    done = subprocess.run(
        [*GRADCHECK, "--format", "json", *options],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return without_seconds(json.loads(done.stdout))


def test_the_report_is_that_of_this_machine(project: Path, cluster: DaskProcesses) -> None:
    here = report(project, "-j", "2")
    there = report(project, "--dask", cluster.address)
    assert len(here["results"]) == 9
    assert there == here


def test_a_lost_scheduler_is_one_sentence_and_the_run_is_picked_up_here(
    project: Path, cluster: DaskProcesses
) -> None:
    (project / "specs/b.yaml").write_text("{function: 'mine:patient', inputs: {x: [2]}}\n")
    process = subprocess.Popen(
        [*GRADCHECK, "-v", "--format", "plain", "--dask", cluster.address],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = 0
    for line in process.stdout:
        told += "specs/a.yaml::" in line
        if told == 9:
            break
    os.kill(cluster.scheduler.pid, signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 3
    assert "interrupted" in out
    [line] = err.splitlines()
    assert line.startswith("error: the ")
    assert line.endswith("; --resume runs what is missing, with or without --dask")
    (project / "go").touch()
    done = subprocess.run(
        [*GRADCHECK, "--resume", "--format", "json"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stderr == "note: 9 of 10 results come from the run before\n"
    assert done.returncode == 0
    assert len(json.loads(done.stdout)["results"]) == 10
