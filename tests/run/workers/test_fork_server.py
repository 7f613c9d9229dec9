from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from gradcheck.run.workers.server_process import READY, STATUS
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
    assert len(pids.split()) >= 2  # the fork server and a worker
    assert all(gone(int(pid)) for pid in pids.split())


def test_a_command_that_ends_while_tensorflow_loads_leaves_nothing(tmp_path: Path) -> None:
    script = tmp_path / "hasty.py"
    script.write_text(
        "import os\n"
        "from gradcheck.run import warm_up\n"
        "warm_up()\n"
        "from tests.run.processes import descendants\n"
        "print(*(pid for pid, text in descendants(os.getpid()) if 'server_process' in text))\n"
    )
    done = python(script)
    assert (done.returncode, done.stderr) == (0, "")
    assert not Path(f"/proc/{int(done.stdout)}").exists()


# Room for the two ends of its own that the server opens, and for what comes with one request.
CROWDED = """
import ctypes, os, resource, sys
from gradcheck.run.workers import worker
from gradcheck.run.workers.server_process import DESCRIPTORS, main
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
taken = []
while True:
    try:
        taken.append(os.dup(0))
    except OSError:
        break
for descriptor in taken[-2 - DESCRIPTORS:]:
    os.close(descriptor)
main(int(sys.argv[1]), ())
"""


def test_a_server_without_room_for_more_files_lives_on() -> None:
    parent, theirs = socket.socketpair()
    parent.settimeout(60)
    command = [sys.executable, "-c", CROWDED, str(theirs.fileno())]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment) as server, parent:
        theirs.close()
        assert parent.recv(1) == READY
        for _ in range(2):
            line, status = socket.socketpair()
            channel, workers = socket.socketpair()
            line.settimeout(60)
            with line, status, channel, workers, Path(os.devnull).open("w") as output:
                descriptors = [status.fileno(), workers.fileno(), output.fileno()]
                socket.send_fds(parent, [b"w"], descriptors)
                status.close()
                workers.close()
                told = line.recv(STATUS.size)
                assert told, "the server is gone"
                assert STATUS.unpack(told)[0] > 0
                channel.close()
                assert line.recv(STATUS.size), "the end of the worker is not told"
        parent.close()
        assert server.wait(60) == 0
