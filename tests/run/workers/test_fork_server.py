from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.run.processes import gone

ROOT = Path(__file__).parents[3]

# A whole command in small: it must work as an unguarded script, leave TensorFlow out of its own
# process, keep the screen clean and let no process outlive it.
SCRIPT = """
import os, sys
from gradcheck.run import run, warm_up
warm_up()
from tests.run.fakes import differentiate, make_case
from tests.run.processes import descendants
stream = run([make_case("a"), make_case("b")], allow=(), root=".", check=differentiate, jobs=2)
print(next(stream).message)
print(*(pid for pid, _ in descendants(os.getpid())))
print(next(stream).message)
print("tensorflow" in sys.modules)
"""


def python(script: Path, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, cwd=folder
    )


def test_workers_have_tensorflow_and_the_command_has_not(tmp_path: Path) -> None:
    script = tmp_path / "unguarded.py"
    script.write_text(SCRIPT)
    # What lies in the current folder must not be taken for the real thing.
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("raise RuntimeError('the wrong one')")
    done = python(script, tmp_path)
    assert done.stderr == ""
    first, pids, second, imported = done.stdout.splitlines()
    assert (first, second, imported) == ("4.0, preloaded: True",) * 2 + ("False",)
    assert len(pids.split()) >= 3  # the fork server, its helper and a worker
    assert all(gone(int(pid)) for pid in pids.split())


def test_a_command_that_ends_while_tensorflow_loads_leaves_nothing(tmp_path: Path) -> None:
    script = tmp_path / "hasty.py"
    script.write_text(
        "import os\n"
        "from gradcheck.run import warm_up\n"
        "warm_up()\n"
        "from tests.run.processes import descendants\n"
        "print(*(pid for pid, text in descendants(os.getpid()) if 'forkserver' in text))\n"
    )
    done = python(script)
    assert (done.returncode, done.stderr) == (0, "")
    assert not Path(f"/proc/{int(done.stdout)}").exists()
