"""A factor that rounding inside hides in each element, and not in all of them together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcheck import Verdict
from gradcheck.checker.api import check
from tools.rounded import ROUNDINGS, Trial
from tools.rounded_bodies import BODIES

IN_TURN = {body.name: body for body in BODIES}

TRIALS = [
    Trial(IN_TURN["norm"], "first", "bfloat16", straight=False, seed=59),
    Trial(IN_TURN["squared_error"], "inputs", "bfloat16", straight=False, seed=8),
    Trial(IN_TURN["dense"], "inside", "bfloat16", straight=False, seed=62),
    Trial(IN_TURN["convolved"], "inputs", "bfloat16", straight=False, seed=110),
    Trial(IN_TURN["norm"], "first", "float16", straight=True, seed=10),
    Trial(IN_TURN["cross_entropy"], "inputs", "float16", straight=True, seed=82),
]


@pytest.mark.parametrize("trial", TRIALS, ids=str)
def test_a_factor_that_rounding_hides_in_each_element(tf: Any, trial: Trial) -> None:
    factor = 1 + 12.8 * ROUNDINGS[trial.dtype]
    result = check(trial.function(factor), *trial.inputs, seed=trial.seed)
    assert result.verdict is Verdict.MISMATCH
    assert any("off by one factor" in c.note for c in result.comparisons)
    assert not any("cancel" in c.note for c in result.comparisons)
    assert trial.check(faulty=False).verdict is Verdict.PASS


@pytest.mark.parametrize("seed", range(8))
def test_what_rounding_makes_of_few_numbers(tf: Any, seed: int) -> None:
    x = 2 * np.random.default_rng(seed).standard_normal(1 + seed % 3)
    for body in (tf.square, tf.exp, lambda t: tf.sin(3 * t)):

        def rounded(t: Any, body: Any = body) -> Any:
            return body(tf.cast(tf.cast(t, "bfloat16"), t.dtype))

        assert check(rounded, x, seed=seed).verdict is not Verdict.MISMATCH
