from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from typing import TYPE_CHECKING

import pytest

from gradcheck.cli.app import CLOSED_PIPE, COMMANDS

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tests.cli.conftest import Gradcheck


@pytest.fixture(autouse=True)
def _width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
def test_help(gradcheck: Gradcheck, snapshot: SnapshotAssertion, command: tuple[str, ...]) -> None:
    said = gradcheck(*command, "--help")
    assert said.code == 0
    assert said.out == snapshot
    assert gradcheck(*command, "-h") == said


def test_version(gradcheck: Gradcheck) -> None:
    assert gradcheck("--version").out == f"gradcheck {metadata.version('gradcheck')}\n"


@pytest.mark.parametrize("arguments", [("rnu",), ("frobnicate",), ("a.yaml::x",), ("--hlep",)])
def test_an_unknown_command_gets_a_hint(
    gradcheck: Gradcheck, snapshot: SnapshotAssertion, arguments: tuple[str, ...]
) -> None:
    said = gradcheck(*arguments)
    assert said.code == 2
    assert said.err == snapshot


def test_no_command_shows_the_help(gradcheck: Gradcheck) -> None:
    said = gradcheck()
    assert said.code == 2
    assert "Commands:" in said.err


# What the light commands may not import: it would make them slow.
HEAVY = ("tensorflow", "numpy", "rich", "yaml", "multiprocessing")


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from gradcheck.cli import main\n"
        "main(['--help']); main(['run', '--help'])\n"
        f"print([name for name in {HEAVY} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == b"[]"


@pytest.mark.parametrize("command", [["ops"], ["schema"]])
def test_a_closed_pipe_gives_no_traceback(command: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "gradcheck", *command],
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == CLOSED_PIPE
