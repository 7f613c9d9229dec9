"""Who is to blame for a failure: the plainest way in which it shows, and the kernel that fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.subject.known_kernels import all_are_exact
from gradcheck.hunter import task
from gradcheck.hunter.drafts import (
    LOW_PRECISION,
    Draft,
    array_of,
    check_of,
    copied,
    dtype_class,
    each_once,
    is_differentiated,
    mode_of,
    target_of,
    tensors,
    with_array,
)
from gradcheck.hunter.failures import NUMBERS, Failure, FailureKind, failure_of
from gradcheck.hunter.one_cause import cause_of, is_about_shapes, same
from gradcheck.hunter.signatures import RAW
from gradcheck.model import Case, CheckKind, Mode, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Generator

    from gradcheck.hunter.errands import Hunt

NEAR_ZERO = 2.0**-8
"""What few bits may take for zero: its third power, which quotients have in their second
derivatives, is the smallest number of float16."""
_OFF = (FailureKind.WRONG, FailureKind.NONFINITE)
"""What few bits make of a number."""


@dataclass(frozen=True, slots=True)
class Culprit:
    """What fails, in the plainest way."""

    draft: Draft
    failure: Failure
    why: str = ""
    """Why that is no fault; empty where it is one."""
    kernels: str = ""
    """Of a function none of whose kernels fails by itself: those that it runs."""

    @property
    def blamed(self) -> str:
        """The op or function whose gradient it is."""
        missing = self.failure.about if self.failure.kind is FailureKind.MISSING else ""
        return missing or target_of(self.draft)

    @property
    def cause(self) -> str:
        """What makes it one with another: functions that run the same kernels are one."""
        return cause_of(self.kernels or self.blamed, self.failure, self.draft)


def made_by(hunt: Hunt, culprit: Culprit) -> Generator[Case, Result, str]:
    """The cause as that of the function of TensorFlow's that makes the gradient.

    Kernels whose gradients one function makes have it in common. Empty where nothing tells. Without
    it `test_kernels_that_share_a_gradient_function_are_one` fails.
    """
    failure = culprit.failure
    ends = failure.kind in (FailureKind.CRASH, FailureKind.HANG)
    names_an_op = failure.kind is FailureKind.MISSING and failure.about
    if ends or names_an_op or not target_of(culprit.draft).startswith(RAW):
        return ""
    answer = yield from hunt.ask(task.CODE, draft=culprit.draft)
    code = task.answer_of(answer)["code"] if answer.verdict is Verdict.PASS else ""
    draft = culprit.draft
    if failure.kind is FailureKind.WRONG or is_about_shapes(failure):
        # (What one kernel refuses for its size another one broadcasts, and gets wrong.)
        where = f"{mode_of(draft)} {check_of(draft)} {dtype_class(draft)}"
        return f"the gradient {code} wrong-values {where}" if code else ""
    return cause_of(f"the gradient {code}", failure, draft) if code else ""


def with_more_bits(hunt: Hunt, culprit: Culprit) -> Generator[Case, Result, Culprit | None]:
    """Who is to blame for the same in float64, there or at zero; None where all is well there.

    What few bits round to zero fails as zero does. Without it `test_what_few_bits_share_with_zero`
    fails.
    """
    if dtype_class(culprit.draft) != LOW_PRECISION or culprit.failure.kind not in _OFF:
        return None
    same_point = copied(culprit.draft, dtype=None)
    for draft in each_once(same_point, _at_zero(same_point)):
        failure = failure_of((yield from hunt.check(draft)))
        if failure is not None and failure.kind in _OFF and not is_about_shapes(failure):
            found = yield from traced(hunt, draft, failure)
            return None if found.why or found.blamed != culprit.blamed else found
    return None


def _at_zero(draft: Draft) -> Draft:
    """The same with zero in place of the number that is nearest to it, if one is, in each input."""
    new = copied(draft)
    for _, entry in tensors(new):
        array = array_of(entry)
        if array is not None and array.size and is_differentiated(entry):
            flat = array.ravel().copy()
            nearest = np.argmin(np.abs(flat))
            flat[nearest] = 0.0 if abs(flat[nearest]) <= NEAR_ZERO else flat[nearest]
            entry.update(with_array(entry, flat.reshape(array.shape)))
    return new


def traced(hunt: Hunt, draft: Draft, failure: Failure) -> Generator[Case, Result, Culprit]:
    """Who is to blame for a failure, in the plainest way in which it shows."""
    draft, failure = yield from in_the_plainest_way(hunt, draft, failure)
    return (yield from to_blame(hunt, draft, failure))


def in_the_plainest_way(
    hunt: Hunt, draft: Draft, failure: Failure
) -> Generator[Case, Result, tuple[Draft, Failure]]:
    """The same eagerly, and by the tape, if it fails there too: then that is what is wrong."""
    if failure.kind is FailureKind.HANG:
        return draft, failure
    eagerly, by_tape = (Mode.EAGER, check_of(draft)), (mode_of(draft), CheckKind.REVERSE)
    plainest = (Mode.EAGER, CheckKind.REVERSE)
    for mode, check in dict.fromkeys((plainest, by_tape, eagerly)):
        plain = copied(
            draft,
            mode=None if mode is Mode.EAGER else mode.value,
            check=None if check is CheckKind.REVERSE else check.value,
        )
        if (mode_of(draft), check_of(draft)) == (mode, check):
            break
        again = failure_of((yield from hunt.check(plain)))
        if again is not None and same(again, failure):
            return plain, again
    return draft, failure


def to_blame(hunt: Hunt, draft: Draft, failure: Failure) -> Generator[Case, Result, Culprit]:
    """The kernel that fails by itself, or the function; and why that is no fault, if it is none."""
    single = target_of(draft).startswith(RAW)
    further = check_of(draft) is CheckKind.SECOND
    if failure.kind is FailureKind.MISSING or (
        single and failure.kind is not FailureKind.DISCONNECTED and not further
    ):
        return Culprit(draft, failure)
    users = ":" in target_of(draft)
    answer = yield from hunt.ask(task.RECORD, draft=draft, users_own=users, backward=further)
    if answer.verdict is not Verdict.PASS:
        return Culprit(draft, failure)
    told = task.answer_of(answer)
    silent = told["undifferentiable"]
    if single and target_of(draft).removeprefix(RAW) in silent:
        return Culprit(draft, failure, f"{target_of(draft)} is registered as not differentiable")
    found = yield from _kernel(hunt, draft, failure, told["calls"])
    if found is not None:
        draft, failure = found
        on_purpose = target_of(draft).removeprefix(RAW) in silent
        why = f"{target_of(draft)} is registered as not differentiable" if on_purpose else ""
        return Culprit(draft, failure, why if failure.kind is FailureKind.DISCONNECTED else "")
    why = ""
    if "StopGradient" in silent and failure.kind in NUMBERS:
        why = "it goes through tf.stop_gradient, which is meant to be so"
    elif failure.kind is FailureKind.DISCONNECTED and silent and not single:
        why = f"it goes through {', '.join(silent)}, registered as not differentiable"
    kernels = [kind for kind in told["kinds"] if not all_are_exact({kind})]
    return Culprit(draft, failure, why, "" if single or users else " ".join(kernels))


def _kernel(
    hunt: Hunt, draft: Draft, failure: Failure, calls: list[Draft]
) -> Generator[Case, Result, tuple[Draft, Failure] | None]:
    """The first kernel that fails in the same way by itself.

    A second derivative may be wrong because the first one of a kernel in the gradient is: so each
    is checked by the tape first.
    """
    keys: dict[str, Any] = {key: draft[key] for key in ("mode", "check") if key in draft}
    by_tape = {key: value for key, value in keys.items() if key == "mode"}
    ways: list[dict[str, Any]] = [keys]
    if check_of(draft) is CheckKind.SECOND:
        ways = [{}, by_tape, keys]
    for way in ways:
        for call in calls:
            alone = copied(call, **way)
            if target_of(alone) == target_of(draft) and way == keys:
                continue
            again = failure_of((yield from hunt.check(alone)))
            if again is not None and again.kind is failure.kind:
                return alone, again
    return None
