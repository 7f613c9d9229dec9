"""The command as a process of its own, with real workers: Ctrl-C, a kill, a closed pipe."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from gradcheck.cli.app import CLOSED_PIPE
from tests.run.fakes import make_case, perform
from tests.run.processes import descendants, gone

ROOT = Path(__file__).parents[2]


def play(*names: str, options: tuple[str, ...] = ()) -> int:
    """Run the command on cases of these names, in workers that do what a name says."""
    import gradcheck.run
    import gradcheck.spec
    from gradcheck.cli import main

    light = ("gradcheck.run.workers.worker",)
    cases = tuple(make_case(name) for name in names)
    loaded = SimpleNamespace(cases=cases, problems=())
    gradcheck.spec.load = lambda *_, **__: loaded  # type: ignore[assignment]
    gradcheck.run.run = partial(gradcheck.run.run, check=perform, preload=light)
    gradcheck.run.warm_up = partial(gradcheck.run.warm_up, light)
    return main(["run", ".", "--format", "plain", "-j2", *options])


def start(
    folder: Path, *names: str, stdout: int = subprocess.PIPE, options: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    script = (
        "import sys; from tests.cli.test_process import play; "
        f"sys.exit(play(*{names}, options={options}))"
    )
    return subprocess.Popen(
        [sys.executable, "-uc", script],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )


def processes_of(command: subprocess.Popen[str], count: int) -> list[int]:
    """The command's processes, as soon as there are so many."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        pids = [pid for pid, _ in descendants(command.pid)]
        if len(pids) >= count:
            return pids
        time.sleep(0.01)
    raise AssertionError(f"only {descendants(command.pid)}")


def read_until(command: subprocess.Popen[str], text: str) -> str:
    """What the command prints, up to the line that holds the text."""
    assert command.stdout is not None
    lines = []
    for line in command.stdout:
        lines.append(line)
        if text in line:
            return "".join(lines)
    raise AssertionError("".join(lines))


def test_ctrl_c_keeps_the_results_so_far_and_leaves_no_process(tmp_path: Path) -> None:
    command = start(tmp_path, "pass-1", "hang-1", "hang-2", "pass-2")
    read_until(command, "pass-1")
    pids = processes_of(command, 4)  # the fork server, its helper, two workers
    os.killpg(command.pid, signal.SIGINT)
    out, err = command.communicate()
    assert command.returncode == 130
    assert "Traceback" not in out + err
    assert "1 pass" in out
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize("children", [1, 2])
def test_ctrl_c_while_things_load_is_quiet(tmp_path: Path, children: int) -> None:
    # Nothing is light here: TensorFlow is what loads, in a process that has just been started.
    (tmp_path / "a.yaml").write_text("op: exp\ninputs: {x: [3]}\n")
    # The way into our own code is Python's business.
    script = "import sys; from gradcheck.cli import main; print(flush=True); sys.exit(main())"
    command = subprocess.Popen(
        [sys.executable, "-c", script, "run", "a.yaml"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    read_until(command, "\n")
    pids = processes_of(command, children)
    os.killpg(command.pid, signal.SIGINT)
    out, err = command.communicate()
    assert command.returncode == 130
    assert "Traceback" not in out + err
    assert all(gone(pid) for pid in pids)


def test_a_killed_command_takes_its_hanging_workers_along(tmp_path: Path) -> None:
    command = start(tmp_path, "hang-1", "hang-2")
    pids = processes_of(command, 4)
    command.kill()
    command.communicate()
    assert all(gone(pid) for pid in pids)


def test_a_reader_that_leaves_ends_the_run_quietly(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = start(tmp_path, "pass-1", "hang-1", stdout=writer)
    os.close(writer)
    _, err = command.communicate()
    assert err == ""
    assert command.returncode == CLOSED_PIPE


def test_a_full_disk_is_said_and_nothing_else_is_lost(tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    files = ("--format", "json", "--output", "good.json", "--junitxml", "/dev/full")
    command = start(tmp_path, "pass-1", "pass-2", stdout=full, options=files)
    os.close(full)
    _, err = command.communicate()
    assert sorted(err.splitlines()) == [
        "error: the report to the screen is lost: No space left on device",
        "the report to /dev/full is lost: No space left on device",
    ]
    assert command.returncode == 3
    assert len(json.loads((tmp_path / "good.json").read_text())["results"]) == 2


def test_a_run_that_was_killed_is_picked_up(tmp_path: Path) -> None:
    names = ("pass-1", "pass-2", "hang-3")
    command = start(tmp_path, *names)
    for _ in range(2):
        read_until(command, "PASS")
    command.kill()
    command.communicate()
    ended = start(tmp_path, *names, options=("--resume", "--timeout", "0.5"))
    out, err = ended.communicate()
    assert err == "note: 2 of 3 results come from the run before\n"
    assert "3 cases: 2 pass, 1 timeout" in out
    failed = start(tmp_path, *names, options=("--lf", "--collect-only"))
    assert failed.communicate()[0] == "specs/a.yaml::hang-3\n\n1 case\n"
