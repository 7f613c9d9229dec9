"""One visit to a target: calls are looked for, checked in the cheapest way, and then in others."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.raised import OURS
from gradcheck.hunter import task
from gradcheck.hunter.drafts import COMPLEX, Draft, copied, dtype_class
from gradcheck.hunter.failures import Failure, FailureKind, failure_of
from gradcheck.hunter.probe import AT_WORK, features
from gradcheck.hunter.pursuit import is_known, pursue
from gradcheck.model import Case, CheckKind, Mode, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Generator

    from gradcheck.hunter.errands import Errand, Hunt
    from gradcheck.hunter.quarry import Quarry

LOOKING_SECONDS = 1.2
"""Seconds for which calls of a target are looked for in one visit."""
CALLS_OF_A_VISIT = 10
MOST_PROBES = 3
"""How often calls are looked for in one visit, where one of them kills the worker."""
NO_XLA = "is not compiled by XLA"

WAYS = tuple(
    (mode, check)
    for mode in (Mode.EAGER, Mode.XLA, Mode.GRAPH)
    for check in CheckKind
    if (mode, check) != (Mode.EAGER, CheckKind.REVERSE)
)
"""All ways to take a derivative, but the cheapest: in the order in which they are tried."""


def explore(hunt: Hunt, quarry: Quarry) -> Errand:
    """Look for calls that work, and check them."""
    arm = hunt.ledger.arms[quarry.name]
    rng = _generator(hunt, quarry)
    arm.visits += 1
    for _ in range(MOST_PROBES):
        answer = yield from hunt.ask(
            task.PROBE,
            target=quarry.name,
            key=quarry.key,
            seed=int(rng.integers(2**31)),
            seconds=LOOKING_SECONDS * (1 if quarry.key != "layer" else 3),
            wanted=CALLS_OF_A_VISIT,
            known=hunt.ledger.calls.get(quarry.name, []),
            users_own=":" in quarry.name,
        )
        if answer.verdict not in (Verdict.CRASHED, Verdict.TIMEOUT):
            break
        # (Some calls kill whoever makes them: others of the same function need not.)
        yield from _died(hunt, answer)
    else:
        return
    if answer.verdict is not Verdict.PASS:
        arm.barren = True
        hunt.ledger.own_errors[quarry.name] = answer.message[:300]
        return
    told = task.answer_of(answer)
    drafts: list[Draft] = told["drafts"]
    arm.seconds += told["seconds"]
    some_hold = False
    for draft in drafts:
        some_hold |= yield from _checked(hunt, quarry, draft, rng)
    arm.barren = not some_hold


def _generator(hunt: Hunt, quarry: Quarry) -> np.random.Generator:
    """Numbers that are others in each visit, and the same in each hunt of one seed."""
    visits = hunt.ledger.arms[quarry.name].visits
    return np.random.default_rng([hunt.ledger.seed, zlib.crc32(quarry.name.encode()), visits])


def _checked(
    hunt: Hunt, quarry: Quarry, draft: Draft, rng: np.random.Generator
) -> Generator[Case, Result, bool]:
    """Check a call in all the ways whose turn it is; whether its gradient is right."""
    result = yield from hunt.check(draft)
    new = _note(hunt, quarry, draft, result)
    if failure_of(result) is not None:
        yield from pursue(hunt, draft, result)
        return False
    if not result.verdict.acceptable:
        return False
    if new:
        hunt.ledger.keep_call(quarry.name, draft)
    for mode, check in _other_ways(hunt, quarry, draft, rng):
        other = copied(
            draft,
            mode=None if mode is Mode.EAGER else mode.value,
            check=None if check is CheckKind.REVERSE else check.value,
        )
        result = yield from hunt.check(other)
        _note(hunt, quarry, other, result)
        if failure_of(result) is not None:
            yield from pursue(hunt, other, result)
        elif mode is Mode.XLA and check is CheckKind.REVERSE and result.verdict is Verdict.ERROR:
            # (What XLA does not compile at all it need not be asked again.)
            hunt.ledger.is_new(quarry.name, NO_XLA)
            break
    return True


def _other_ways(
    hunt: Hunt, quarry: Quarry, draft: Draft, rng: np.random.Generator
) -> list[tuple[Mode, CheckKind]]:
    """How else to check a call.

    Of each type of numbers the first call in a visit is checked in all ways of one mode: eagerly in
    the first visit, by XLA in the second, in graphs in the third. Any other call is checked in one
    way, by chance.
    """
    visit = hunt.ledger.arms[quarry.name].visits
    modes = (Mode.EAGER, Mode.XLA, Mode.GRAPH)
    no_xla = f"{quarry.name} {NO_XLA}" in hunt.ledger.seen
    ways = [way for way in WAYS if not (no_xla and way[0] is Mode.XLA)]
    if hunt.ledger.is_new(quarry.name, f"visit {min(visit, 6)} {_type_of(draft)}"):
        return [way for way in ways if way[0] is modes[(visit - 1) % len(modes)]]
    # (XLA takes a second to compile: it is asked for less often.)
    cheap = [way for way in ways if way[0] is Mode.EAGER or rng.random() < 0.15]
    return [cheap[int(rng.integers(len(cheap)))]] if cheap else []


def _type_of(draft: Draft) -> str:
    dtype = str(draft.get("dtype", "float64"))
    return "complex" if dtype in COMPLEX else dtype_class(draft)


def _note(hunt: Hunt, quarry: Quarry, draft: Draft, result: Result) -> bool:
    """Take in what a check showed; whether it was something new."""
    arm = hunt.ledger.arms[quarry.name]
    arm.seconds += result.seconds
    if OURS in result.message:
        hunt.ledger.own_errors[quarry.name] = f"{json.dumps(draft)[:6000]}: {result.message[:300]}"
    text = f"{features(draft)} {result.verdict} {result.decided_by}"
    new = hunt.ledger.is_new(quarry.name, f"{zlib.crc32(text.encode()):08x}")
    arm.paid += new
    return new


def _died(hunt: Hunt, answer: Result) -> Errand:
    """A call that took its worker along: the last line it wrote says which."""
    lines = [line for line in answer.message.splitlines() if AT_WORK in line]
    if answer.verdict is not Verdict.CRASHED or not lines:
        return
    draft = _read(lines[-1].partition(AT_WORK)[2])
    if draft is None or is_known(hunt, draft, Failure(FailureKind.CRASH)):
        return
    result = yield from hunt.check(draft)
    if (failure := failure_of(result)) and _is_death(failure):
        yield from pursue(hunt, draft, result)


def _is_death(failure: Failure) -> bool:
    return failure.kind in (FailureKind.CRASH, FailureKind.HANG)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
