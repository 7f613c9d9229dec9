"""A layer in a program in plain TensorFlow: how it is made, and the weight that is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class LayerText:
    """The expression that makes a layer, with those inside of it, and the imports it needs."""

    def __init__(self, text: Callable[[Any], str]) -> None:
        """Prepare; `text` writes plain data as Python does."""
        self._text = text
        self.imports: list[str] = []

    def made(self, target: str, init: Mapping[str, Any]) -> str:
        """The expression for a layer of this class."""
        given = ", ".join(f"{name}={self._value(value)}" for name, value in init.items())
        return f"{self._class(target)}({given})"

    def _class(self, target: str) -> str:
        module, _, name = target.partition(":")
        new = f"from {module} import {name.partition('.')[0]}" if name else "import keras"
        if new not in self.imports:
            self.imports.append(new)
        return name or target

    def _value(self, value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(self._value(item) for item in value)}]"
        if isinstance(value, dict) and "layer" in value:
            return self.made(str(value["layer"]), value.get("init") or {})
        return self._text(value)


def weight_lines(name: str, path: str, call: str) -> list[str]:
    """The statements behind the one that makes the layer: its weights, none of them zero.

    Args:
        name: the name in the program of the weight that is looked at.
        path: Keras' path of it; empty where none is.
        call: a call of the layer.
    """
    made = f"{call}  # makes the weights"
    if not path:
        return [made]
    return [
        made,
        "rng = np.random.default_rng(0)",
        "for v in layer.trainable_variables:",
        "    v.assign(v + 0.5 * rng.standard_normal(v.shape))",
        f"{name} = next(v.value for v in layer.trainable_variables if v.path == {path!r})",
    ]


MOVED = """\
def moved(numbers, function, *given):
    \"\"\"What the function gives while the weight has other values.\"\"\"
    before = {wrong}.numpy()
    {wrong}.assign(numbers)
    result = function(*given)
    {wrong}.assign(before)
    return result
"""
