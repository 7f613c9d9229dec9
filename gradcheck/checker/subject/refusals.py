"""What TensorFlow says it cannot do, in a sentence that names the op.

XLA has no kernel for some ops, and some ops have no gradient. Neither is something that the
function did, and neither is told as if it were.
"""

from __future__ import annotations

import re
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gradcheck.checker.subject.ended import Ended
from gradcheck.checker.subject.private_names import Absent, Private, definition_of_op, private
from gradcheck.model import CheckKind, Mode, Stage, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NO_KERNEL = re.compile(r"(\w+) \(No registered '\w+' OpKernel for (XLA_\w+?)_JIT")
_NOT_COMPILED = re.compile(
    r"[^\n]*(?:must be a compile-time constant|UNIMPLEMENTED|Unimplemented|not supported by XLA"
    r"|XLA (?:compilation requires|can't deduce|can't use|does not support)"
    r"|left_branch_shape\.|during context \[)[^\n]*"
)
_NO_ENTRY = re.compile(r"gradient registry has no entry for: (\w+)")
WITHOUT_GRADIENT = re.compile(r"(\w+) has no gradient in TensorFlow")
"""How it is told that an op has none; the group is its name."""
OUT_OF_REACH = re.compile(
    r"\w+ has no gradient in TensorFlow|Gradient explicitly disabled"
    r"|forward mode does not go through|TensorArray dtype is \w+ but Op is trying to write"
    r"|Invalid data types; op elements \w+ but list elements \w+"
)
"""How it is told that a derivative is none that TensorFlow has."""
NO_TANGENTS = {
    "lists and other variants": re.compile(r"<dtype: 'variant'> is not compatible with"),
    "slices that a gradient gives": re.compile(r"'IndexedSlices' object has no attribute '_id'"),
}
"""Of what forward mode makes none, and how TensorFlow says so."""
UNTRACEABLE = re.compile(r"SymbolicTensor|[Ss]ymbolic (?:`?tf\.)?Tensor")
"""How it is told that somebody asked a tensor of a graph for its numbers."""
UNTRACED = "cannot be traced"
"""How it is told of a function that Python's own arithmetic keeps out of graphs."""
_UNFORESEEN = re.compile(
    r"Could not generate a generic TraceType|^Internal error|Attempting to add a duplicate function"
)
"""How TensorFlow says that it is its own fault."""
_FOR_KERNEL = re.compile(r"\(OpKernel was found, but attributes didn't match\)")


class NoGradient(Exception):  # noqa: N818  (it becomes a verdict)
    """An op on the way has no gradient; `op` is its name."""

    def __init__(self, op: str) -> None:
        """Which op that is."""
        super().__init__(op)
        self.op = op


def must_be_compiled(error: BaseException, mode: Mode) -> None:
    """End the check as skipped where XLA could not compile what was asked of it."""
    if mode is not Mode.XLA:
        return
    reason = _what_xla_lacks(error)
    if reason:
        raise Ended(Verdict.SKIPPED, reason, Stage.SET_UP) from error


def must_have_gradients(error: BaseException) -> None:
    """Raise NoGradient where it was for want of a gradient that something was raised."""
    for text in _texts(error):
        found = _NO_ENTRY.search(text)
        if found:
            raise NoGradient(found[1]) from error


def told_of_forward_mode(error: BaseException, mode: Mode) -> str:
    """What forward mode raised, as a sentence where it is one of its limits; else nothing.

    Without it `test_forward_mode_through_a_list_of_tensors` fails, and
    `test_what_forward_mode_does_not_go_through_in_a_graph`.
    """
    texts = list(_texts(error))
    for what, pattern in NO_TANGENTS.items():
        if any(map(pattern.search, texts)):
            return (
                f"forward mode does not go through {_dispatched(error)}: TensorFlow makes no "
                f"tangents of {what}, which only the tape goes back through"
            )
    broken = "" if mode is Mode.EAGER else _own_fault(error)
    if broken:
        return (
            f"forward mode does not go through {_dispatched(error)} inside of a graph: TensorFlow "
            f"raises {broken} of its own while it makes the tangents. Eagerly it may go well"
        )
    return ""


def _own_fault(error: BaseException) -> str:
    """What TensorFlow raised, where by its own words it did not expect that; else nothing.

    Its traces must be whole for this (`whole_traces`): else nothing tells whose assertion it was.
    """
    for each in _chain(error):
        code = next((f.f_code for f, _ in reversed([*traceback.walk_tb(each.__traceback__)])), None)
        if code is None or "/tensorflow/" not in code.co_filename:
            continue
        own = isinstance(each, AssertionError) or _UNFORESEEN.search(str(each))
        if own:
            said = str(each).partition("\n")[0]
            return f"{type(each).__name__} ({said})" if said else type(each).__name__
    return ""


