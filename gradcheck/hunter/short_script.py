"""A wrong gradient in a dozen lines of plain TensorFlow, as an issue tracker wants them.

The program of `script.py` weighs all outputs and looks at all elements, to be sure. This one shows
the one number that is worst, of one output. Which of its forms shows it is found by running them.
"""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

import numpy as np

from gradcheck.hunter.drafts import COMPLEX, Draft, array_of, check_of, mode_of, tensors
from gradcheck.hunter.failures import FailureKind
from gradcheck.hunter.one_cause import NUMBERS
from gradcheck.hunter.script_parts import Parts, name_in_program, np_text
from gradcheck.model import CheckKind, Mode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcheck.hunter.failures import Failure

OUTPUTS = ("", "[0]", "[1]", "[2]")
"""What may have to stand behind a call, so that it gives one tensor."""

_STEP = {True: -17, False: -7}
"""The step as a power of two, for double precision and for others: adding it loses no digit."""

_GRADIENT = """\
def {name}({given}):
    with tf.GradientTape() as tape:
        tape.watch({wrong})
        result = {inner}({given})
    return {outcome}
"""

_FORWARD = """\
def gradient({given}):
    with tf.autodiff.ForwardAccumulator({wrong}, direction) as accumulator:
        result = f({given})
    return accumulator.jvp(result, tf.UnconnectedGradients.ZERO)
"""

_JACOBIAN = """\
with tf.GradientTape(persistent=True) as tape:
    tape.watch({wrong})
    result = {call}
    flat = tf.unstack(tf.reshape(result, [-1]))
rows = [tape.gradient(row, {wrong}) for row in flat]
right = tf.reshape(tf.stack(rows), result.shape + {wrong}.shape)
claimed = {made}
print("tape.gradient, row by row:", right)
print("tape.jacobian:", claimed)
"""

_RAISING_JACOBIAN = """\
with tf.GradientTape() as tape:
    tape.watch({wrong})
    result = {call}
print("the function:", result)
print("its Jacobian:", {made})
"""


def short_texts(draft: Draft, failure: Failure, place: tuple[int, ...]) -> Iterator[str]:
    """Programs that may show the failure at this place of its input, the shortest first.

    There is none of a weight: to move it takes more lines.
    """
    parts = Parts(draft, failure)
    if parts.weight:
        return
    for output in OUTPUTS:
        if check_of(draft) is CheckKind.JACOBIAN and parts.jacobian:
            form = _JACOBIAN if failure.kind in NUMBERS else _RAISING_JACOBIAN
            called = parts.call + output
            yield _whole(parts, form.format(wrong=parts.wrong, call=called, made=parts.jacobian))
        for weighed in (False, True):
            body = _gradient(draft, failure, parts, parts.call + output, weighed=weighed)
            yield _whole(parts, body + _numbers(draft, failure, parts, place))


def _whole(parts: Parts, body: str) -> str:
    imports = [line for line in parts.imports if "numpy" not in line or "np." in body]
    return "\n".join(
        [
            *textwrap.wrap(f"# {parts.title}", 98, subsequent_indent="# "),
            *imports,
            "",
            *parts.constants,
            "",
            body,
        ]
    )


def _in_double(draft: Draft, failure: Failure) -> bool:
    """Whether it is held against the same gradient of more bits, and not against differences."""
    return draft.get("dtype") in ("float16", "bfloat16") and failure.kind is FailureKind.WRONG


def _gradient(draft: Draft, failure: Failure, parts: Parts, call: str, *, weighed: bool) -> str:
    """The definitions of `f`, one real number, and of `gradient`."""
    given = parts.names if _in_double(draft, failure) else parts.wrong
    total = f"tf.reduce_sum({call})"
    lines = []
    if weighed:
        weights = f"tf.cast(np.resize({parts.weights}, result.shape), result.dtype)"
        lines = [f"    result = {call}"]
        total = f"tf.reduce_sum(result * {weights})"
    real = f"tf.math.real({total})" if parts.complex else total
    text = "\n".join([f"def f({given}):", *lines, f"    return {real}"]) + "\n\n"
    outcome = f"tape.gradient(result, {parts.wrong})"
    inner = "f"
    if check_of(draft) is CheckKind.SECOND:
        inner = "slope"
        summed = f"tf.reduce_sum({outcome})"
        text += "\n" + _GRADIENT.format(
            name=inner, given=given, wrong=parts.wrong, inner="f",
            outcome=f"tf.math.real({summed})" if parts.complex else summed,
        ) + "\n"  # fmt: skip
    mode = mode_of(draft)
    if mode is not Mode.EAGER:
        text += "\n@tf.function" + ("(jit_compile=True)" if mode is Mode.XLA else "")
    text += "\n"
    if check_of(draft) is CheckKind.FORWARD:
        return text + _FORWARD.format(given=given, wrong=parts.wrong) + "\n\n"
    return (
        text
        + _GRADIENT.format(
            name="gradient", given=given, wrong=parts.wrong, inner=inner, outcome=outcome
        )
        + "\n\n"
    )


def _numbers(draft: Draft, failure: Failure, parts: Parts, place: tuple[int, ...]) -> str:
    """The lines that show what TensorFlow says, and what is right."""
    wrong, at = parts.wrong, list(place)
    forward = check_of(draft) is CheckKind.FORWARD
    told = f"gradient({wrong})" if forward or not place else f"gradient({wrong})[{_index(place)}]"
    if failure.kind is FailureKind.DISCONNECTED:
        told = f"gradient({wrong})"
    if failure.kind not in NUMBERS:
        ahead = "" if not forward else f"direction = tf.ones_like({wrong})\n"
        return f'{ahead}print("the function:", f({wrong}))\nprint("gradient:", gradient({wrong}))\n'
    if _in_double(draft, failure):
        wide = ", ".join(f"tf.cast({name}, tf.float64)" for name in parts.floating)
        behind = f"[{_index(place)}]" if place else ""
        return (
            f"claimed = gradient({parts.names}){behind}\n"
            f"right = gradient({wide}){behind}\n"
            f'print("{draft["dtype"]}:", claimed)\nprint("float64:", right)\n'
        )
    entry = next(e for path, e in tensors(draft) if name_in_program(path) == wrong)
    base = np.asarray(array_of(entry))
    size = float(np.abs(base[place])) if base.size else 1.0
    power = _STEP[parts.own_dtype in ("float64", "complex128")] + (
        round(math.log2(size)) if size else 0
    )
    one = np.zeros(base.shape)
    one[place] = 1.0
    function = "slope" if check_of(draft) is CheckKind.SECOND else "f"
    lines = [
        f"direction = tf.constant({np_text(one.tolist())}, tf.{parts.own_dtype})",
        f"step = 2.0**{power} * direction",
        f"claimed = {told}",
        f"right = ({function}({wrong} + step) - {function}({wrong} - step)) / 2.0**{power + 1}",
    ]
    if parts.own_dtype in COMPLEX and not forward:
        turned = lines[-1].replace("right = ", "along_i = ").replace("step", "1j * step")
        lines += [turned, "right = tf.complex(right, along_i)"]
    lines += [
        f'print("TensorFlow, at {at}:", claimed)',
        'print("difference:", right)',
    ]
    return "\n".join(lines) + "\n"


def _index(place: tuple[int, ...]) -> str:
    return ", ".join(map(str, place))
