"""Long lines of Python, broken so that they can still be pasted."""

from __future__ import annotations

__all__ = ["broken_code"]


def broken_code(line: str, width: int) -> list[str]:
    """A line of Python, broken inside of brackets alone, so that it can still be pasted."""
    if len(line) <= width or line.startswith("#"):
        return [line]
    words, word, depth = list[str](), "", 0
    for character in line:
        word += character
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == " " and depth:
            words.append(word)
            word = ""
    lines = [""]
    for part in [*words, word]:
        if lines[-1].strip() and len(lines[-1] + part.rstrip()) > width:
            lines.append("    ")
        lines[-1] += part
    return [one.rstrip() for one in lines]
