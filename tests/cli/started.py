"""A program of the tests in a process of its own, for which nobody waits for ever."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.run.processes import descendants

ROOT = Path(__file__).parents[2]

LIMIT = 120.0
"""Seconds for whatever is waited for: on a busy machine TensorFlow alone may load for twenty."""

# A shell without job control lets what it starts in the background ignore Ctrl-C, and so do the
# processes of pytest-xdist; whoever is started by them inherits that.
_HEAR_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "


class Started:
    """A script that runs as the leader of its own group, hears Ctrl-C and finds our packages."""

    def __init__(
        self,
        script: str,
        *arguments: str,
        folder: Path,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-uc", _HEAR_CTRL_C + script, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        self.pid = self.process.pid
        self._unread = b""

    def read_until(self, text: str) -> str:
        """What the program prints, up to the line that holds the text."""
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        deadline = time.monotonic() + LIMIT
        lines: list[str] = []
        while True:
            line, newline, rest = self._unread.partition(b"\n")
            if newline:
                self._unread = rest
                lines.append(f"{line.decode(errors='replace')}\n")
                if text in lines[-1]:
                    return "".join(lines)
                continue
            ready, _, _ = select.select([descriptor], [], [], max(0, deadline - time.monotonic()))
            data = os.read(descriptor, 65_536) if ready else b""
            if not data:
                why = "it ended" if ready else f"no more came in {LIMIT:g} s"
                raise AssertionError(f"no {text!r}, and {why}: {''.join(lines)}{line!r}")
            self._unread += data

    def processes(self, count: int) -> list[int]:
        """Its processes, as soon as there are so many."""
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            pids = [pid for pid, _ in descendants(self.pid)]
            if len(pids) >= count:
                return pids
            time.sleep(0.01)
        raise AssertionError(f"only {descendants(self.pid)}")

    def press_ctrl_c(self) -> None:
        """As a terminal does it: to the whole group."""
        os.killpg(self.pid, signal.SIGINT)

    def end(self) -> tuple[str, str]:
        """What it still prints until it ends, on stdout and on stderr."""
        try:
            out, err = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired as error:
            self.clear_away()
            raise AssertionError(f"it did not end: {error.stdout!r} {error.stderr!r}") from None
        return (self._unread + (out or b"")).decode(errors="replace"), (err or b"").decode(
            errors="replace"
        )

    @property
    def code(self) -> int | None:
        """Its exit code, when it has ended."""
        return self.process.returncode

    def clear_away(self) -> None:
        """End it with all of its group, if it still runs, and close its pipes."""
        if self.process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
            self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
