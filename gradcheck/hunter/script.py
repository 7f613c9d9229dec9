"""A wrong gradient as a short program in plain TensorFlow, for somebody else's issue tracker.

It knows nothing of gradcheck: what it prints is what TensorFlow says, beside differences of the
function itself or, where few bits are to blame, beside the same gradient in double precision.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcheck.hunter.drafts import COMPLEX, Draft, check_of, mode_of
from gradcheck.hunter.failures import NUMBERS, UNANSWERED, FailureKind
from gradcheck.hunter.layer_text import MOVED
from gradcheck.hunter.script_parts import Parts
from gradcheck.model import Mode

if TYPE_CHECKING:
    from gradcheck.hunter.failures import Failure


@dataclass(frozen=True, slots=True)
class Program:
    """The text, and what is needed to look at what it makes."""

    text: str
    names: tuple[str, ...]
    """What `value` takes."""
    wrong: str
    """The one whose gradient it takes."""


def program_of(draft: Draft, failure: Failure) -> Program:
    """The program that shows the failure; NoScriptError where there is none."""
    parts = Parts(draft, failure)
    return Program(_text(draft, failure, parts), tuple(parts.floating), parts.wrong)


def _text(draft: Draft, failure: Failure, parts: Parts) -> str:
    told = [
        f"gradient = derivative({parts.names})",
        'print("TensorFlow\'s gradient:", gradient)',
    ]
    numeric = _reference(draft, parts, failure)
    # (Where the gradient raises, that there is one is shown before.)
    parted = [*numeric, "", *told] if failure.kind in UNANSWERED else [*told, *numeric]
    return "\n".join(
        [
            *textwrap.wrap(f"# {parts.title}", 98, subsequent_indent="# "),
            *parts.imports,
            "",
            *parts.constants,
            "",
            *_VALUE.format(call=parts.call, names=parts.names, weights=parts.weights).splitlines(),
            "",
            *_gradient(draft, failure, parts),
            "",
            f'print("the function:        ", value({parts.names}).numpy())',
            *parted,
            "",
        ]
    )


_VALUE = """\
def weighted(outputs):
    \"\"\"One real number of all the outputs.\"\"\"
    weights = {weights}
    parts = [tf.convert_to_tensor(t) for t in tf.nest.flatten(outputs) if t is not None]
    parts = [t for t in parts if t.dtype.is_floating or t.dtype.is_complex]
    products = [tf.reduce_sum(t * tf.cast(np.resize(weights, t.shape), t.dtype)) for t in parts]
    return tf.add_n([tf.cast(tf.math.real(p), tf.float64) for p in products])


def function({names}):
    return {call}


def value({names}):
    return weighted(function({names}))
"""

_TAPE = """\
def {name}({names}):
    with tf.GradientTape() as tape:
        tape.watch([{watched}])
        result = {inner}({names})
    return {outcome}
"""

_FORWARD = """\
def along({names}, tangent):
    with tf.autodiff.ForwardAccumulator({wrong}, tangent) as accumulator:
        result = value({names})
    return accumulator.jvp(result, tf.UnconnectedGradients.ZERO)
"""

_JACOBIAN = """\
def derivative({names}):
    with tf.GradientTape() as tape:
        tape.watch({wrong})
        outputs = [tf.convert_to_tensor(t) for t in tf.nest.flatten(function({names}))]
        outputs = [t for t in outputs if t.dtype.is_floating or t.dtype.is_complex]
        flat, each = [], []
        for t in outputs:
            weights = np.resize({weights}, t.shape).ravel()
            flat.append(tf.math.real(t))
            each.append(np.real(weights))
            if t.dtype.is_complex:
                flat.append(tf.math.imag(t))
                each.append(-np.imag(weights))
        flat = tf.concat([tf.cast(tf.reshape(t, [-1]), {wrong}.dtype) for t in flat], 0)
    rows = tape.jacobian(flat, {wrong}{behind})
    return tf.tensordot(tf.cast(np.concatenate(each), {wrong}.dtype), rows, 1)
"""

_RAISING_JACOBIAN = """\
def derivative({names}):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch({wrong})
        results = tf.nest.flatten(function({names}))
    return [{made} for result in results if result.dtype.is_floating or result.dtype.is_complex]
