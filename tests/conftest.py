"""What the tests have in common: the same conditions on every machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

# Before anything imports TensorFlow, which reads this when it starts.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

# A slow machine is no failure.
settings.register_profile("no-clock", deadline=None)
settings.load_profile("no-clock")

_LOOKED_AT = (
    *("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
    *("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"),
    *("GRADCHECK_DEBUG", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"),
)


@pytest.fixture(scope="session", autouse=True)
def _bare_environment() -> Iterator[None]:
    """Commands, reports and TensorFlow look at these: whoever runs the tests may have set them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _LOOKED_AT:
            patch.delenv(name, raising=False)
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """How many processes `-n auto` means: each has TensorFlow in it, and starts others."""
    processors = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(processors, memory // 2**31, 8))
