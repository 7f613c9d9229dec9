"""An explanation as a LaTeX document that compiles by itself, in plain ASCII."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from gradcheck.explainer.document import Bullets, Code, Equation, Paragraph
from gradcheck.explainer.style import LATEX, UNICODE

if TYPE_CHECKING:
    from gradcheck.explainer.document import Block, Document

__all__ = ["render_latex"]

_HEAD = (
    r"\documentclass{article}",
    r"\usepackage[margin=2cm]{geometry}",
    r"\usepackage{amsmath,amssymb,graphicx}",
    r"\newsavebox{\fitbox}",
    r"\newcommand{\fit}[1]{\sbox{\fitbox}{#1}\ifdim\wd\fitbox>\linewidth"
    r"\resizebox{\linewidth}{!}{\usebox{\fitbox}}\else\usebox{\fitbox}\fi}",
    r"\setlength{\parindent}{0pt}",
    r"\begin{document}",
)

CODE_WIDTH = 90
"""How many letters of equal width fit between the margins."""
LONGEST_LINE = 85
"""Mathematics that is longer than this on a terminal is too long for a line in print."""

LONGEST_PIECE = 55
"""Signs of a fraction or a root that fits beside what stands around it."""

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": "$<$", ">": "$>$", "|": "$|$",
}  # fmt: skip
_SYMBOLS = {
    "∂": r"\partial", "ℓ": r"\ell", "½": r"\tfrac12", "‖": r"\|",
    "Σ": r"\Sigma", "Π": r"\Pi", "·": r"\cdot", "×": r"\times", "⊙": r"\odot",
    "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "√": r"\surd", "∞": r"\infty", "±": r"\pm",
    "−": "-", "→": r"\to", "δ": r"\delta", "λ": r"\lambda", "α": r"\alpha", "β": r"\beta",
    "ε": r"\varepsilon", "π": r"\pi", "σ": r"\sigma", "Γ": r"\Gamma", "ψ": r"\psi",
    "Φ": r"\Phi", "Λ": r"\Lambda", "μ": r"\mu", "γ": r"\gamma", "∈": r"\in", "∘": r"\circ",
    "⟨": r"\langle", "⟩": r"\rangle", "ζ": r"\zeta", "χ": r"\chi", "Δ": r"\Delta",
    "∫": r"\int", "∇": r"\nabla", "φ": r"\varphi", "Ω": r"\Omega", "′": "'", "∧": r"\wedge",
}  # fmt: skip
_PUNCTUATION = {"–": "--", "—": "---", "…": r"\dots{}", "“": "``", "”": "''", "’": "'", "‘": "`"}


def render_latex(document: Document) -> str:
    """A whole document: save it, and run pdflatex on it."""
    # (A long expression is broken behind brackets, dots and underscores too.)
    name = re.sub(r"(\(|\.|\\_)", r"\1\\allowbreak{}", _prose(document.title))
    title = rf"\section*{{\raggedright\texttt{{{name}}}}}"
    lines = [*_HEAD, title, _prose(document.lead), ""]
    for section in document.sections:
        lines += [rf"\subsection*{{{_prose(section.heading)}}}"]
        for block in section.blocks:
            lines += _block(block)
    return "\n".join([*lines, r"\end{document}"])


def _prose(text: str) -> str:
    """Plain words as LaTeX: special characters escaped, mathematical ones translated."""
    return "".join(_character(character) for character in text)


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isascii():
        return character
    if character in _PUNCTUATION:
        return _PUNCTUATION[character]
    if character in _SYMBOLS:
        return f"${_SYMBOLS[character]}$"
    kind, _, base = unicodedata.decomposition(character).partition(" ")
    if kind in ("<super>", "<sub>"):
        plain = "".join(chr(int(code, 16)) for code in base.split()).replace("−", "-")
        inner = _SYMBOLS.get(plain, plain)
        return f"${'^' if kind == '<super>' else '_'}{{{inner}}}$"
    # A letter with a mark loses it; anything else has no place in ASCII.
    stripped = unicodedata.normalize("NFD", character).encode("ascii", "ignore").decode()
    return stripped or "?"


def _broken(math: str, note: str) -> list[str]:
    """Mathematics that TeX may break at its signs, as it may break a paragraph.

    What it cannot break, as a long fraction, is made as small as the line asks for.
    """
    if _longest_piece(math) > LONGEST_PIECE:
        beside = rf"\\ ({note})" if note else ""
        return [r"\begin{quote}", rf"\fit{{$\displaystyle {math}$}}" + beside, r"\end{quote}"]
    remark = f" ({note})" if note else ""
    free = math.replace(", ", r",\allowbreak{} ").replace(r"\left(", "(").replace(r"\right)", ")")
    return [r"\begin{quote}\raggedright", rf"$\displaystyle {free}$" + remark, r"\end{quote}"]


def _longest_piece(math: str) -> int:
    """The signs of the longest part that TeX breaks nowhere: what stands in braces, and choices."""
    longest, starts = 0, list[int]()
    for place, character in enumerate(math):
        if character == "{":
            starts.append(place + 1)
        elif character == "}" and starts:
            longest = max(longest, _signs(math[starts.pop() : place]))
    for chosen in re.findall(r"\\begin\{cases\}(.*?)\\end\{cases\}", math, re.DOTALL):
        longest = max(longest, *(_signs(line) for line in chosen.split(r"\\")))
    return longest


def _signs(math: str) -> int:
    """About how many signs are seen: a command is one, braces are none."""
    return len(re.sub(r"[{}_^\s]", "", re.sub(r"\\(?:left|right)?[a-zA-Z]*", "x", math)))


def _block(block: Block) -> list[str]:
    if isinstance(block, Paragraph):
        return [_prose(block.text), ""]
    if isinstance(block, Equation):
        math = block.math(LATEX)
        if len(block.math(UNICODE)) + len(block.note) > LONGEST_LINE:
            return _broken(math, _prose(block.note))
        note = rf" \qquad\text{{({_prose(block.note)})}}" if block.note else ""
        return [r"\[", rf"\fit{{$\displaystyle {math}{note}$}}", r"\]"]
    if isinstance(block, Code):
        return [r"\begin{verbatim}", *block.broken(CODE_WIDTH), r"\end{verbatim}"]
    if isinstance(block, Bullets):
        items = [rf"\item {_prose(item)}" for item in block.items]
        return [r"\begin{itemize}", *items, r"\end{itemize}"]
    rows = [" & ".join(map(_prose, row)) + r" \\" for row in (block.head, *block.rows)]
    table = [rf"\begin{{tabular}}{{{'l' * len(block.head)}}}", *rows, r"\end{tabular}"]
    return [r"\fit{%", *table, "}", ""]
