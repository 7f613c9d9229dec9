"""What the tests have in common: the same conditions on every machine."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from gradcheck.report.formats.json import JsonReporter
from gradcheck.run.threads import VARIABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.model import Summary

# Before anything imports TensorFlow, which reads this when it starts.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# A slow machine is no failure.
settings.register_profile("no-clock", deadline=None)
settings.load_profile("no-clock")

_LOOKED_AT = (
    *("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
    *("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"),
    *("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA"),
    "GRADCHECK_DEBUG",
    *VARIABLES,
)


@pytest.fixture(scope="session", autouse=True)
def _bare_environment() -> Iterator[None]:
    """Commands, reports and TensorFlow look at these: whoever runs the tests may have set them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _LOOKED_AT:
            patch.delenv(name, raising=False)
        yield


MOST_HELD = 500
"""Results of a report that is held against its schema: beyond that they repeat themselves."""


@pytest.fixture(scope="session", autouse=True)
def _every_report_keeps_to_its_schema() -> Iterator[None]:
    """Whatever test writes a JSON report in this process, it is one that the schema describes."""
    from tests.report.schema_checks import valid

    finish = JsonReporter.finish

    def held(self: JsonReporter, summary: Summary) -> None:
        if summary.total <= MOST_HELD:
            stream, self.stream = self.stream, io.StringIO()
            finish(self, summary)
            valid("report", self.stream.getvalue())
            self.stream = stream
        finish(self, summary)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JsonReporter, "finish", held)
        yield


LONG = (
    "tests/cli/test_suite.py",
    "tests/hostile/test_soak.py",
    "tests/checker/test_case.py::TestSweep",
    "tests/ops/test_findings.py",
    "tests/run/dask/",
    "tests/hunter/test_expedition.py",
    "tests/hostile/test_state.py",
    "tests/cli/test_watch.py",
    "tests/test_walk.py",
    "tests/test_library.py",
    "tests/test_tutorial.py",
    "tests/test_action.py",
)
"""Where single tests take long, wait for other processes, or look at one thing that took long."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """These come first: at the end nobody is left alone with one while the others have none."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many processes `-n auto` means: each has TensorFlow in it, and starts others."""
    processors = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(processors, memory // 2**31, 8))
