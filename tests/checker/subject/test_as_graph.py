"""Functions as graphs: compiled or not, and nobody is warned of what a checker has to do."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import gradcheck
from gradcheck.checker.subject.as_graph import as_graph
from gradcheck.model import Mode


@pytest.mark.parametrize("mode", [Mode.GRAPH, Mode.XLA])
def test_it_gives_the_same(mode: Mode, tf: Any) -> None:
    np.testing.assert_allclose(as_graph(tf.sin, mode)(tf.ones(3)), np.sin(np.ones(3)), 1e-6)


@pytest.mark.parametrize("check", ["reverse", "forward", "second", "jacobian"])
def test_no_warning_of_our_own_graphs(check: str, tf: Any, caplog: Any) -> None:
    logger = logging.getLogger("tensorflow")
    logger.addHandler(caplog.handler)
    try:
        for size in range(2, 9):
            values = np.linspace(0.1, 0.9, size)
            assert gradcheck.check(tf.sin, values, mode="graph", checks=(check,)).verdict == "pass"
    finally:
        logger.removeHandler(caplog.handler)
    assert not [record for record in caplog.records if "retracing" in record.getMessage()]
