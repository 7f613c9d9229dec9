"""Which function of TensorFlow's makes the gradient of a kernel: this runs in a worker.

Kernels whose gradients are made by one function have one cause for what is wrong with it. That is
the function that is registered, or one that it hands the whole of its work to. Functions that are
written twice in the same words are one, as are those that one function makes.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gradcheck.checker.case import problem_of
from gradcheck.checker.subject.look_up import look_up
from gradcheck.checker.subject.private_names import Absent, Private, private
from gradcheck.checker.subject.tensors import call
from gradcheck.hunter.drafts import case_of, copied, target_of
from gradcheck.hunter.signatures import RAW
from gradcheck.model import Case, Result, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from types import CodeType, FrameType, TracebackType


def gradient_code(case: Case, *, allow: Collection[str], root: str) -> Result:
    """The message names the function that makes the gradient of the call, or raises in it."""
    draft = copied(json.loads(case.reason)["draft"], mode=None, check=None)
    found = ""
    code = _registered(target_of(draft).removeprefix(RAW))
    real = case_of(draft, 0, tuple(allow))
    if code is not None and not isinstance(real, str):
        watcher = Watcher(code)
        raised: TracebackType | None = None
        with suppress(Exception):  # (what the function itself raises is told by a check)
            problem = problem_of(real, allow=allow, root=root)
            raised = _run(problem, watcher)
        found = fingerprint(_where_it_raised(code, raised) or watcher.made_by)
    return Result(case.id, Verdict.PASS, message=json.dumps({"code": found}), case=case)


def _registered(op: str) -> CodeType | None:
    try:
        function = private(Private.REGISTRY).lookup(op)
    except (Absent, LookupError):
        return None
    code = getattr(function, "__code__", None)
    return code if inspect.iscode(code) else None


def _run(problem: Any, watcher: Watcher) -> TracebackType | None:
    """Take the gradient; where it raises, from where."""
    tensors = [operand.hold(operand.value) for operand in problem.operands]
    moved = [t for t in tensors if t.dtype.is_floating or t.dtype.is_complex]
    with look_up("tf.GradientTape")() as tape:
        tape.watch(moved)
        outputs = call(problem.function, tensors)
        told = [o for o in outputs if o.dtype.is_floating or o.dtype.is_complex]
    before = sys.getprofile()
    sys.setprofile(watcher)
    try:
        tape.gradient(told, moved)
    except Exception as error:
        return error.__traceback__
    finally:
        sys.setprofile(before)
    return None


class Watcher:
    """Called by Python at each call and return: who made what the registered function gave?

    Whoever takes the same op, stands in the same file, and gave all that it gives: what only
    reshapes what another one made does not take the op.
    """

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._op: Any = None
        self._gave: list[tuple[CodeType, list[Any]]] = []
        self.made_by = code

    def __call__(self, frame: FrameType, event: str, given: Any) -> None:
        """Take in a call or a return."""
        if frame.f_code.co_filename != self._code.co_filename:
            return
        if event == "call" and frame.f_code is self._code and self._op is None:
            self._op = next(iter(frame.f_locals.values()), None)
        elif event == "return" and self._op is not None:
            if frame.f_code is not self._code:
                if any(value is self._op for value in frame.f_locals.values()):
                    self._gave.append((frame.f_code, _parts(given)))
                return
            self._op, whole = None, _parts(given)
            same = (code for code, parts in self._gave if _are_same(parts, whole))
            # (The first to return is the innermost.)
            self.made_by = next(same, self._code)


def _parts(given: Any) -> list[Any]:
    """What a gradient function gives, without what it leaves out."""
    several = given if isinstance(given, list | tuple) else [given]
    return [each for each in several if each is not None]


def _are_same(one: list[Any], other: list[Any]) -> bool:
    return bool(one) and len(one) == len(other) and all(map(_is, one, other))


def _is(one: Any, other: Any) -> bool:
    return one is other


def _where_it_raised(code: CodeType, raised: TracebackType | None) -> CodeType | None:
    """The innermost function of the file that the registered one stands in."""
    frames = [each.f_code for each in _frames(raised)]
    if code not in frames:
        return None
    within = frames[frames.index(code) :]
    return [each for each in within if each.co_filename == code.co_filename][-1]


def _frames(raised: TracebackType | None) -> Iterator[FrameType]:
    while raised is not None:
        yield raised.tb_frame
        raised = raised.tb_next


def fingerprint(code: CodeType) -> str:
    """The same for what says the same, whatever it is called: without its name and description."""
    return hashlib.sha256(repr(_words(code)).encode()).hexdigest()[:16]


def _words(code: CodeType) -> tuple[Any, ...]:
    # (The first constant is the description, if there is one.)
    described = bool(code.co_consts) and isinstance(code.co_consts[0], str)
    constants = code.co_consts[1:] if described else code.co_consts
    held = [_words(each) if inspect.iscode(each) else repr(each) for each in constants]
    return (code.co_code, code.co_names, code.co_freevars, held)
