from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _capable_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reports look at this, where what they write to says that it is a terminal."""
    monkeypatch.setenv("TERM", "xterm-256color")
