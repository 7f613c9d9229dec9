"""Text that is safe to print: no control characters, nothing that the stream cannot encode."""

from __future__ import annotations

import re
from typing import TextIO

_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_]?)")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# For streams that are not Unicode: better than a row of question marks.
_PLAIN = str.maketrans(
    {
        "±": "+-",
        "–": "-",
        "—": "-",
        "·": "*",
        "…": "...",
        "×": "x",
        "−": "-",
        "≤": "<=",
        "≥": ">=",
        "²": "^2",
        "³": "^3",
        "√": "sqrt",
        "π": "pi",
        "σ": "sigmoid",
    }
)
_MOST_LINES = 30
"""A text of more is clipped: a screen has fifty, and the failure's own table must fit too."""


def clean(text: str) -> str:
    """The text without escape sequences and control characters, as messages may hold any."""
    if text.isprintable():  # nearly always
        return text
    text = _ESCAPE_SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _CONTROL.sub("", text).expandtabs(4)


def clipped(text: str) -> str:
    """A long text without its middle: what happened stands at its beginning or at its end."""
    lines = clean(text).strip("\n").split("\n")
    if len(lines) > _MOST_LINES:
        head, tail = lines[: _MOST_LINES - 10], lines[-9:]
        hidden = len(lines) - len(head) - len(tail)
        lines = [*head, f"… {hidden} lines left out (the json report has them) …", *tail]
    return "\n".join(lines)


def one_line(text: str) -> str:
    """The text on one line."""
    return " ".join(clean(text).split())


def indented(text: str, by: str = "  ") -> str:
    """Every line of the text moved to the right; empty ones stay empty."""
    return "\n".join(by + line if line else line for line in text.split("\n"))


class SafeStream:
    """A text stream that never fails for want of a character: it writes the nearest it has."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        # StringIO has None: it takes everything.
        self.encoding: str = getattr(stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write the text, with replacements where the encoding needs them."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            text = text.translate(_PLAIN).encode(self.encoding, "replace").decode(self.encoding)
        return self._stream.write(text)

    def flush(self) -> None:
        """Flush the stream below."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Whether somebody is looking."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The descriptor of the stream below, by which the terminal's size is found."""
        return self._stream.fileno()
