"""One suspicion followed to its end: who is to blame, is it known, how small can it be, is it true.

An errand: it yields cases for workers and gets their results. Nothing is written down that was not
seen by the checker, shown again by a program in plain TensorFlow in another process, and seen once
more as the spec that was written, with the limits that `gradcheck run` has.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from gradcheck.hunter import task
from gradcheck.hunter.blame import Culprit, made_by, traced, with_more_bits
from gradcheck.hunter.drafts import (
    Draft,
    array_of,
    case_of,
    check_of,
    copied,
    dtype_class,
    each_once,
    is_differentiated,
    is_finite,
    mode_of,
    target_of,
    tensors,
    with_values,
)
from gradcheck.hunter.errands import CHECK_SECONDS
from gradcheck.hunter.failures import NUMBERS, UNANSWERED, Failure, FailureKind, failure_of
from gradcheck.hunter.ledger import Finding
from gradcheck.hunter.one_cause import cause_of, same
from gradcheck.hunter.promised import is_in_order
from gradcheck.hunter.script import program_of
from gradcheck.hunter.script_parts import NoScriptError
from gradcheck.hunter.short_script import short_texts
from gradcheck.hunter.shrinker import FEWER, MOST_STEPS, ROUNDER, shrunk
from gradcheck.model import Case, Result, Verdict
from gradcheck.start.spec_text import case_lines, comment

if TYPE_CHECKING:
    from collections.abc import Generator

    from gradcheck.hunter.errands import Errand, Hunt
    from gradcheck.hunter.script import Program

STEPS_OF_A_CRASH = 5
"""Steps to shrink what kills its worker: each takes a new one, and all others wait."""

LONGEST_TOLD = 400
"""Characters of what a spec says was seen."""
CONFIRMED = "confirmed twice: by a program in plain TensorFlow, and by this spec as it is written"


def pursue(hunt: Hunt, draft: Draft, result: Result) -> Errand:
    """Follow what a check has seen."""
    failure = failure_of(result)
    if failure is None or not is_in_order(draft):
        return
    if failure.kind in NUMBERS and not is_finite(draft):
        # (Where an input is infinite, no difference of the function says anything.)
        return
    if failure.kind in UNANSWERED and not _has_elements(draft):
        return
    if is_known(hunt, draft, failure):
        return
    provisional = _provisional(draft, failure)
    hunt.open.add(provisional)
    try:
        culprit = yield from traced(hunt, draft, failure)
        cause = culprit.cause
        hunt.ledger.doubt(provisional, f"see {cause}")
        if culprit.why:
            hunt.ledger.settle(cause, culprit.why)
        if hunt.ledger.is_settled(cause):
            hunt.ledger.settle(provisional, f"see {cause}")
            return
        plainer = yield from with_more_bits(hunt, culprit)
        if plainer is not None:
            yield from _followed(hunt, plainer)
            if hunt.ledger.has(plainer.cause):
                hunt.ledger.settle(cause, f"see {plainer.cause}")
                return
        yield from _followed(hunt, culprit)
    finally:
        hunt.open.discard(provisional)


def _followed(hunt: Hunt, culprit: Culprit) -> Errand:
    """Confirm it, if nobody has or is at it: for this kernel, nor for one that shares its cause."""
    if hunt.ledger.is_settled(culprit.cause) or culprit.cause in hunt.open:
        return
    hunt.open.add(culprit.cause)
    try:
        shared = yield from made_by(hunt, culprit)
        if other := _told_by(hunt, shared, culprit):
            hunt.ledger.settle(culprit.cause, f"see {other}: one function makes both gradients")
            return
        if shared and shared in hunt.open:
            return
        hunt.open.add(shared)
        try:
            yield from _confirmed(hunt, culprit)
        finally:
            hunt.open.discard(shared)
    finally:
        hunt.open.discard(culprit.cause)


def is_known(hunt: Hunt, draft: Draft, failure: Failure) -> bool:
    """Whether a call that looks like this one was followed: what came of it is the same."""
    provisional, cause = _provisional(draft, failure), cause_of(target_of(draft), failure, draft)
    return provisional in hunt.open or any(map(hunt.ledger.is_settled, (provisional, cause)))


def _provisional(draft: Draft, failure: Failure) -> str:
    return f"seen: {cause_of(target_of(draft), failure, draft)}"


def _confirmed(hunt: Hunt, culprit: Culprit) -> Errand:
    """Shrink it, have it shown by a program, see the written spec hold, and write it down."""
    draft, failure, first = culprit.draft, culprit.failure, culprit.cause

    def holds(candidate: Draft, result: Result) -> bool:
        some = failure.kind not in UNANSWERED or _has_elements(candidate)
        return some and same(failure_of(result), failure) and is_in_order(candidate)

    small = rough = draft
    if failure.kind is FailureKind.CRASH:
        small = yield from shrunk(draft, hunt.check, holds, most=STEPS_OF_A_CRASH)
    elif failure.kind is not FailureKind.HANG:
        rough = yield from shrunk(draft, hunt.check, holds, passes=FEWER)
        most = MOST_STEPS // 2
        small = yield from shrunk(rough, hunt.check, holds, most=most, passes=ROUNDER)
    why = ""
    # (What is smallest may lie at a kink, or where nothing moves, where another one does not:
    # without it `test_what_is_small_and_at_a_kink` fails.)
    for shown_by in each_once(small, rough, draft):
        last = failure_of((yield from hunt.check(shown_by)))
        if last is None:
            why = why or "it did not fail again"
            continue
        # (What was made smaller may fail for another cause, or in a plainer way: without it
        # `test_what_fails_in_a_plainer_way_once_it_is_small` fails.)
        seen = yield from traced(hunt, shown_by, last)
        known = hunt.ledger.is_settled(seen.cause)
        if seen.why or known or (seen.cause != first and seen.cause in hunt.open):
            hunt.ledger.doubt(first, seen.why or f"see {seen.cause}")
            return
        told, shown, text = yield from _shown(hunt, seen.draft, seen.failure)
        if not told:
            shared = yield from made_by(hunt, seen)
            if other := _told_by(hunt, shared, seen):
                hunt.ledger.settle(first, f"see {other}: one function makes both gradients")
                return
            yield from _written(hunt, seen, shown, text, shared)
            return
        why = why or f"{told}: {json.dumps(seen.draft)}"
    hunt.ledger.doubt(first, why)


def _told_by(hunt: Hunt, shared: str, culprit: Culprit) -> str:
    failure = culprit.failure
    return hunt.ledger.told_by(shared, culprit.blamed, failure.kind, failure.diagnosis)


def _has_elements(draft: Draft) -> bool:
    """Whether there is anything that a derivative could be missed of."""
    entries = [entry for _, entry in tensors(draft) if is_differentiated(entry)]
    arrays = [array_of(entry) for entry in entries]
    return any(array is None or array.size for array in arrays)


def _shown(
    hunt: Hunt, draft: Draft, failure: Failure
) -> Generator[Case, Result, tuple[str, str, str]]:
    """Why no program shows it, or what one shows, and the program.

    Of what raises, nothing tells which input it is about: each is tried.
    """
    told = [failure]
    if failure.kind in UNANSWERED:
        paths = [path for path, entry in tensors(draft) if is_differentiated(entry)]
        names = [f"{first}{''.join(f'[{each}]' for each in rest)}" for first, *rest in paths]
        told = [replace(failure, inputs=(name,)) for name in names]
    why, shown, text = "no input is differentiated", "", ""
    for each in told:
        try:
            program = program_of(with_values(draft, hunt.allow), each)
        except NoScriptError as error:
            return f"no program shows it: {error}", "", ""
        why, shown, text = yield from _second_opinion(hunt, draft, each, program)
        if not why:
            break
    return why, shown, text


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
            told = answer.message and task.answer_of(answer).get("why")
            return told or "the program comes to an end", "", ""
        alone = yield from hunt.ask(task.OPINION, **request, forward_only=True)
        itself = alone.verdict is ends[failure.kind]
        if itself:
            # (Then there is no gradient that could be wrong.)
            return "the function itself does it", "", ""
        return "", "its gradient does it", next(short_texts(complete, failure, ()), program.text)
    if answer.verdict is not Verdict.PASS:
        return f"the program ends as {answer.verdict}", "", ""
    opinion = task.answer_of(answer)
    if not opinion["confirmed"]:
        return opinion.get("why", "not confirmed"), "", ""
    return "", opinion["why"], opinion.get("short") or program.text


def _written(hunt: Hunt, culprit: Culprit, shown: str, script: str, shared: str) -> Errand:
    """Write it down, if the check ends so once more, and the spec as it is written does."""
    draft, failure = culprit.draft, culprit.failure
    cause, blamed = culprit.cause, culprit.blamed
    result = yield from hunt.check(draft)
    mode, check, numbers = mode_of(draft), check_of(draft), dtype_class(draft)
    seen = " ".join((failure.text or result.meaning).split())
    if not same(failure_of(result), failure):
        hunt.ledger.doubt(cause, "it did not fail again")
        return
    told = f"{failure.kind.told[0].upper()}{failure.kind.told[1:]}: {shown or seen}"
    # (Both have been seen by now; what is written is not, until the spec has ended so.)
    reason = f"{told[:LONGEST_TOLD]}; {CONFIRMED}"
    spec = copied(draft, expect=result.verdict.value, reason=reason)
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
    finding = Finding(
        *(cause, failure.kind, blamed, mode, check, numbers, told, name),
        shared=shared,
        diagnosis=failure.diagnosis,
    )
    hunt.ledger.write(finding, "\n".join(lines) + "\n", script)
    hunt.found(finding)
