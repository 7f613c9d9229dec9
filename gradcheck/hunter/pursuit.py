"""One suspicion followed to its end: who is to blame, is it known, how small can it be, is it true.

An errand: it yields cases for workers and gets their results. Nothing is written down that was not
seen by the checker, shown again by a program in plain TensorFlow in another process, and seen once
more as the spec that was written, with the limits that `gradcheck run` has.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradcheck.hunter import task
from gradcheck.hunter.drafts import (
    Draft,
    case_of,
    check_of,
    copied,
    dtype_class,
    is_finite,
    is_in_order,
    mode_of,
    target_of,
    task_case,
    with_values,
)
from gradcheck.hunter.failures import Failure, FailureKind, failure_of
from gradcheck.hunter.ledger import Finding, Ledger
from gradcheck.hunter.one_cause import NUMBERS, cause_of, same
from gradcheck.hunter.script import program_of
from gradcheck.hunter.script_parts import NoScriptError
from gradcheck.hunter.short_script import short_texts
from gradcheck.hunter.shrinker import MOST_STEPS, Checked, shrunk
from gradcheck.hunter.signatures import RAW
from gradcheck.model import Case, CheckKind, Mode, Result, Verdict
from gradcheck.start.spec_text import case_lines, comment

if TYPE_CHECKING:
    from gradcheck.hunter.script import Program

Errand = Generator[Case, Result, None]

CHECK_BUDGET = 3.0
"""Seconds of processor time for one check of a hunt: what takes longer is not judged."""
CHECK_SECONDS = 25.0
"""Seconds after which a worker is ended: whatever is drawn here is small."""

STEPS_OF_A_CRASH = 12
"""Steps to shrink what kills its worker: each takes a new one, and all others wait."""


@dataclass(slots=True)
class Hunt:
    """What all errands share."""

    ledger: Ledger
    allow: tuple[str, ...]
    root: str
    version: str = ""
    """Of TensorFlow."""
    found: Callable[[Finding], None] = lambda _finding: None
    _number: int = 0
    open: set[str] = field(default_factory=set)
    """Causes that an errand is at."""

    def number(self) -> int:
        """A new one for each case."""
        self._number += 1
        return self._number

    def check(self, draft: Draft) -> Checked:
        """Check a draft; one that is no case is an error."""
        number = self.number()
        case = case_of(draft, number, self.allow, budget=CHECK_BUDGET, timeout=CHECK_SECONDS)
        if isinstance(case, str):
            return Result(f"hunt{number}", Verdict.ERROR, message=case)
        self.ledger.cases += 1
        return (yield case)

    def ask(self, task_kind: str, /, **request: object) -> Checked:
        """Give a worker a task that is no check."""
        return (yield task_case(task_kind, self.number(), request, timeout=CHECK_SECONDS))


def pursue(hunt: Hunt, draft: Draft, result: Result) -> Errand:
    """Follow what a check has seen."""
    failure = failure_of(result)
    if failure is None or not is_in_order(draft):
        return
    if failure.kind in NUMBERS and not is_finite(draft):
        # (Where an input is infinite, no difference of the function says anything.)
        return
    # (What came of it is the same for the next call that looks like this one.)
    provisional = f"seen: {cause_of(target_of(draft), failure, draft)}"
    if provisional in hunt.open or hunt.ledger.is_settled(provisional):
        return
    hunt.open.add(provisional)
    try:
        draft, failure = yield from _in_the_plainest_way(hunt, draft, failure)
        draft, failure, why = yield from _to_blame(hunt, draft, failure)
        blamed = failure.about if failure.kind is FailureKind.MISSING else target_of(draft)
        cause = cause_of(blamed or target_of(draft), failure, draft)
        hunt.ledger.doubt(provisional, f"see {cause}")
        if why:
            hunt.ledger.settle(cause, why)
        if why or hunt.ledger.is_settled(cause):
            hunt.ledger.settle(provisional, f"see {cause}")
            return
        if cause in hunt.open:
            return
        hunt.open.add(cause)
        try:
            yield from _confirmed(hunt, draft, failure, cause, blamed or target_of(draft))
        finally:
            hunt.open.discard(cause)
    finally:
        hunt.open.discard(provisional)


def _in_the_plainest_way(
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


def _to_blame(
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


def _confirmed(hunt: Hunt, draft: Draft, failure: Failure, cause: str, blamed: str) -> Errand:
    """Shrink it, have it shown by a program, see the written spec hold, and write it down."""

    def holds(candidate: Draft, result: Result) -> bool:
        return same(failure_of(result), failure) and is_in_order(candidate)

    small = draft
    if failure.kind is not FailureKind.HANG:
        deadly = failure.kind is FailureKind.CRASH
        most = STEPS_OF_A_CRASH if deadly else MOST_STEPS
        small = yield from shrunk(draft, hunt.check, holds, most=most)
    result = yield from hunt.check(small)
    last = failure_of(result)
    if last is None:
        hunt.ledger.doubt(cause, "it did not fail again")
        return
    cause = cause_of(blamed, last, small)
    if hunt.ledger.is_settled(cause):
        return
    try:
        program = program_of(with_values(small, hunt.allow), last)
    except NoScriptError as error:
        hunt.ledger.doubt(cause, f"no program shows it: {error}")
        return
    why, shown, text = yield from _second_opinion(hunt, small, last, program)
    if why:
        hunt.ledger.doubt(cause, f"{why}: {json.dumps(small)}")
        return
    yield from _written(hunt, small, last, result, (cause, blamed, shown, text))


def _second_opinion(
    hunt: Hunt, draft: Draft, failure: Failure, program: Program
) -> Generator[Case, Result, tuple[str, str, str]]:
    """Why the program does not show it, or what it shows; and the program to hand on."""
    complete = with_values(draft, hunt.allow)
    request = {
        "script": program.text,
        "draft": complete,
        "kind": failure.kind,
        "about": failure.about,
        "text": failure.text,
        "names": program.names,
        "wrong": program.wrong,
        "dtype": str(draft.get("dtype", "float64")),
        "mode": mode_of(draft).value,
        "users_own": ":" in target_of(draft),
    }
    answer = yield from hunt.ask(task.OPINION, **request)
    if failure.kind in (FailureKind.CRASH, FailureKind.HANG):
        ends = {FailureKind.CRASH: Verdict.CRASHED, FailureKind.HANG: Verdict.TIMEOUT}
        if answer.verdict is not ends[failure.kind]:
            return "the program comes to an end", "", ""
        alone = yield from hunt.ask(task.OPINION, **request, forward_only=True)
        itself = alone.verdict is ends[failure.kind]
        if itself and failure.kind is FailureKind.HANG:
            return "the function itself takes that long", "", ""
        told = "the function itself does it" if itself else "its gradient does it"
        return "", told, next(short_texts(complete, failure, ()), program.text)
    if answer.verdict is not Verdict.PASS:
        return f"the program ends as {answer.verdict}", "", ""
    opinion = task.answer_of(answer)
    if not opinion["confirmed"]:
        return opinion.get("why", "not confirmed"), "", ""
    return "", opinion["why"], opinion.get("short") or program.text


def _written(
    hunt: Hunt, draft: Draft, failure: Failure, result: Result, about: tuple[str, str, str, str]
) -> Errand:
    cause, blamed, shown, script = about
    mode, check, numbers = mode_of(draft), check_of(draft), dtype_class(draft)
    seen = " ".join((failure.text or result.meaning).split())
    told = f"{failure.kind.told[0].upper()}{failure.kind.told[1:]}: {shown or seen}"
    spec = copied(draft, expect=result.verdict.value, reason=told[:400])
    if failure.kind is FailureKind.HANG:
        spec["timeout"] = CHECK_SECONDS
    name = hunt.ledger.file_for(failure.kind, blamed, mode, check, numbers)
    case = case_of(spec, hunt.number(), hunt.allow)
    if isinstance(case, str):
        hunt.ledger.doubt(cause, f"its spec cannot be read: {case}")
        return
    if not (yield case).expected:
        hunt.ledger.doubt(cause, "the spec as it is written does not end so")
        return
    tried = f"Found by `gradcheck hunt` with TensorFlow {hunt.version}" if hunt.version else ""
    lines = [*comment(tried or "Found by `gradcheck hunt`."), *comment(seen), *case_lines(spec)]
    finding = Finding(cause, failure.kind, blamed, mode, check, numbers, told, name)
    hunt.ledger.write(finding, "\n".join(lines) + "\n", script)
    hunt.found(finding)