@contextmanager
def whole_traces() -> Iterator[None]:
    """With TensorFlow's own frames in what is raised, which it leaves out for its users."""
    import tensorflow as tf

    were_filtered = tf.debugging.is_traceback_filtering_enabled()
    tf.debugging.disable_traceback_filtering()
    try:
        yield
    finally:
        if were_filtered:
            tf.debugging.enable_traceback_filtering()


def _dispatched(error: BaseException) -> str:
    """The op that TensorFlow was about to differentiate in forward mode, by its frames."""
    for each in _chain(error):
        for frame, _ in traceback.walk_tb(each.__traceback__):
            name = frame.f_locals.get("op_name")
            if isinstance(name, str):
                return name
    return "an op"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that it comes from."""
    each: BaseException | None = error
    while each is not None:
        yield each
        each = each.__cause__ or each.__context__


def told_untraceable(told: str) -> str:
    """What to add to what was raised, where a graph was asked for numbers; else nothing.

    Without it `test_what_cannot_be_traced` fails.
    """
    if not UNTRACEABLE.search(told):
        return ""
    return (
        f"; it {UNTRACED}: inside of a graph tensors have no numbers yet. Check it eagerly, or "
        "let TensorFlow's own functions compute what is done with the numbers"
    )


def told_without_gradient(op: str, kind: CheckKind) -> str:
    """What to say of an op that has no gradient, where this is checked."""
    base = re.sub(r"Grad(V\d+)?$", "", op)
    of_a_gradient = base != op
    what = f"{op} has no gradient in TensorFlow"
    if of_a_gradient and kind is CheckKind.FORWARD:
        what = f"forward mode needs a second-order gradient of {base}: {what}"
    elif kind is CheckKind.FORWARD:
        what = f"forward mode goes back through each op, and {what}"
    elif of_a_gradient and kind is CheckKind.SECOND:
        what = f"{base} has no second-order gradient: {what}"
    return (
        f'{what}. Register one (tf.RegisterGradient("{op}")), or wrap the call in a '
        "tf.custom_gradient"
    )


def told_not_differentiable(kinds: Iterable[str]) -> str:
    """Which of these ops TensorFlow registers as not differentiable, in a sentence; or nothing."""
    try:
        registry = private(Private.REGISTRY)
        found = [kind for kind in sorted(kinds) if _is_registered_so(registry, kind)]
    except Absent:
        return ""
    if not found:
        return ""
    are = "is" if len(found) == 1 else "are"
    return f"{', '.join(found)} {are} registered as not differentiable in TensorFlow"


def _is_registered_so(registry: Any, kind: str) -> bool:
    """Whether it is, of an op that numbers go through."""
    try:
        if kind in _CONSTANT or registry.lookup(kind) is not None:
            return False
    except LookupError:
        return False
    definition = definition_of_op(kind)
    if definition is None:
        return False
    given = {arg.type_attr or arg.type for arg in definition.input_arg}
    return any((arg.type_attr or arg.type) in given for arg in definition.output_arg)


_CONSTANT = frozenset({"OnesLike", "ZerosLike", "Const", "Shape", "ShapeN", "Size", "Rank"})
"""What these return does not depend on the numbers that they are given."""


def _what_xla_lacks(error: BaseException) -> str:
    """Why XLA could not compile, in a sentence; empty where it was something else."""
    for each in _chain(error):
        if type(each).__name__ == "UnimplementedError":
            return f"XLA cannot compile the function or its gradient: {_short(_first_line(each))}"
    for text in _texts(error):
        found = _NO_KERNEL.search(text)
        if found:
            ops = dict.fromkeys(match[0] for match in _NO_KERNEL.findall(text))
            device = found[2].removeprefix("XLA_")
            matched = " for this dtype" if _FOR_KERNEL.search(text) else ""
            return (
                f"XLA cannot compile {', '.join(ops)}{matched} on the {device}: there is nothing "
                "to check in this mode"
            )
        found = _NOT_COMPILED.search(text)
        if found:
            return f"XLA cannot compile the function or its gradient: {_short(found[0])}"
    return ""


def _first_line(error: BaseException) -> str:
    return str(getattr(error, "message", "") or error).partition("\n")[0]


def _short(line: str) -> str:
    text = re.sub(r"\{\{[^}]*\}\}|\[Op:\w+\]|__inference\w*", "", line).strip()
    return text if len(text) <= 300 else f"{text[:300]} …"


def _texts(error: BaseException) -> Iterator[str]:
    """What an error says, and what those say that it comes from."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        try:
            yield str(getattr(one, "message", "") or one)
        except Exception:  # noqa: S112  (what an exception says of itself is the user's too)
            continue
        waiting += [one.__cause__, one.__context__]
        waiting += [arg for arg in one.args if isinstance(arg, BaseException)]
