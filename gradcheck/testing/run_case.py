"""A case of a spec inside a run of pytest: in its process, or in a worker of gradcheck's own."""

from __future__ import annotations

import contextlib
import logging
import os
import random
import warnings
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model import Case, Result
    from gradcheck.run import Pool
    from gradcheck.spec.settings import Settings


class Runner(Protocol):
    """Turns cases into results, one at a time."""

    def prepare(self) -> None:
        """Load what all cases need; what that takes is no case's own time."""

    def run(self, case: Case) -> Result:
        """Check one case."""

    def close(self) -> None:
        """End what was started."""


class Here:
    """Checks cases in this process: the fastest, and a crash of one is the end of all."""

    def __init__(self, settings: Settings) -> None:
        self._allow, self._root = settings.allow, str(settings.root)

    def prepare(self) -> None:
        """Load TensorFlow, without its notes, and what checks with it."""
        from gradcheck.explainer.loading import load_quietly

        with _usual_warnings():
            load_quietly()
            import gradcheck.checker  # noqa: F401  (loaded for its effect)

    def run(self, case: Case) -> Result:
        """Check one case; what it says is what the command would say."""
        from gradcheck.checker import check_case
        from gradcheck.run.workers.around_case import outcome_of

        with _usual_warnings(), _quiet_log(), _seeded(case.seed):
            # (`pytest.skip` in a function is an error of the case: nothing was looked at.)
            return outcome_of(
                case,
                lambda: check_case(case, allow=self._allow, root=self._root),
                passing=(KeyboardInterrupt, pytest.exit.Exception),
            )

    def close(self) -> None:
        """Nothing was started."""


class Isolated:
    """Checks each case in a worker process, as the command does: a crash costs one case."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool: Pool | None = None

    def prepare(self) -> None:
        """Let TensorFlow load in the background."""
        from gradcheck.run import Pool, warm_up
        from gradcheck.run.case_time import DEFAULT_TIMEOUT

        if self._pool is None:
            memory_limit = self._memory_limit()
            warm_up()
            self._pool = Pool(
                allow=self._settings.allow,
                root=str(self._settings.root),
                jobs=1,
                timeout=self._settings.timeout or DEFAULT_TIMEOUT,
                memory_limit=memory_limit,
            )

    def _memory_limit(self) -> int | None:
        """What the project says, else a share of the machine for each process of xdist."""
        from gradcheck.run import default_limit, parse_size

        asked = self._settings.memory_limit
        if asked is not None:
            return parse_size(asked, self._settings.place("memory_limit"))
        return default_limit(int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))

    def run(self, case: Case) -> Result:
        """Check one case; the worker stays for the next one, where it is still well."""
        self.prepare()
        assert self._pool is not None  # noqa: S101  (for the type checker)
        (result,) = self._pool.run([case])
        return result

    def close(self) -> None:
        """End the worker, and the process that it came from."""
        from gradcheck.run import shut_down

        if self._pool is not None:
            self._pool.stop()
            self._pool = None
            shut_down()


@contextlib.contextmanager
def _usual_warnings() -> Iterator[None]:
    """Python's own filters: `-W error` is about somebody's tests, and must not change a verdict."""
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for kind in (
            DeprecationWarning,
            PendingDeprecationWarning,
            ImportWarning,
            ResourceWarning,
        ):
            warnings.simplefilter("ignore", kind)
        yield


@contextlib.contextmanager
def _quiet_log() -> Iterator[None]:
    """TensorFlow's advice on functions that are checked would stand below each that fails."""
    log = logging.getLogger("tensorflow")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Random numbers of Python and numpy begin as they do in a worker, and go on afterwards."""
    import numpy as np

    from gradcheck.run.workers.around_case import seed_generators

    before, numpys = random.getstate(), np.random.get_state()
    seed_generators(seed)
    try:
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpys)
