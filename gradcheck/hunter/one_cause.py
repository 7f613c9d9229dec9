"""What makes two failures one: findings are told apart by their causes."""

from __future__ import annotations

import re

from gradcheck.checker.subject.jacobian_ways import Way
from gradcheck.hunter.drafts import Draft, check_of, dtype_class, mode_of
from gradcheck.hunter.failures import NUMBERS, UNANSWERED, Failure, FailureKind, way_in
from gradcheck.model import CheckKind

_OF_TENSORFLOW = (CheckKind.FORWARD, CheckKind.JACOBIAN)
"""Derivatives that TensorFlow makes of gradients: what they raise is told by their message."""
_DIED_AT = re.compile(r"\w+\.(cc|h)(?=:\d+\] Check failed)|(?<=Assertion failure\n).*")
"""Where a library ended its process, as it says itself: for whatever function that was."""
_SHAPES = re.compile(r"\b(shapes?|sizes?|dimensions?|rank|broadcast\w*)\b", re.IGNORECASE)
"""What speaks of a shape; and"""
_WRONG_SHAPE = re.compile(r"gradient has shape \[")
"""what is said of a gradient that has another one than its input."""
_LOOPS = (Way.LOOPED, Way.BATCH_LOOPED)
"""Jacobians that are made in a loop over `tape.gradient`: no op has a part of its own in it."""


def cause_of(blamed: str, failure: Failure, draft: Draft) -> str:
    """What makes two failures one: who, in which way, by which derivative, of which numbers."""
    # (What one version of an op has, the others have as a rule.)
    blamed = re.sub(r"(V\d+|WithNumSegments)+$", "", blamed)
    where = f"{mode_of(draft)} {check_of(draft)}"
    if check_of(draft) is CheckKind.JACOBIAN and way_in(failure.text) in _LOOPS:
        # (What the loop gets wrong by XLA it refuses eagerly: it takes the dtype of the output.)
        return f"{check_of(draft)} in a loop"
    if failure.kind is FailureKind.CRASH and (place := _DIED_AT.search(failure.about)):
        return f"crash: {re.sub(r'[0-9]+', '#', place[0])}"
    names_an_op = failure.kind is FailureKind.MISSING and failure.about
    if failure.kind in UNANSWERED and check_of(draft) in _OF_TENSORFLOW and not names_an_op:
        # (Whatever op it is called for: one fault of the accumulator's, or of the Jacobian's.)
        told = re.sub(r"\b(complex|b?float)?\d+", "#", failure.text)
        told = re.sub(r"#(, ?#)+|(?<=does not go through )\w+", "#", told)
        return f"{where} {failure.kind} {told[:120]}"
    if failure.kind is FailureKind.MISSING:
        return f"{blamed} {failure.kind}"
    if is_about_shapes(failure):
        # (It is chance whether a wrong shape is refused on its way or given.)
        return f"{blamed} shapes {where}"
    return f"{blamed} {failure.kind} {where} {dtype_class(draft)}"


def is_about_shapes(failure: Failure) -> bool:
    """Whether the gradient has the wrong shape, or raises about one.

    Without it `test_a_wrong_shape_and_what_raises_about_it_are_one` fails.
    """
    if failure.kind is FailureKind.WRONG:
        return bool(_WRONG_SHAPE.search(failure.text))
    return failure.kind is FailureKind.RAISES and bool(_SHAPES.search(failure.text))


def same(one: Failure | None, other: Failure) -> bool:
    """Whether one check has seen what the other has."""
    if one is None or one.kind is not other.kind:
        return False
    return one.about == other.about or one.kind in NUMBERS or one.kind is FailureKind.CRASH
