"""Mathematics for the terminal: one line of Unicode."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["UNICODE", "Unicode", "split_number"]

_SUPERSCRIPTS = dict(
    zip(
        "0123456789+-=()ijklmnxyabcdefghoprstuvwz",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁱʲᵏˡᵐⁿˣʸᵃᵇᶜᵈᵉᶠᵍʰᵒᵖʳˢᵗᵘᵛʷᶻ",
        strict=True,
    )
) | {"−": "⁻", "T": "ᵀ", "H": "ᴴ"}
_SUBSCRIPTS = dict(
    zip("0123456789+-ijklmnprstuvxaeho", "₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₖₗₘₙₚᵣₛₜᵤᵥₓₐₑₕₒ", strict=True)
) | {"−": "₋", ",": ","}
"""Not every letter has a small form below the line: q has none."""


def split_number(name: str) -> tuple[str, str]:
    """A name and the number at its end: v12 is v with the subscript 12."""
    match = re.fullmatch(r"([^\W\d_]+)_?(\d+)", name)
    return (match[1], match[2]) if match else (name, "")


class Unicode:
    """For the terminal."""

    def symbol(self, name: str) -> str:
        """A name, its number below."""
        base, number = split_number(name)
        return base + "".join(_SUBSCRIPTS[c] for c in number)

    def number(self, value: float) -> str:
        """A number, in the fewest digits that say it."""
        if float(value).is_integer() and abs(value) < 1e15:
            return str(int(value))
        return re.sub(r"e([+-])0+", r"e\1", f"{value:.10g}")

    def words(self, text: str) -> str:
        """Plain words."""
        return text

    def subscript(self, base: str, below: str) -> str:
        """Something small below."""
        if all(c in _SUBSCRIPTS for c in below):
            return base + "".join(_SUBSCRIPTS[c] for c in below)
        return f"{base}_{{{below}}}" if len(below) > 1 else f"{base}_{below}"

    def power(self, base: str, exponent: str) -> str:
        """Something small above."""
        if len(exponent) <= 6 and all(c in _SUPERSCRIPTS for c in exponent):
            return base + "".join(_SUPERSCRIPTS[c] for c in exponent)
        simple = re.fullmatch(r"[\w.]+", exponent)
        return f"{base}^{exponent}" if simple else f"{base}^({exponent})"

    def elementwise_power(self, base: str, exponent: str) -> str:
        """A power of each element, where that of a matrix could be read."""
        return f"{base}^(⊙{exponent})"

    def ones(self) -> str:
        """An array of ones among matrices."""
        return "𝟏"

    def indexed(self, base: str, indices: Sequence[str]) -> str:
        """One element of an array."""
        return f"{base}[{','.join(indices)}]" if indices else base

    def total(self, indices: Sequence[str], body: str) -> str:
        """A sum over indices."""
        return f"{self.subscript('Σ', ''.join(indices))} {body}"

    def family(self, body: str, indices: Sequence[str]) -> str:
        """The array of these elements, one for each value of the indices."""
        short = all(len(index) == 1 for index in indices)
        return self.subscript(f"({body})", ("" if short else ",").join(indices))

    def group(self, body: str) -> str:
        """Brackets around."""
        return f"({body})"

    def dot(self, factors: Sequence[str]) -> str:
        """A product of numbers."""
        return "·".join(factors)

    def hadamard(self, factors: Sequence[str]) -> str:
        """A product element by element."""
        return " ⊙ ".join(factors)

    def matmul(self, factors: Sequence[str]) -> str:
        """A product of matrices."""
        return " ".join(factors)

    def quotient(self, above: str, below: str) -> str:
        """One over another."""
        return f"{above} / {below}"

    def root(self, body: str, simple: bool) -> str:
        """A square root."""
        return f"√{body}" if simple else f"√({body})"

    def modulus(self, body: str) -> str:
        """An absolute value."""
        return f"|{body}|"

    def norm(self, body: str) -> str:
        """The length of a vector; of a matrix that of all its elements."""
        return f"‖{body}‖"

    def call(self, name: str, args: Sequence[str], below: str = "") -> str:
        """A function of arguments."""
        return f"{self.subscript(name, below) if below else name}({', '.join(args)})"

    def delta(self, left: str, right: str) -> str:
        """One where both indices agree, else zero."""
        return f"δ[{left},{right}]"

    def remainder(self, body: str, by: int) -> str:
        """What is left after division."""
        return f"({body}) mod {by}" if " " in body else f"{body} mod {by}"

    def where(self, condition: str, first: str, second: str) -> str:
        """The first where the condition holds."""
        return f"{{{first} where {condition}, else {second}}}"

    def relation(self, operator: str) -> str:
        """A comparison's sign."""
        return {">=": "≥", "<=": "≤", "!=": "≠", "==": "="}.get(operator, operator)

    def gradient(self, loss: str, name: str, indices: Sequence[str] = ()) -> str:
        """The derivative of the loss by one value."""
        return f"∂{loss}/∂{self.indexed(name, indices)}"

    def minus(self) -> str:
        """The sign of a negative."""
        return "−"

    def dots(self) -> str:
        """And so on."""
        return "…"

    def fraction(self) -> bool:
        """Whether a quotient stands on two lines, so that neither part needs brackets."""
        return False

    def derivative(self, above: str, below: str) -> str:
        """The derivative of one element by another."""
        return f"∂{above}/∂{below}"

    def second_derivative(self, above: str, below: str, other: str) -> str:
        """The derivative of something by two elements."""
        return f"∂²{above}/∂{below}∂{other}"

    def adjoint_symbol(self, name: str) -> str:
        """The gradient that reaches an intermediate value: a bar above it."""
        base, number = split_number(name)
        return base + "\u0304" + "".join(_SUBSCRIPTS[c] for c in number)

    def change_symbol(self, name: str) -> str:
        """How a value changes along a direction: a dot above it; `~v3` has a bar as well."""
        base, number = split_number(name.removeprefix("~"))
        above = "\u0304\u0307" if name.startswith("~") else "\u0307"
        shown = unicodedata.normalize("NFC", base + above)
        return shown + "".join(_SUBSCRIPTS[c] for c in number)

    def changed(self, text: str) -> str:
        """How something longer changes along a direction."""
        return f"({text})˙"


UNICODE = Unicode()
