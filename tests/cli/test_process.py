"""The command as a process of its own, with real workers: Ctrl-C, a kill, a closed pipe."""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Protocol

import pytest

from gradcheck.cli.app import CLOSED_PIPE
from tests.cli.started import Started
from tests.run.fakes import make_case, perform
from tests.run.processes import gone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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


PLAY = "import sys; from tests.cli.test_process import play; sys.exit(play(*{}, options={}))"


class Start(Protocol):
    """Starts the command on cases of these names."""

    def __call__(
        self, *names: str, stdout: int = subprocess.PIPE, options: tuple[str, ...] = ()
    ) -> Started: ...


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[Started] = []

    def start(*names: str, stdout: int = subprocess.PIPE, options: tuple[str, ...] = ()) -> Started:
        running.append(Started(PLAY.format(names, options), folder=tmp_path, stdout=stdout))
        return running[-1]

    yield start
    for command in running:
        command.clear_away()


def test_ctrl_c_keeps_the_results_so_far_and_leaves_no_process(start: Start) -> None:
    command = start("pass-1", "hang-1", "hang-2", "pass-2")
    command.read_until("pass-1")
    pids = command.processes(3)  # the fork server, two workers
    command.press_ctrl_c()
    out, err = command.end()
    assert command.code == 130
    assert "Traceback" not in out + err
    assert "1 pass" in out
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize("children", [1])
def test_ctrl_c_while_things_load_is_quiet(tmp_path: Path, children: int) -> None:
    # Nothing is light here: TensorFlow is what loads, in a process that has just been started.
    (tmp_path / "a.yaml").write_text("op: exp\ninputs: {x: [3]}\n")
    # The way into our own code is Python's business.
    script = "import sys; from gradcheck.cli import main; print(flush=True); sys.exit(main())"
    command = Started(script, "run", "a.yaml", folder=tmp_path)
    try:
        command.read_until("\n")
        pids = command.processes(children)
        command.press_ctrl_c()
        out, err = command.end()
    finally:
        command.clear_away()
    assert command.code == 130, err
    assert "Traceback" not in out + err
    assert all(gone(pid) for pid in pids)


def test_a_killed_command_takes_its_hanging_workers_along(start: Start) -> None:
    command = start("hang-1", "hang-2")
    pids = command.processes(3)
    command.process.kill()
    command.end()
    assert all(gone(pid) for pid in pids)


def test_a_reader_that_leaves_ends_the_run_quietly(start: Start) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = start("pass-1", "hang-1", stdout=writer)
    os.close(writer)
    _, err = command.end()
    assert err == ""
    assert command.code == CLOSED_PIPE


def test_a_full_disk_is_said_and_nothing_else_is_lost(start: Start, tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    files = ("--format", "json", "--output", "good.json", "--junitxml", "/dev/full")
    command = start("pass-1", "pass-2", stdout=full, options=files)
    os.close(full)
    _, err = command.end()
    assert sorted(err.splitlines()) == [
        "error: the report to the screen is lost: No space left on device",
        "the report to /dev/full is lost: No space left on device",
    ]
    assert command.code == 3
    assert len(json.loads((tmp_path / "good.json").read_text())["results"]) == 2


def test_a_run_that_was_killed_is_picked_up(start: Start) -> None:
    names = ("pass-1", "pass-2", "hang-3")
    command = start(*names)
    for _ in range(2):
        command.read_until("PASS")
    command.process.kill()
    command.end()
    ended = start(*names, options=("--resume", "--timeout", "0.5"))
    out, err = ended.end()
    assert err == "note: 2 of 3 results come from the run before\n"
    assert "3 cases: 2 pass, 1 timeout" in out
    failed = start(*names, options=("--lf", "--collect-only"))
    assert failed.end()[0] == "specs/a.yaml::hang-3\n\n1 case\n"
