"""A wrong gradient as a short program in plain TensorFlow, for somebody else's issue tracker.

It knows nothing of gradcheck: what it prints is what TensorFlow says, beside differences of the
function itself or, where few bits are to blame, beside the same gradient in double precision.
"""

from __future__ import annotations

import keyword
import pprint
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcheck import ops
from gradcheck.hunter.drafts import (
    COMPLEX,
    Draft,
    array_of,
    check_of,
    is_differentiated,
    key_of,
    mode_of,
    target_of,
    tensors,
)
from gradcheck.hunter.failures import FailureKind
from gradcheck.model import Mode

if TYPE_CHECKING:
    from gradcheck.hunter.failures import Failure

WEIGHTS = {False: "[1.0, -0.5, 2.0, 0.75]", True: "[1 + 2j, -0.5 + 1j, 2 - 1j, 0.75 + 0.5j]"}
"""What the outputs are multiplied by, over and over; all of it is exact in any precision."""


_TAKEN = frozenset(
    (
        *("np", "tf", "keras", "layer", "weighted", "value", "derivative", "slope", "along"),
        *("gradient", "reference", "differences", "tape", "result", "outputs", "rows", "flat"),
        *("each", "tangent", "accumulator", "input", "range", "abs", "map", "print"),
    )
)
"""Names that the program has for something of its own."""


class NoScriptError(Exception):
    """The case cannot be written as a program of its own; the text says why."""


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
    parts = _Parts(draft, failure)
    return Program(_text(draft, failure, parts), tuple(parts.floating), parts.wrong)


