"""Who is to blame for a failure: the plainest way in which it shows, and the kernel that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcheck.hunter import task
from gradcheck.hunter.drafts import Draft, check_of, copied, mode_of, target_of
from gradcheck.hunter.failures import NUMBERS, Failure, FailureKind, failure_of
from gradcheck.hunter.one_cause import same
from gradcheck.hunter.signatures import RAW
from gradcheck.model import Case, CheckKind, Mode, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Generator

    from gradcheck.hunter.errands import Hunt


def traced(
    hunt: Hunt, draft: Draft, failure: Failure
) -> Generator[Case, Result, tuple[Draft, Failure, str]]:
    """The plainest way in which it fails, by what is to blame; and why that is no fault."""
    draft, failure = yield from in_the_plainest_way(hunt, draft, failure)
    return (yield from to_blame(hunt, draft, failure))


def in_the_plainest_way(
    hunt: Hunt, draft: Draft, failure: Failure
) -> Generator[Case, Result, tuple[Draft, Failure]]:
    """The same eagerly, and by the tape, if it fails there too: then that is what is wrong."""
    if failure.kind is FailureKind.HANG:
        return draft, failure
    for mode, check in ((Mode.EAGER, CheckKind.REVERSE), (Mode.EAGER, check_of(draft))):
        plain = copied(
            draft,
            mode=None,
            check=None if check is CheckKind.REVERSE else check.value,
        )
        if (mode_of(draft), check_of(draft)) == (mode, check):
            break
        again = failure_of((yield from hunt.check(plain)))
        if again is not None and same(again, failure):
            return plain, again
    return draft, failure


def to_blame(
    hunt: Hunt, draft: Draft, failure: Failure
) -> Generator[Case, Result, tuple[Draft, Failure, str]]:
    """The kernel that fails by itself, or the function; and why that is no fault, if it is none."""
    single = target_of(draft).startswith(RAW)
    further = check_of(draft) is CheckKind.SECOND
    if failure.kind is FailureKind.MISSING or (
        single and failure.kind is not FailureKind.DISCONNECTED and not further
    ):
        return draft, failure, ""
    users = ":" in target_of(draft)
    answer = yield from hunt.ask(task.RECORD, draft=draft, users_own=users, backward=further)
    if answer.verdict is not Verdict.PASS:
        return draft, failure, ""
    told = task.answer_of(answer)
    silent = told["undifferentiable"]
    if single and target_of(draft).removeprefix(RAW) in silent:
        return draft, failure, f"{target_of(draft)} is registered as not differentiable"
    found = yield from _kernel(hunt, draft, failure, told["calls"])
    if found is not None:
        draft, failure = found
        on_purpose = target_of(draft).removeprefix(RAW) in silent
        why = f"{target_of(draft)} is registered as not differentiable" if on_purpose else ""
        return draft, failure, why if failure.kind is FailureKind.DISCONNECTED else ""
    if "StopGradient" in silent and failure.kind in NUMBERS:
        return draft, failure, "it goes through tf.stop_gradient, which is meant to be so"
    if failure.kind is FailureKind.DISCONNECTED and silent and not single:
        why = f"it goes through {', '.join(silent)}, registered as not differentiable"
        return draft, failure, why
    return draft, failure, ""


def _kernel(
    hunt: Hunt, draft: Draft, failure: Failure, calls: list[Draft]
) -> Generator[Case, Result, tuple[Draft, Failure] | None]:
    """The first kernel that fails in the same way by itself.

    A second derivative may be wrong because the first one of a kernel in the gradient is: so each
    is checked by the tape first.
    """
    keys = {key: draft[key] for key in ("mode", "check") if key in draft}
    ways = [keys] if check_of(draft) is not CheckKind.SECOND else [{}, keys]
    for way in ways:
        for call in calls:
            alone = copied(call, **way)
            if target_of(alone) == target_of(draft) and way == keys:
                continue
            again = failure_of((yield from hunt.check(alone)))
            if again is not None and again.kind is failure.kind:
                return alone, again
    return None
