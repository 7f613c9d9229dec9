"""What loops compute, against the sums that they stand for."""

from __future__ import annotations

import itertools

import numpy as np

from gradcheck.ops.language.recurrences import ctc_loss, ctc_occupancy, recurrence
from gradcheck.ops.language.shares import softmax

rng = np.random.default_rng(0)


def spelt(alignment: tuple[int, ...], blank: int) -> list[int]:
    """What an alignment says: what is repeated once, and no blanks."""
    return [symbol for symbol, _ in itertools.groupby(alignment) if symbol != blank]


def test_a_recurrence_of_ones_is_a_running_sum() -> None:
    x = rng.standard_normal((5, 2))
    np.testing.assert_allclose(recurrence(np.ones((5, 2)), x, np.zeros(2)), np.cumsum(x, 0))


def test_all_alignments_are_summed() -> None:
    """Two equal labels, which need a blank between them, and two different ones."""
    logits = rng.standard_normal((4, 2, 3))
    shares = softmax(logits, -1)
    labels = np.array([[1, 1], [2, 1]])
    for b, wanted in enumerate(labels.tolist()):
        total, passed = 0.0, np.zeros((4, 3))
        for alignment in itertools.product(range(3), repeat=4):
            if spelt(alignment, 0) == wanted:
                own = float(np.prod([shares[t, b, s] for t, s in enumerate(alignment)]))
                total += own
                for t, s in enumerate(alignment):
                    passed[t, s] += own
        given = (labels, logits, [2, 2], [4, 4], 0)
        np.testing.assert_allclose(ctc_loss(*given)[b], -np.log(total))
        np.testing.assert_allclose(ctc_occupancy(*given)[:, b], passed / total)


def test_an_empty_label_is_all_blanks() -> None:
    logits = rng.standard_normal((3, 1, 2))
    found = ctc_occupancy(np.zeros((1, 1), int), logits, [0], [2], 1)
    np.testing.assert_allclose(found[:2, 0], [[0, 1], [0, 1]])
    np.testing.assert_allclose(found[2], softmax(logits, -1)[2])