def _text(draft: Draft, failure: Failure, parts: _Parts) -> str:
    return "\n".join(
        [
            *textwrap.wrap(f"# {parts.title}", 98, subsequent_indent="# "),
            *parts.imports,
            "",
            *parts.constants,
            "",
            *_VALUE.format(call=parts.call, names=parts.names, weights=parts.weights).splitlines(),
            "",
            *_gradient(draft, parts),
            "",
            f'print("the function:        ", value({parts.names}).numpy())',
            f"gradient = derivative({parts.names})",
            'print("TensorFlow\'s gradient:", gradient)',
            *_reference(draft, parts, failure),
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


def value({names}):
    return weighted({call})
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
    return accumulator.jvp(result)
"""

_JACOBIAN = """\
def derivative({names}):
    with tf.GradientTape() as tape:
        tape.watch({wrong})
        outputs = [t for t in tf.nest.flatten({call}) if t.dtype.is_floating]
        flat = tf.concat([tf.reshape(tf.cast(t, {wrong}.dtype), [-1]) for t in outputs], 0)
        each = [np.resize({weights}, t.shape).ravel() for t in outputs]
    rows = tape.jacobian(flat, {wrong})
    return tf.tensordot(tf.cast(np.concatenate(each), {wrong}.dtype), rows, 1)
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
            numeric[index] += turn * ({function}({up}) - {function}({down})).numpy() / width
    return numeric


print("central differences:  ", differences({step}))
"""


class _Parts:
    """What the texts above are filled with."""

    def __init__(self, draft: Draft, failure: Failure) -> None:
        self.draft = draft
        self.dtype = str(draft.get("dtype", "float64"))
        self.complex = self.dtype in COMPLEX
        self.weights = WEIGHTS[self.complex]
        entries = {_name(path): entry for path, entry in tensors(draft)}
        self.floating = [name for name, entry in entries.items() if _is_floating(entry)]
        wrong = [_bare(name) for name in failure.inputs]
        wanted = [n for n, e in entries.items() if n in self.floating and is_differentiated(e)]
        if not wanted:
            raise NoScriptError("no input is differentiated")
        self.differentiated = wanted
        self.wrong = next((name for name in wrong if name in wanted), "")
        if wrong and not self.wrong:
            raise NoScriptError("a weight is to blame, and not an input")
        self.wrong = self.wrong or wanted[0]
        self.own_dtype = str(entries[self.wrong].get("dtype") or self.dtype)
        self.names = ", ".join(self.floating)
        self.constants = [self._constant(name, entry) for name, entry in entries.items()]
        self.imports = ["import numpy as np", "import tensorflow as tf"]
        self.call = self._call()
        mode, check = mode_of(draft), check_of(draft)
        what = {"reverse": "", "second": "the gradient of its "}.get(check, f"its {check}-mode ")
        where = "" if mode is Mode.EAGER else f" in {mode}"
        self.title = (
            f"{target_of(draft)}, {what}gradient{where} in {self.dtype}: {failure.kind.told}."
        )

    def _constant(self, name: str, entry: dict[str, Any]) -> str:
        array = array_of(entry)
        if array is None:
            raise NoScriptError("its values are drawn")
        dtype = str(entry.get("dtype") or self.dtype)
        inner = np_text(array.tolist())
        if not array.size:
            return f"{name} = tf.zeros({list(array.shape)}, tf.{dtype})"
        return f"{name} = tf.constant({inner}, tf.{dtype})"

    def _call(self) -> str:
        """The expression that calls the function under test."""
        draft, key, target = self.draft, key_of(self.draft), target_of(self.draft)
        given = draft["inputs"]
        pairs = list(enumerate(given)) if isinstance(given, list) else list(given.items())
        texts = []
        for name, entry in pairs:
            parts = entry.get("list") if isinstance(entry, dict) else None
            text = _name((name,))
            if parts is not None:
                text = f"[{', '.join(_name((name, place)) for place in range(len(parts)))}]"
            texts.append(text if isinstance(given, list) else f"{name}={text}")
        arguments = {**draft.get("args", {}), **draft.get("call", {})}
        texts += [f"{name}={np_text(each)}" for name, each in arguments.items()]
        outputs = draft.get("outputs")
        picked = "" if outputs is None else f"[{outputs if isinstance(outputs, int) else ':'}]"
        if isinstance(outputs, list):
            picked = f"[:{len(outputs)}]"
        return f"{self._callee(key, target)}({', '.join(texts)}){picked}"

    def _callee(self, key: str, target: str) -> str:
        if key == "op":
            op = ops.find(target)
            if op is not None and op.build is not None:
                raise NoScriptError("its call is put together by gradcheck")
            target = (
                op.tf if op is not None and not target.startswith(("tf.", "keras.")) else target
            )
            if target.startswith("keras."):
                self.imports.insert(0, "import keras")
            return target
        if key == "function":
            module, _, name = target.partition(":")
            self.imports.append(f"from {module} import {name.partition('.')[0]}")
            return name
        if key == "layer" and ":" not in target:
            self.imports.insert(0, "import keras")
            init = {"dtype": self.dtype, **self.draft.get("init", {})}
            if any(isinstance(value, dict) for value in init.values()):
                raise NoScriptError("there is a layer inside of a layer")
            given = ", ".join(f"{name}={np_text(each)}" for name, each in init.items())
            self.constants += ["keras.utils.set_random_seed(0)", f"layer = {target}({given})"]
            return "layer"
        raise NoScriptError(f"nothing is known of {key}: {target}")


def np_text(value: Any) -> str:
    """Plain data as Python writes it; with numpy's names for what is not finite."""
    text = pprint.pformat(value, width=10_000, compact=True)
    for word, name in (("inf", "np.inf"), ("nan", "np.nan")):
        text = text.replace(word, name) if not isinstance(value, str) else text
    return text


def _gradient(draft: Draft, parts: _Parts) -> list[str]:
    """The definition of `derivative`, in the mode of the case."""
    check, names, wrong = check_of(draft), parts.names, parts.wrong
    compiled = mode_of(draft) is Mode.XLA
    wrapped = f"tf.function({{}}, autograph=False, jit_compile={compiled})"
    outcome = f"tf.convert_to_tensor(tape.gradient(result, {wrong}))"
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
    elif check == "jacobian":
        text = _JACOBIAN.format(names=names, wrong=wrong, call=parts.call, weights=parts.weights)
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


def _turns(parts: _Parts) -> str:
    return "(1, 1j)" if parts.own_dtype in COMPLEX else "(1,)"


def _reference(draft: Draft, parts: _Parts, failure: Failure) -> list[str]:
    """What to hold against it."""
    if failure.kind not in (FailureKind.WRONG, FailureKind.NONFINITE, FailureKind.DISCONNECTED):
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
    moved = {
        way: ", ".join(f"tf.constant({way})" if name == parts.wrong else name for name in names)
        for way in ("up", "down")
    }
    text = _DIFFERENCES.format(
        wrong=parts.wrong, turns=_turns(parts), function=function, step=step, **moved
    )
    return ["", "", *text.splitlines()]


def _is_floating(entry: dict[str, Any]) -> bool:
    return is_differentiated({**entry, "grad": True})


def _name(path: tuple[Any, ...]) -> str:
    """A name for a tensor in the program: none that stands for something else there."""
    text = "_".join(map(str, path))
    text = f"input{text}" if text[:1].isdigit() else text
    return f"{text}_" if text in _TAKEN or keyword.iskeyword(text) else text


def _bare(name: str) -> str:
    """The name in the program of an input: `x_0` for `x[0]`."""
    return _name((name.replace("[", "_").replace("]", "").replace("'", ""),))
