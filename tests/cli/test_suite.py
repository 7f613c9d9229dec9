"""A part of the project's suite, with real workers that are killed at random."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from gradcheck.run.shard import cut
from gradcheck.spec import load
from gradcheck.spec.settings import read_settings
from tests.cli.conftest import without_seconds
from tests.run.processes import descendants

ROOT = Path(__file__).parents[2]

FUNCTIONS_OF_KERAS = ("activations", "losses", "ops_*")
"""Specs of functions that keep nothing from one call to the next, as those of specs/nn."""

PARTS = (
    "specs/guide",
    "specs/nn",
    *(
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "specs/keras").glob("*.yaml"))
        if not any(path.match(f"{name}.yaml") for name in FUNCTIONS_OF_KERAS)
    ),
)

PART = (1, 3)
"""Of these cases one in three is run: those of the others are no other to who is killed."""

KILLS = 8
"""So few that they are over before what they struck runs alone, which is left in peace: who is
killed there again is to blame."""


def suite(folder: Path, name: str, *options: str) -> subprocess.Popen[bytes]:
    """The suite in a folder of its own, so that the journal of this checkout is left alone."""
    for part in ("specs", "pyproject.toml"):
        if not (folder / part).exists():
            (folder / part).symlink_to(ROOT / part)
    command = [sys.executable, "-m", "gradcheck", "run", *PARTS]
    command += ["--shard", "{}/{}".format(*PART)]
    command += ["--format", "json", "--output", name, *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)


def workers(command: subprocess.Popen[bytes]) -> list[int]:
    """The processes below the fork server."""
    servers = [pid for pid, text in descendants(command.pid) if "server_process" in text]
    return [pid for server in servers for pid, _ in descendants(server)]


def test_every_case_is_accounted_for_while_workers_are_killed(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    command = suite(tmp_path, "killed.json", "-j2")
    killed = 0
    while command.poll() is None:
        for pid in workers(command):
            if rng.random() < 0.1 and killed < KILLS:
                with contextlib.suppress(ProcessLookupError):  # it may have gone since
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
        time.sleep(0.1)
    assert killed == KILLS
    told = json.loads((tmp_path / "killed.json").read_text())["results"]
    cases = load([str(ROOT / part) for part in PARTS], allow=read_settings(ROOT).allow).cases
    part, _ = cut(cases, *PART, lambda _: None)
    assert [r["id"].partition("specs/")[2] for r in told] == [
        case.id.partition("specs/")[2] for case in part
    ]
    # What the kills cost was run again, and the report is that of a quiet run, byte for byte.
    # (In another folder: here it is known how long each case takes, and cut by that.)
    quiet_folder = tmp_path / "quiet"
    quiet_folder.mkdir()
    suite(quiet_folder, "quiet.json", "-j1").wait()
    quiet = json.loads((quiet_folder / "quiet.json").read_text())["results"]
    assert without_seconds(told) == without_seconds(quiet)
