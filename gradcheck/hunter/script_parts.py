"""What the program that shows a failure is filled with: its inputs, its call, its names."""

from __future__ import annotations

import keyword
import pprint
from typing import TYPE_CHECKING, Any

from gradcheck import ops
from gradcheck.checker.subject.jacobian_ways import Way
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
from gradcheck.hunter.failures import way_in
from gradcheck.hunter.layer_text import LayerText, weight_lines
from gradcheck.model import Mode

if TYPE_CHECKING:
    from gradcheck.hunter.failures import Failure

WEIGHTS = {False: "[1.0, -0.5, 2.0, 0.75]", True: "[1 + 2j, -0.5 + 1j, 2 - 1j, 0.75 + 0.5j]"}
"""What the outputs are multiplied by, over and over; all of it is exact in any precision."""


_TAKEN = frozenset(
    (
        *(
            "np",
            "tf",
            "keras",
            "layer",
            "weighted",
            "function",
            "value",
            "derivative",
            "slope",
            "along",
            "moved",
        ),
        *("gradient", "reference", "differences", "tape", "result", "outputs", "rows", "flat"),
        *("f", "step", "direction", "claimed", "right", "along_i"),
        *("each", "tangent", "accumulator", "input", "range", "abs", "map", "print"),
    )
)
"""Names that the program has for something of its own."""


class NoScriptError(Exception):
    """The case cannot be written as a program of its own; the text says why."""


class Parts:
    """What the texts of `script.py` are filled with."""

    def __init__(self, draft: Draft, failure: Failure) -> None:
        self.draft = draft
        self.dtype = str(draft.get("dtype", "float64"))
        self.complex = self.dtype in COMPLEX
        self.weights = WEIGHTS[self.complex]
        entries = {name_in_program(path): entry for path, entry in tensors(draft)}
        self.floating = [name for name, entry in entries.items() if _is_floating(entry)]
        wrong = [_bare(name) for name in failure.inputs]
        wanted = [n for n, e in entries.items() if n in self.floating and is_differentiated(e)]
        if not wanted:
            raise NoScriptError("no input is differentiated")
        self.differentiated = wanted
        self.wrong = next((name for name in wrong if name in wanted), "")
        self.weight = ""
        """The path that Keras gives to the weight that is to blame; empty where it is an input."""
        if wrong and not self.wrong:
            self.weight, self.wrong = failure.inputs[0], self._weight(failure.inputs[0])
            self.differentiated = [*wanted, self.wrong]
        self.wrong = self.wrong or wanted[0]
        self.own_dtype = str(entries.get(self.wrong, {}).get("dtype") or self.dtype)
        self.names = ", ".join(self.floating)
        self.constants = [self._constant(name, entry) for name, entry in entries.items()]
        self.imports = ["import numpy as np", "import tensorflow as tf"]
        self.call = self._call()
        self.way = way_in(failure.text)
        loops = self.way in (Way.LOOPED, Way.BATCH_LOOPED)
        self.behind = ", experimental_use_pfor=False" if loops else ""
        """What stands behind the tensors in a call of `tape.jacobian` that goes this way."""
        self.jacobian = self._jacobian()
        mode, check = mode_of(draft), check_of(draft)
        what = {"reverse": "", "second": "the gradient of its "}.get(check, f"its {check}-mode ")
        where = "" if mode is Mode.EAGER else f" in {mode}"
        self.title = (
            f"{target_of(draft)}, {what}gradient{where} in {self.own_dtype}: {failure.kind.told}."
        )

    def _weight(self, path: str) -> str:
        """The name in the program of a weight."""
        if key_of(self.draft) != "layer":
            raise NoScriptError("a variable is to blame, and not an input")
        if self.dtype in ("float16", "bfloat16"):
            raise NoScriptError("a weight of few bits is to blame, and not an input")
        name = name_in_program((path.rpartition("/")[2],))
        return f"{name}_weight" if name in self.floating else name

    def _jacobian(self) -> str:
        """What makes the Jacobian of `result` in the way that fails; empty if row by row."""
        if self.way is Way.ROWS:
            return ""
        method = "batch_jacobian" if self.way.is_batch else "jacobian"
        return f"tape.{method}(result, {self.wrong}{self.behind})"

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
            text = name_in_program((name,))
            if parts is not None:
                text = (
                    f"[{', '.join(name_in_program((name, place)) for place in range(len(parts)))}]"
                )
            # (A custom gradient sees only what it is given by position.)
            placed = isinstance(given, list) or key == "function"
            texts.append(text if placed else f"{name}={text}")
        arguments = {**draft.get("args", {}), **draft.get("call", {})}
        texts += [f"{name}={np_text(each)}" for name, each in arguments.items()]
        outputs = draft.get("outputs")
        picked = "" if outputs is None else f"[{outputs if isinstance(outputs, int) else ':'}]"
        if isinstance(outputs, list):
            picked = f"[:{len(outputs)}]"
        call = f"{self._callee(key, target)}({', '.join(texts)})"
        if key == "layer":
            self.constants += weight_lines(self.wrong, self.weight, call)
        return call + picked

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
        if key == "layer":
            layer = LayerText(np_text)
            made = layer.made(target, self.draft.get("init", {}))
            # (Layers inside of others take Keras' own dtype, too.)
            real = {"complex128": "float64", "complex64": "float32"}.get(self.dtype, self.dtype)
            policy = str(self.draft.get("init", {}).get("dtype") or real)
            self.imports = ["import keras", *self.imports]
            self.imports += [line for line in layer.imports if line not in self.imports]
            self.constants += [
                f'keras.config.set_floatx("{real}")',
                f'keras.config.set_dtype_policy("{policy}")',
                "keras.utils.set_random_seed(0)",
                f"layer = {made}",
            ]
            return "layer"
        raise NoScriptError(f"nothing is known of {key}: {target}")


def np_text(value: Any) -> str:
    """Plain data as Python writes it; with numpy's names for what is not finite."""
    text = pprint.pformat(value, width=10_000, compact=True)
    for word, name in (("inf", "np.inf"), ("nan", "np.nan")):
        text = text.replace(word, name) if not isinstance(value, str) else text
    return text


def _is_floating(entry: dict[str, Any]) -> bool:
    return is_differentiated({**entry, "grad": True})


def name_in_program(path: tuple[Any, ...]) -> str:
    """A name for a tensor in the program: none that stands for something else there."""
    text = "_".join(map(str, path))
    text = f"input{text}" if text[:1].isdigit() else text
    return f"{text}_" if text in _TAKEN or keyword.iskeyword(text) else text


def _bare(name: str) -> str:
    """The name in the program of an input: `x_0` for `x[0]`."""
    return name_in_program((name.replace("[", "_").replace("]", "").replace("'", ""),))
