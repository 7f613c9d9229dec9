"""Mathematics for print: plain ASCII LaTeX that needs amsmath and amssymb."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gradcheck.explainer.style.unicode_style import UNICODE, split_number

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LATEX", "Latex"]

_GREEK = {
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon",
    "λ": r"\lambda", "σ": r"\sigma", "π": r"\pi", "Σ": r"\sum", "Φ": r"\Phi", "φ": r"\varphi",
    "ψ": r"\psi", "Γ": r"\Gamma", "μ": r"\mu", "Λ": r"\Lambda", "∞": r"\infty",
    "ℓ": r"\ell", "Δ": r"\Delta",
}  # fmt: skip
_LETTER = "|".join(_GREEK)
_NAMED = frozenset(["exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min", "det"])
"""Functions that LaTeX has a command for."""


def _command(letter: re.Match[str]) -> str:
    """Of a Greek letter; a space ends it before another letter."""
    rest = letter.string[letter.end() :]
    return _GREEK[letter[0]] + (" " if rest[:1].isascii() and rest[:1].isalpha() else "")


def _in_ascii(name: str) -> str:
    return re.sub(_LETTER, _command, name)


class Latex:
    """For print."""

    def symbol(self, name: str) -> str:
        """A name, its number below."""
        if name.startswith((r"\left(", "[")):
            return name  # no name, but an array that is written by its elements, and set already
        base, number = split_number(name)
        if base in _GREEK:
            shown = _GREEK[base]
        else:
            # Of a name of several letters too: the change of λ is dλ.
            letters = _in_ascii(base.replace("_", r"\_"))
            shown = base if len(base) == 1 else rf"\mathit{{{letters}}}"
        return f"{shown}_{{{number}}}" if number else shown

    def number(self, value: float) -> str:
        """A number; powers of ten are written as such."""
        text = UNICODE.number(value)
        if text in ("inf", "nan"):
            return r"\infty" if text == "inf" else r"\mathrm{nan}"
        mantissa, _, exponent = text.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa

    def words(self, text: str) -> str:
        """Plain words."""
        escaped = text.replace("_", r"\_")
        return rf"\text{{{escaped}}}"

    def subscript(self, base: str, below: str) -> str:
        """Something small below."""
        return f"{base}_{{{_in_ascii(below).replace('−', '-')}}}"

    def power(self, base: str, exponent: str) -> str:
        """Something small above."""
        exponent = exponent.replace("−", "-")
        if exponent in ("T", "H"):
            exponent = rf"\mathsf{{{exponent}}}"
        elif exponent in ("-T", "-H"):
            exponent = rf"-\mathsf{{{exponent[1]}}}"
        return f"{{{base}}}^{{{exponent}}}"

    def elementwise_power(self, base: str, exponent: str) -> str:
        """A power of each element, where that of a matrix could be read."""
        return rf"{{{base}}}^{{\odot {exponent.replace('−', '-')}}}"

    def ones(self) -> str:
        """An array of ones among matrices."""
        return r"\mathbf{1}"

    def indexed(self, base: str, indices: Sequence[str]) -> str:
        """One element of an array."""
        if not indices:
            return base
        below = " ".join(indices) if all(len(i) == 1 for i in indices) else ",".join(indices)
        return f"({base})_{{{below}}}" if "_" in base or "^" in base else f"{base}_{{{below}}}"

    def total(self, indices: Sequence[str], body: str) -> str:
        """A sum over indices."""
        return rf"\sum_{{{' '.join(indices)}}} {body}"

    def family(self, body: str, indices: Sequence[str]) -> str:
        """The array of these elements, one for each value of the indices."""
        return rf"\left({body}\right)_{{{' '.join(indices)}}}"

    def group(self, body: str) -> str:
        """Brackets around."""
        return rf"\left({body}\right)"

    def dot(self, factors: Sequence[str]) -> str:
        """A product of numbers."""
        return r" \cdot ".join(factors)

    def hadamard(self, factors: Sequence[str]) -> str:
        """A product element by element."""
        return r" \odot ".join(factors)

    def matmul(self, factors: Sequence[str]) -> str:
        """A product of matrices."""
        return r"\, ".join(factors)

    def quotient(self, above: str, below: str) -> str:
        """One over another."""
        return rf"\frac{{{above}}}{{{below}}}"

    def root(self, body: str, simple: bool) -> str:
        """A square root."""
        del simple
        return rf"\sqrt{{{body}}}"

    def modulus(self, body: str) -> str:
        """An absolute value."""
        return rf"\left|{body}\right|"

    def norm(self, body: str) -> str:
        """The length of a vector; of a matrix that of all its elements."""
        return rf"\left\lVert {body}\right\rVert"

    def call(self, name: str, args: Sequence[str], below: str = "") -> str:
        """A function of arguments."""
        if name in _GREEK:
            shown = _GREEK[name]
        elif name in _NAMED:
            shown = rf"\{name}"
        else:
            letters = "".join(_GREEK.get(c, c) for c in name.replace("_", r"\_"))
            shown = rf"\operatorname{{{letters}}}"
        shown = f"{shown}_{{{below.replace('−', '-')}}}" if below else shown
        return rf"{shown}\left({', '.join(args)}\right)"

    def delta(self, left: str, right: str) -> str:
        """One where both indices agree, else zero."""
        return rf"\delta_{{{left} {right}}}"

    def remainder(self, body: str, by: int) -> str:
        """What is left after division."""
        return rf"\left({body}\right) \bmod {by}"

    def where(self, condition: str, first: str, second: str) -> str:
        """The first where the condition holds."""
        return (
            rf"\begin{{cases}} {first} & \text{{if }} {condition} \\ {second} & "
            rf"\text{{else}} \end{{cases}}"
        )

    def relation(self, operator: str) -> str:
        """A comparison's sign."""
        return {">=": r"\ge", "<=": r"\le", "!=": r"\ne", "==": "="}.get(operator, operator)

    def gradient(self, loss: str, name: str, indices: Sequence[str] = ()) -> str:
        """The derivative of the loss by one value."""
        return rf"\frac{{\partial {self.symbol(loss)}}}{{\partial {self.indexed(name, indices)}}}"

    def minus(self) -> str:
        """The sign of a negative."""
        return "-"

    def dots(self) -> str:
        """And so on."""
        return r"\dots"

    def fraction(self) -> bool:
        """Whether a quotient stands on two lines, so that neither part needs brackets."""
        return True

    def derivative(self, above: str, below: str) -> str:
        """The derivative of one element by another."""
        return self.quotient(rf"\partial {above}", rf"\partial {below}")

    def second_derivative(self, above: str, below: str, other: str) -> str:
        """The derivative of something by two elements."""
        return self.quotient(rf"\partial^{{2}} {above}", rf"\partial {below} \, \partial {other}")

    def adjoint_symbol(self, name: str) -> str:
        """The gradient that reaches an intermediate value: a bar above it."""
        base, number = split_number(name)
        below = f"_{{{number}}}" if number else ""
        return rf"\bar{{{self.symbol(base)}}}{below}"

    def change_symbol(self, name: str) -> str:
        """How a value changes along a direction: a dot above it; `~v3` has a bar as well."""
        base, number = split_number(name.removeprefix("~"))
        shown = rf"\bar{{{self.symbol(base)}}}" if name.startswith("~") else self.symbol(base)
        return rf"\dot{{{shown}}}" + (f"_{{{number}}}" if number else "")

    def changed(self, text: str) -> str:
        """How something longer changes along a direction."""
        return rf"\left({text}\right)^{{\cdot}}"


LATEX = Latex()
