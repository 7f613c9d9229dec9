"""The first step of a safe expression: text → Python's syntax tree, bounded, with places in it."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass

from gradcheck.errors import ExpressionError

MAX_LENGTH = 4_000
"""Characters: ten times the longest formula that an op declares, the 321 of layer_norm. Python's
parser takes memory by the character."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A parsed expression and the text that it came from."""

    text: str
    body: ast.expr
    start: int
    """Where the parsed part begins in `text`: blanks before it are not Python's to see."""

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Offset and length of a node, in characters of `text`."""
        first = self._offset(getattr(node, "col_offset", 0))
        last = self._offset(getattr(node, "end_col_offset", None) or 0)
        return first, max(1, last - first)

    def _offset(self, column: int) -> int:
        # Python counts the bytes of UTF-8.
        code = self.text[self.start :].encode()
        return self.start + len(code[:column].decode(errors="ignore"))


def parse_tree(text: str) -> Tree:
    """Parse one expression; every failure of Python's parser becomes an ExpressionError."""
    if not text.strip():
        raise ExpressionError("the expression is empty")
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"the expression is {len(text):,} characters long; at most {MAX_LENGTH:,} are read",
            hint="split the work over functions of your own and use `function:`",
        )
    for offset, character in enumerate(text):
        if not character.isprintable() and character not in "\t\n\r":
            raise ExpressionError(f"the character {character!a} is not allowed", offset=offset)
    start = len(text) - len(text.lstrip())
    # One line for Python, of the same length: a folded YAML text needs no brackets around it.
    code = text[start:].translate({ord(blank): " " for blank in "\t\n\r\f\v"})
    tree = Tree(text, _parse(code, start), start)
    offset, length = tree.span(tree.body)
    rest = text[offset + length :].lstrip(") \t\r\n")
    if rest:
        raise ExpressionError(
            "a comment is not part of an expression",
            offset=len(text) - len(rest),
            length=len(rest.rstrip()),
            hint="put it on a line of its own in the YAML",
        )
    return tree


def _parse(code: str, start: int) -> ast.expr:
    try:
        with warnings.catch_warnings():
            # Python's advice on style ("invalid escape sequence") is not the spec's concern.
            warnings.simplefilter("ignore")
            return ast.parse(code, mode="eval").body
    except SyntaxError as error:
        # No offset means that the text ends too early: point at its end.
        end = len(code.rstrip())
        column = min(error.offset or end, end)
        what = "it ends too early" if not error.offset else error.msg
        raise ExpressionError(
            f"this is not a valid expression: {what}",
            offset=start + column - 1,
            length=max(1, (error.end_offset or 0) - column),
        ) from None
    except (RecursionError, MemoryError):
        raise ExpressionError("the expression is nested too deeply") from None
    except (ValueError, OverflowError) as error:
        raise ExpressionError(f"this is not a valid expression: {error}") from None