"""

_DIFFERENCES = """\
def differences(step):
    base = {wrong}.numpy()
    numeric = np.zeros_like(base)
    for index in np.ndindex(*base.shape):
        for turn in {turns}:
            move = np.zeros_like(base)
            move[index] = turn * step * (abs(base[index]) or 1.0)
            up, down = base + move, base - move
            width = abs(up[index] - down[index])
            numeric[index] += turn * ({up} - {down}).numpy() / width
    return numeric


print("central differences:  ", differences({step}))
"""


def _gradient(draft: Draft, failure: Failure, parts: Parts) -> list[str]:
    """The definition of `derivative`, in the mode of the case."""
    check, names, wrong = check_of(draft), parts.names, parts.wrong
    compiled = mode_of(draft) is Mode.XLA
    wrapped = f"tf.function({{}}, autograph=False, jit_compile={compiled})"
    outcome = f'tape.gradient(result, {wrong}, unconnected_gradients="zero")'
    if check == "second":
        every = ", ".join(parts.differentiated)
        text = _TAPE.format(
            name="slope", names=names, watched=every, inner="value",
            outcome=f"weighted(tape.gradient(result, [{every}]))",
        )  # fmt: skip
        text += "\n\n" + _TAPE.format(
            name="derivative", names=names, watched=wrong, inner="slope", outcome=outcome
        )
    elif check == "forward":
        text = _FORWARD.format(names=names, wrong=wrong)
        if mode_of(draft) is not Mode.EAGER:
            text += f"\n\nalong = {wrapped.format('along')}\n"
        return [*text.splitlines(), "", "", *_FORWARD_LOOP.format(
            names=names, wrong=wrong, turns=_turns(parts)
        ).splitlines()]  # fmt: skip
    elif check == "jacobian" and parts.jacobian and failure.kind in UNANSWERED:
        text = _RAISING_JACOBIAN.format(names=names, wrong=wrong, made=parts.jacobian)
    elif check == "jacobian":
        text = _JACOBIAN.format(
            names=names, wrong=wrong, weights=parts.weights, behind=parts.behind
        )
    else:
        text = _TAPE.format(
            name="derivative", names=names, watched=wrong, inner="value",
            outcome=f"tape.gradient(result, {wrong})",
        )  # fmt: skip
    if mode_of(draft) is not Mode.EAGER:
        text += f"\n\nderivative = {wrapped.format('derivative')}\n"
    return text.splitlines()


_FORWARD_LOOP = """\
def derivative({names}):
    base = np.zeros({wrong}.shape, {wrong}.dtype.as_numpy_dtype)
    found = np.zeros_like(base)
    for index in np.ndindex(*base.shape):
        for turn in {turns}:
            tangent = base.copy()
            tangent[index] = turn
            found[index] += turn * along({names}, tf.constant(tangent)).numpy()
    return found
"""


def _turns(parts: Parts) -> str:
    return "(1, 1j)" if parts.own_dtype in COMPLEX else "(1,)"


def _reference(draft: Draft, parts: Parts, failure: Failure) -> list[str]:
    """What to hold against it."""
    if failure.kind not in (*NUMBERS, *UNANSWERED):
        return []
    if draft.get("dtype") in ("float16", "bfloat16") and failure.kind is FailureKind.WRONG:
        wide = ", ".join(
            f"tf.cast({name}, tf.float64)" if name in parts.floating else name
            for name in parts.floating
        )
        return [f"reference = derivative({wide})", 'print("in double precision:  ", reference)']
    names = parts.floating
    function = "slope" if check_of(draft) == "second" else "value"
    step = 1e-5 if parts.own_dtype in ("float64", "complex128") else 1e-2
    calls = {}
    for way in ("up", "down"):
        given = [f"tf.constant({way})" if name == parts.wrong else name for name in names]
        if parts.weight:
            calls[way] = f"moved({', '.join((way, function, *names))})"
        else:
            calls[way] = f"{function}({', '.join(given)})"
    text = _DIFFERENCES.format(wrong=parts.wrong, turns=_turns(parts), step=step, **calls)
    if parts.weight:
        text = MOVED.format(wrong=parts.wrong) + "\n\n" + text
    return ["", "", *text.splitlines()]
