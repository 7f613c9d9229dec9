"""Calls that work, looked for in a worker: hundreds are tried in a second, and most are refused."""

from __future__ import annotations

import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcheck.checker.case import problem_of
from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.tensors import FunctionRaised, call, to_numpy
from gradcheck.errors import GradcheckError
from gradcheck.hunter.drafts import (
    Draft,
    array_of,
    case_of,
    is_differentiated,
    rounded,
    tensor,
    tensors,
)
from gradcheck.hunter.draw_call import drawn, redrawn, varied
from gradcheck.hunter.promised import is_in_order
from gradcheck.hunter.signatures import signature_of
from gradcheck.model import Case, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from gradcheck.checker.subject.operand import Operand
    from gradcheck.hunter.signatures import Signature

AT_WORK = "gradcheck hunt calls "
"""How the line begins that a worker prints before each call: after a crash, it is the last."""

_VARYING = re.compile(r"\[[^\]]*\]|\d+")
"""What differs in messages that say the same."""
MOST_TRIES = 800
LONGEST_PROBE = 12.0
"""Seconds after which it is over, however little was tried."""
_LONGEST_ANSWER = 17_000
"""Characters: a result carries 20,000."""


def probe(case: Case, *, allow: Collection[str], root: str) -> Result:
    """Draw calls of the target until some work, or the time is over; they are the message."""
    request = json.loads(case.reason)
    signature = signature_of(request["target"], request["key"], allow=tuple(allow), root=root)
    rng = np.random.default_rng([request["seed"], 0x68756E74])
    # (Of the processor, for others may want it too.)
    begun = time.process_time()
    until, last = begun + request["seconds"], time.monotonic() + LONGEST_PROBE
    search = _Search(signature, tuple(allow), root, rng, list(request.get("known", [])))
    while search.tries < MOST_TRIES and search.wants(request["wanted"]):
        if time.process_time() >= until or time.monotonic() >= last:
            break
        search.step()
    answer = {"drafts": search.found, "tried": search.tries, "error": search.error}
    answer["seconds"] = time.process_time() - begun
    return Result(case.id, Verdict.PASS, message=json.dumps(answer), case=case)


class _Search:
    """What was tried and what works."""

    def __init__(
        self, signature: Signature, allow: tuple[str, ...], root: str, rng: Any, known: list[Draft]
    ) -> None:
        self._signature, self._allow, self._root, self._rng = signature, allow, root, rng
        self.tries, self.error = 0, ""
        self.found: list[Draft] = []
        self._known = known
        """Calls that worked before: others are made of them."""
        self._refused: dict[str, Draft] = {}
        """By the reason: calls that are none."""
        self._features: set[str] = set()
        self._length = 0

    def wants(self, number: int) -> bool:
        return len(self.found) < number and self._length < _LONGEST_ANSWER

    def step(self) -> None:
        """Try one call."""
        self.tries += 1
        known = self._known + self.found
        if known and self._rng.random() < 0.7:
            draft = varied(known[int(self._rng.integers(len(known)))], self._signature, self._rng)
        elif not known and self._refused and self._rng.random() < 0.85:
            draft = redrawn(self._furthest(), self._signature, self._rng)
        else:
            # (At plain numbers first: where nothing works, special ones need not be tried.)
            draft = drawn(self._signature, self._rng, special=bool(known))
        feature = features(draft)
        if feature in self._features or not is_in_order(draft) or not self._runs(draft):
            return
        text = len(json.dumps(draft))
        if self._length + text <= _LONGEST_ANSWER:
            self._features.add(feature)
            self.found.append(draft)
            self._length += text

    def _furthest(self) -> Draft:
        """One of the calls that were refused for a reason of their own, the last ones as a rule.

        What is refused for another reason is refused further on: without this
        `test_kernels_that_refuse_nearly_everything` fails.
        """
        drafts = list(self._refused.values())
        return drafts[int(np.max(self._rng.integers(len(drafts), size=3)))]

    def _refuse(self, draft: Draft, why: str) -> None:
        self.error = self.error or why[:300]
        if isinstance(draft["inputs"], dict):
            self._refused.setdefault(_VARYING.sub("#", why)[:120], draft)

    def _runs(self, draft: Draft) -> bool:
        """Whether the call gives numbers that depend on something that can be differentiated."""
        case = case_of(draft, self.tries, self._allow)
        if isinstance(case, str):
            self._refuse(draft, case)
            return False
        sys.stdout.write(f"{AT_WORK}{json.dumps(draft)}\n")
        try:
            problem = problem_of(case, allow=self._allow, root=self._root)
            outputs = call(problem.function, [o.hold(o.value) for o in problem.operands])
            held = [to_numpy(output) for output in outputs]
        except (FunctionRaised, GradcheckError, Ended, ValueError, TypeError) as error:
            self._refuse(draft, str(error))
            return False
        _fix_values(draft, problem.operands)
        finite = [
            bool(np.isfinite(array.astype(np.complex128)).any()) for array in held if array.size
        ]
        if not any(operand.differentiate for operand in problem.operands) or not held:
            return False
        return any(finite) or not finite


def _fix_values(draft: Draft, operands: Sequence[Operand]) -> None:
    """Write down what was drawn, with few digits; matrices of a kind stay what a sample makes."""
    entries = [entry for _, entry in tensors(draft)]
    for entry, operand in zip(entries, operands, strict=False):
        if "sample" in entry and operand.structure == "general" and operand.value.size:
            wide = np.complex128 if operand.value.dtype.kind == "c" else np.float64
            entry.update(tensor(rounded(operand.value.astype(wide))))
            del entry["shape"], entry["sample"]


def features(draft: Draft) -> str:
    """What is told apart about a call: its type, its ranks, its arguments, kinds of values."""
    told: list[Any] = [draft.get("dtype"), draft.get("mode"), draft.get("check")]
    plain = [draft.get(key, {}) for key in ("args", "init", "call")]
    told += [sorted((k, str(v)[:40]) for k, v in each.items()) for each in plain]
    for path, entry in tensors(draft):
        array = array_of(entry)
        shape = tuple(entry["shape"]) if array is None else array.shape
        told.append([str(path), [min(size, 2) for size in shape], _kinds(entry, array)])
    return json.dumps(told)


def _kinds(entry: dict[str, Any], array: Any) -> list[bool]:
    if array is None or not array.size or not is_differentiated(entry):
        return []
    flat = np.abs(array.ravel())
    unequal = len(np.unique(array.ravel())) == array.size
    some = [(flat == 0).any(), (flat > 1e3).any(), (flat == 1).all(), np.isinf(flat).any()]
    return [bool(each) for each in (*some, (np.real(array) < 0).any(), unequal)]
