r"""Mathematics in the LaTeX of our style as MathML, which every browser sets by itself.

The style writes a small part of LaTeX: `\frac`, `\sum`, `\left(`, `cases` and the like. What is
not known here is shown as it is; `test_every_formula_is_set` holds that nothing is.
"""

from __future__ import annotations

import re
from html import escape

__all__ = ["mathml"]

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|\s+|.", re.DOTALL)

_LETTERS = {
    r"\alpha": "α", r"\beta": "β", r"\gamma": "γ", r"\delta": "δ", r"\varepsilon": "ε",
    r"\lambda": "λ", r"\sigma": "σ", r"\pi": "π", r"\Phi": "Φ", r"\varphi": "φ", r"\psi": "ψ",
    r"\Gamma": "Γ", r"\mu": "μ", r"\Lambda": "Λ", r"\infty": "∞", r"\ell": "ℓ", r"\Delta": "Δ",
    r"\exp": "exp", r"\log": "log", r"\sin": "sin", r"\cos": "cos", r"\tan": "tan",
    r"\sinh": "sinh", r"\cosh": "cosh", r"\tanh": "tanh", r"\max": "max", r"\min": "min",
    r"\det": "det",
}  # fmt: skip
_SIGNS = {
    r"\partial": "∂", r"\cdot": "·", r"\odot": "⊙", r"\ge": "≥", r"\le": "≤", r"\ne": "≠",
    r"\dots": "…", r"\bmod": "mod", r"\sum": "∑", r"\_": "_", "-": "−",
}  # fmt: skip
_SPACES = {r"\,": "0.17em", r"\ ": "0.25em", r"\qquad": "2em"}
_NAMES = (r"\mathrm", r"\mathsf", r"\mathbf", r"\operatorname")


def mathml(latex: str) -> str:
    """A formula that stands on a line of its own."""
    return f'<math display="block">{_Reader(latex).row()}</math>'


_FENCES = {r"\lVert": "‖", r"\rVert": "‖"}
"""By command: the sign that stands around a group."""
_ABOVE = {r"\bar": "¯", r"\dot": "˙"}


class _Reader:
    """Recursive descent over the tokens of a formula."""

    def __init__(self, latex: str) -> None:
        self._tokens = _TOKEN.findall(latex)
        self._next = 0

    def row(self, *ends: str) -> str:
        """What stands before one of the ends, which is taken too, or before the end of all."""
        parts = []
        while (token := self._take()) and token not in ends:
            if not token.isspace():
                parts.append(self._with_scripts(token))
        return f"<mrow>{''.join(parts)}</mrow>"

    def _take(self) -> str:
        token = self._tokens[self._next] if self._next < len(self._tokens) else ""
        self._next += 1
        return token

    def _ahead(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _last(self) -> str:
        """The token that was taken last; empty behind the end of all."""
        return self._tokens[self._next - 1] if self._next <= len(self._tokens) else ""

    def _with_scripts(self, token: str) -> str:
        base, below, above = self._atom(token), "", ""
        while self._ahead() in ("_", "^"):
            sign, script = self._take(), self._argument()
            below, above = (script, above) if sign == "_" else (below, script)
        if below and token == r"\sum":
            return f"<munder>{base}{below}</munder>"
        if below and above:
            return f"<msubsup>{base}{below}{above}</msubsup>"
        if below:
            return f"<msub>{base}{below}</msub>"
        return f"<msup>{base}{above}</msup>" if above else base

    def _argument(self) -> str:
        """What a command stands before: a group, or a single token."""
        token = self._take()
        return self.row("}") if token in ("{", "") else self._atom(token)

    def _words(self) -> str:
        """The text of a group that holds words; what is escaped in it is not so any more."""
        self._take()
        words = ""
        while (token := self._take()) and token != "}":
            words += _LETTERS.get(token) or _SIGNS.get(token) or token
        return words

    def _atom(self, token: str) -> str:
        if token == "{":
            return self.row("}")
        if token == r"\frac":
            return f"<mfrac>{self._argument()}{self._argument()}</mfrac>"
        if token == r"\sqrt":
            return f"<msqrt>{self._argument()}</msqrt>"
        if token in _ABOVE:
            return f'<mover>{self._argument()}<mo stretchy="false">{_ABOVE[token]}</mo></mover>'
        if token == r"\left":
            return self._fenced()
        if token == r"\begin":
            return self._cases()
        if token == r"\text":
            return f"<mtext>{escape(_spaced(self._words()))}</mtext>"
        if token == r"\mathit":
            return f'<mi class="gcx-word">{escape(self._words())}</mi>'
        if token in _NAMES:
            # (A single letter would be set in italics.)
            return f'<mi mathvariant="normal">{escape(self._words())}</mi>'
        return _leaf(token)

    def _fenced(self) -> str:
        opening = self._take()
        inside = self.row(r"\right")
        closing = self._take()
        left, right = (
            f'<mo stretchy="true">{escape(_FENCES.get(sign, sign))}</mo>'
            for sign in (opening, closing)
        )
        return f"<mrow>{left}{inside}{right}</mrow>"

    def _cases(self) -> str:
        self._words()
        rows, end = [""], "&"
        while end in ("&", r"\\"):
            rows += [""] if end == r"\\" else []
            cell = self.row("&", r"\\", r"\end")
            rows[-1] += f"<mtd>{cell}</mtd>"
            end = self._last()
        self._words()
        table = "".join(f"<mtr>{row}</mtr>" for row in rows)
        return f"<mrow><mo>{{</mo><mtable>{table}</mtable></mrow>"


def _leaf(token: str) -> str:
    if token in _LETTERS:
        return f"<mi>{_LETTERS[token]}</mi>"
    if token in _SPACES:
        return f'<mspace width="{_SPACES[token]}"/>'
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    if token.isalpha():
        return f"<mi>{token}</mi>"
    sign = escape(_SIGNS.get(token, token))
    # (Brackets grow by themselves, where no `\left` asks for it.)
    return f'<mo stretchy="false">{sign}</mo>' if sign in "([|])" else f"<mo>{sign}</mo>"


def _spaced(words: str) -> str:
    """Words keep the spaces at their ends, which MathML would drop."""
    inner = words.strip(" ")
    before, after = len(words) - len(words.lstrip(" ")), len(words) - len(words.rstrip(" "))
    return "\u00a0" * before + inner + "\u00a0" * (after if inner else 0)
