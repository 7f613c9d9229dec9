"""TensorFlow is loaded quietly, and nothing is collected meanwhile."""

from __future__ import annotations

import gc
import sys
from types import SimpleNamespace

import pytest

from gradcheck.explainer.loading import load_quietly


@pytest.mark.parametrize("collects", [True, False])
def test_nothing_is_collected_while_tensorflow_loads(
    monkeypatch: pytest.MonkeyPatch, collects: bool
) -> None:
    seen: list[bool] = []
    fake = SimpleNamespace(zeros=lambda _: seen.append(gc.isenabled()))
    monkeypatch.setitem(sys.modules, "tensorflow", fake)
    try:
        if not collects:
            gc.disable()
        load_quietly()
        assert seen == [False]
        assert gc.isenabled() is collects
    finally:
        gc.enable()
