"""The whole command under attack, as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from tests.cli.started import Started
from tests.hostile.attacks import attack, hostile
from tests.run.fakes import make_case
from tests.run.processes import descendants, gone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gradcheck.model import Case


def play(*names: str) -> int:
    """Run the command on cases of these names, in workers that do what a name says."""
    import gradcheck.run
    import gradcheck.spec
    from gradcheck.cli import main

    light = ("gradcheck.run.workers.worker", "tests.hostile.attacks")
    cases = tuple(_case(name) for name in names)
    loaded = SimpleNamespace(cases=cases, problems=())
    gradcheck.spec.load = lambda *_, **__: loaded  # type: ignore[assignment]
    gradcheck.run.check_with_tensorflow = attack
    gradcheck.run.run = partial(gradcheck.run.run, check=attack, preload=light)
    gradcheck.run.warm_up = partial(gradcheck.run.warm_up, light)
    return main(["run", ".", *OPTIONS, "--format", "json", "--output", "report.json"])


OPTIONS = ("--format", "plain", "-j2", "--timeout", "60")


def _case(name: str) -> Case:
    return make_case(name) if name.startswith("innocent") else hostile(name)


PLAY = "import sys; from tests.hostile.test_command_attacks import play; sys.exit(play(*{}))"


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Started]]:
    running: list[Started] = []
    yield running
    for command in running:
        command.clear_away()
    for path in tmp_path.glob("left-*"):
        pid = int(path.name.removeprefix("left-"))
        if not gone(pid):
            os.kill(pid, signal.SIGKILL)


def left_in(folder: Path) -> list[int]:
    return [int(path.name.removeprefix("left-")) for path in folder.glob("left-*")]


def test_what_hides_behind_a_killed_server_ends_with_the_command(
    started: list[Started], tmp_path: Path
) -> None:
    names = ("innocent-1", "leave-bare-and-kill-server", "innocent-2")
    started.append(Started(PLAY.format(names), folder=tmp_path))
    out, err = started[0].end()
    assert started[0].code == 1, out + err
    left = left_in(tmp_path)
    assert left
    assert all(gone(pid) for pid in left)
    report = json.loads((tmp_path / "report.json").read_text())
    verdicts = {r["id"].partition("::")[2]: r["verdict"] for r in report["results"]}
    assert verdicts == dict(zip(names, ("pass", "crashed", "pass"), strict=True))


def test_a_killed_command_takes_its_workers_along_though_the_server_is_stopped(
    started: list[Started], tmp_path: Path
) -> None:
    command = Started(PLAY.format(("stop-server-tell-and-hang",)), folder=tmp_path)
    started.append(command)
    while not left_in(tmp_path):
        assert command.process.poll() is None
        time.sleep(0.01)
    command.process.kill()
    command.end()
    assert all(gone(pid) for pid in left_in(tmp_path))


def test_a_killed_command_takes_a_server_along_that_is_stopped(
    started: list[Started], tmp_path: Path
) -> None:
    command = Started(PLAY.format(("innocent-1", "half-and-hang")), folder=tmp_path)
    started.append(command)
    command.read_until("innocent-1")
    server = next(pid for pid, text in descendants(command.pid) if "server_process" in text)
    os.kill(command.pid, signal.SIGSTOP)  # or it would replace the server
    os.kill(server, signal.SIGSTOP)
    os.kill(command.pid, signal.SIGKILL)
    command.end()
    try:
        assert gone(server)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(server, signal.SIGKILL)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_run_with_the_report_of_what_is_there(
    started: list[Started], tmp_path: Path, number: int, code: int
) -> None:
    # (Tests that were started by nohup would hand down that SIGHUP is ignored.)
    script = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); "
    command = Started(script + PLAY.format(("innocent-1", "half-and-hang")), folder=tmp_path)
    started.append(command)
    command.read_until("innocent-1")
    pids = command.processes(2)
    # Whoever ends a service sends both.
    for sent in (number, signal.SIGTERM, signal.SIGHUP):
        with contextlib.suppress(ProcessLookupError):
            os.kill(command.pid, sent)
        time.sleep(0.02)
    out, err = command.end()
    assert command.code == code, out + err
    assert "Traceback" not in out + err
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["summary"]["interrupted"]
    assert [r["verdict"] for r in report["results"]] == ["pass"]
    assert all(gone(pid) for pid in pids)


def test_a_command_that_ignores_a_signal_goes_on_to_do_so(
    started: list[Started], tmp_path: Path
) -> None:
    script = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); "
    names = ("innocent-1", "shout", "innocent-2")
    started.append(Started(script + PLAY.format(names), folder=tmp_path))
    started[0].read_until("innocent-1")
    os.kill(started[0].pid, signal.SIGHUP)
    started[0].end()
    assert started[0].code == 0


def test_few_files_are_named_as_what_they_are(started: list[Started], tmp_path: Path) -> None:
    script = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (11, 11)); "
    names = tuple(f"innocent-{n}" for n in range(9))
    started.append(Started(script + PLAY.format(names), folder=tmp_path))
    out, err = started[0].end()
    assert started[0].code == 3, out + err
    (line,) = [line for line in err.splitlines() if line.startswith("error: ")]
    assert "this shell allows 11 (`ulimit -n`)" in line
    assert "Traceback" not in out + err
