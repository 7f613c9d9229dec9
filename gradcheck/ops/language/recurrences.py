"""The functions of the formula language that go from step to step: what a loop computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.ops.language.bounds import bounded, numbers
from gradcheck.ops.language.shares import log_softmax

if TYPE_CHECKING:
    from gradcheck.model import Array, Shape

__all__ = ["ctc_loss", "ctc_occupancy", "matrix_recurrence", "recurrence", "tanh_recurrence"]


def recurrence(a: Any, x: Any, start: Any) -> Array:
    """Along the first axis y[t] = a[t]·y[t - 1] + x[t], from the start on."""
    a, x, y = numbers(a), numbers(x), numbers(start)
    bounded(np.broadcast_shapes(a.shape, x.shape))
    return _steps(x.shape, range(len(x)), lambda t, before: a[t] * before + x[t], y)


def matrix_recurrence(x: Any, matrix: Any, slopes: Any) -> Array:
    """Along the last axis but one y[t] = (y[t - 1] · matrix + x[t])·slopes[t], from 0 on."""
    x, matrix, slopes = numbers(x), numbers(matrix), numbers(slopes)
    rows, steps = np.moveaxis(x, -2, 0), np.moveaxis(slopes, -2, 0)
    found = _steps(
        rows.shape,
        range(len(rows)),
        lambda t, before: (before @ matrix + rows[t]) * steps[t],
        np.zeros(rows.shape[1:]),
    )
    return np.moveaxis(found, 0, -2)


def tanh_recurrence(x: Any, matrix: Any, start: Any) -> Array:
    """Along the last axis but one y[t] = tanh(y[t - 1] · matrix + x[t]), from the start on."""
    x, matrix = numbers(x), numbers(matrix)
    rows = np.moveaxis(x, -2, 0)
    found = _steps(
        rows.shape,
        range(len(rows)),
        lambda t, before: np.tanh(before @ matrix + rows[t]),
        numbers(start),
    )
    return np.moveaxis(found, 0, -2)


def _steps(shape: Shape, places: range, step: Any, before: Array) -> Array:
    found = np.zeros(shape)
    for t in places:
        before = found[t] = step(t, before)
    return found


def ctc_loss(labels: Any, logits: Any, label_length: Any, logit_length: Any, blank: int) -> Array:
    """For each sequence -log of the probability of its labels: the sum over all alignments."""
    labels, scores = _of_sequences(labels, logits)
    found = np.zeros(len(labels))
    for b, (count, frames) in enumerate(zip(label_length, logit_length, strict=True)):
        places = _places(labels[b, : int(count)], blank)
        forward = _alignments(scores[: int(frames), b], places, blank)
        found[b] = -np.logaddexp.reduce(forward[-1, -2:])
    return found


def ctc_occupancy(
    labels: Any, logits: Any, label_length: Any, logit_length: Any, blank: int
) -> Array:
    """In each frame how probable each symbol is, given the labels; softmax in unused frames."""
    labels, scores = _of_sequences(labels, logits)
    found = np.exp(scores)
    for b, (count, frames) in enumerate(zip(label_length, logit_length, strict=True)):
        places = _places(labels[b, : int(count)], blank)
        own = scores[: int(frames), b]
        forward = _alignments(own, places, blank)
        back = _alignments(own[::-1], places[::-1], blank)[::-1, ::-1]
        # Both have counted the symbol of the frame itself.
        both = forward + back - own[:, places]
        both -= np.logaddexp.reduce(forward[-1, -2:])
        found[: int(frames), b] = 0.0
        for place, symbol in enumerate(places):
            found[: int(frames), b, symbol] += np.exp(both[:, place])
    return found


def _of_sequences(labels: Any, logits: Any) -> tuple[Array, Array]:
    return numbers(labels), log_softmax(numbers(logits), -1)


def _places(labels: Array, blank: int) -> Array:
    """The labels with blanks before, between and behind them."""
    places = np.full(2 * len(labels) + 1, blank)
    places[1::2] = labels
    return places


def _alignments(scores: Array, places: Array, blank: int) -> Array:
    """By frame and place: log of the probability to be there, by all ways from the front."""
    found = np.full((len(scores), len(places)), -np.inf)
    found[0, :2] = scores[0, places[:2]]
    for t in range(1, len(scores)):
        for k, symbol in enumerate(places):
            before = found[t - 1, max(k - 1, 0) : k + 1]
            if k > 1 and symbol not in (blank, places[k - 2]):
                # A blank between two different labels may be left out.
                before = found[t - 1, k - 2 : k + 1]
            with np.errstate(all="ignore"):
                found[t, k] = np.logaddexp.reduce(before) + scores[t, symbol]
    return found
