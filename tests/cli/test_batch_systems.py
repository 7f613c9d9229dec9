"""The recipes of docs/clusters.md, run as plain processes with the variables of such jobs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.cli.conftest import without_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGE = Path(__file__).parents[2] / "docs/clusters.md"

SPECS = """\
cases:
  - {op: exp, inputs: {x: [3]}, seed: [1, 2, 3]}
  - {op: matmul, inputs: {a: [2, 3], b: [3, 2]}}
  - {expr: "tf.sqrt(x)", inputs: {x: {values: [1.0, 4.0]}}, gradient: {x: "x"}, name: wrong-claim}
"""

COUNT = 2


def recipe(language: str) -> str:
    """The only code of that language on the page."""
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return str(found)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/a.yaml").write_text(SPECS)
    return tmp_path


def environment(**variables: str) -> dict[str, str]:
    """That of a job, in which the command is found."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, **variables}


def run_all(
    command: Sequence[str], project: Path, jobs: Sequence[Mapping[str, str]]
) -> list[tuple[int, str]]:
    """Run the jobs side by side: the exit code of each, and what it said."""
    started = [
        subprocess.Popen(
            command,
            cwd=project,
            env=environment(**job),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for job in jobs
    ]
    said = [process.communicate(timeout=300)[1] for process in started]
    return [(process.returncode, text) for process, text in zip(started, said, strict=True)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What one command finds."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "specs").mkdir()
    (folder / "specs/a.yaml").write_text(SPECS)
    return gradcheck(folder, "run", "--format", "json", "-j", "1")[1]


def merged(project: Path, folder: Path, whole: str) -> None:
    """What the shards come to, which must be what one command finds."""
    report = project / "report.json"
    paths = sorted(str(path) for path in folder.glob("*.json"))
    assert len(paths) == COUNT
    # (Exit code 1: the wrong claim is in one of them.)
    assert gradcheck(project, "merge", *paths, "--output", str(report)) == (1, "")
    told = json.loads(report.read_text())
    assert without_seconds(told) == without_seconds(json.loads(whole))


def gradcheck(project: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "gradcheck", *arguments],
        cwd=project,
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout


def test_a_slurm_array(project: Path, whole: str) -> None:
    (project / "job.sh").write_text(recipe("bash"))
    jobs = [
        {
            "SLURM_ARRAY_TASK_ID": str(index),
            "SLURM_ARRAY_TASK_COUNT": str(COUNT),
            "SLURM_CPUS_PER_TASK": "1",
            "SLURM_MEM_PER_NODE": "4096",
        }
        for index in range(1, COUNT + 1)
    ]
    first = run_all(["bash", "job.sh"], project, jobs)
    assert first == [(0, "note: there is no run to resume: all cases run\n")] * COUNT
    # One that is run again takes over what it had, though they share a folder.
    [(code, said)] = run_all(["bash", "job.sh"], project, jobs[:1])
    assert code == 0
    assert re.fullmatch(r"note: (\d) of \1 results come from the run before\n", said)
    merged(project, project / "shards", whole)


def test_an_indexed_job_of_kubernetes(project: Path, whole: str) -> None:
    job = yaml.safe_load(recipe("yaml"))["spec"]
    assert job["completionMode"] == "Indexed"
    [container] = job["template"]["spec"]["containers"]
    assert {"name": "SHARDS", "value": str(job["completions"])} in container["env"]
    # The volume is a folder here.
    (project / "volume").mkdir()
    args = [text.replace("/shards/", f"{project}/volume/") for text in container["args"]]
    jobs = [
        {"JOB_COMPLETION_INDEX": str(index), "SHARDS": str(COUNT), "JOBS": "1"}
        for index in range(COUNT)
    ]
    # (Pods share no folder; here they do, and have a journal each.)
    assert run_all([*container["command"], *args], project, jobs) == [(0, "")] * COUNT
    merged(project, project / "volume", whole)
