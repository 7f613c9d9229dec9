from __future__ import annotations

import pytest

_WATCHED = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
_GITHUB = ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reports look at these: whoever runs the tests may have set them."""
    for name in (*_WATCHED, *_GITHUB):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
