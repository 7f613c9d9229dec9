"""Workers that all die in their first case: it is not the cases, but TensorFlow on this machine."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from gradcheck.model import Stage, Verdict
from gradcheck.run.workers.crash_message import death_message
from gradcheck.run.workers.worker_process import WorkersUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcheck.model import Result

ASKED_AFTER = 3
"""After how many deaths, and not a single result, the question is asked: it costs as much as
TensorFlow takes to load."""

PROBE_SECONDS = 120.0
"""Seconds for plain TensorFlow to make a constant: as a rule it takes four."""

PLAIN = "import tensorflow as tf; tf.constant(1.0)"


class FirstDeaths:
    """Keeps the first deaths of a run back until it is known whether TensorFlow works at all."""

    def __init__(self) -> None:
        self._kept: list[Result] = []
        self._suspects = 0
        """Deaths that have no result, because their cases are to run again."""
        self._sound = False
        """Whether some worker has given a result, or plain TensorFlow was seen to work."""

    def told(self, results: Iterable[Result], *, suspects: int, answered: bool) -> list[Result]:
        """What can be told of these results; raises WorkersUnavailableError where nothing works.

        Without it `test_a_tensorflow_that_kills_every_worker_is_one_sentence` fails.
        """
        self._kept += results
        self._sound = self._sound or answered
        self._suspects += suspects
        deaths = self._suspects + sum(map(_is_death, self._kept))
        if not self._sound and deaths >= ASKED_AFTER:
            _must_work(deaths)
            self._sound = True
        return self.release() if self._sound or not deaths else []

    def release(self) -> list[Result]:
        """What was kept back."""
        kept, self._kept = self._kept, []
        return kept


def _is_death(result: Result) -> bool:
    return result.decided_by is Stage.WORKER and result.verdict is Verdict.CRASHED


def _must_work(deaths: int) -> None:
    """Ask plain TensorFlow, in a Python of its own."""
    try:
        done = subprocess.run(  # noqa: S603  (our own text)
            [sys.executable, "-P", "-c", PLAIN],
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=False,
        )
        if done.returncode == 0:
            return
        how = death_message(done.returncode).removeprefix("the worker process ")
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        how += f" ({last[0][:300]})" if last and done.returncode > 0 else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        how = f"did not end: {type(error).__name__}"
    raise WorkersUnavailableError(
        f"the first {deaths} workers died in their first case, and so does plain TensorFlow: "
        f'`python -c "{PLAIN}"` {how}. Is TensorFlow installed for this machine and with a '
        "numpy that it knows?"
    )
