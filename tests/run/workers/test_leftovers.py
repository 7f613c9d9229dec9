"""What a worker sees of its cases' leavings; each time in a process that has none to begin with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

BEGIN = """
import os, subprocess, threading
from gradcheck.run.workers.leftovers import Leftovers
leftovers = Leftovers()
"""


def told(script: str) -> list[str]:
    """What the script prints, line by line."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout.splitlines()


def test_a_clean_process_has_none() -> None:
    script = """
leftovers.look(idle=True)
print(leftovers.unclean, leftovers.copied, leftovers.held > 2**20)
"""
    assert told(script) == ["False False True"]


def test_a_thread_is_seen_after_its_case_and_not_forgotten() -> None:
    script = """
end = threading.Event()
thread = threading.Thread(target=end.wait)
thread.start()
leftovers.look(idle=False)
print(leftovers.unclean)
end.set()
thread.join()
leftovers.look(idle=False)
print(leftovers.unclean)
"""
    assert told(script) == ["True", "True"]


def test_a_process_is_seen_when_there_is_time() -> None:
    script = """
child = subprocess.Popen(["sleep", "60"])
leftovers._next_look = float("inf")  # just now it was looked at
leftovers.look(idle=False)
print(leftovers.unclean, leftovers.held)
leftovers.look(idle=True)
print(leftovers.unclean)
child.kill()
"""
    assert told(script) == ["False None", "True"]


def test_a_copy_knows_that_it_is_one() -> None:
    script = """
child = os.fork()
if not child:
    os._exit(7 if leftovers.copied else 0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), leftovers.copied)
"""
    assert told(script) == ["7 False"]
