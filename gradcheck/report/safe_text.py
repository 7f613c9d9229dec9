"""Text that is safe to print: no control characters, nothing that the stream cannot encode."""

from __future__ import annotations

import re
from typing import TextIO

_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_]?)")
# (And what turns the direction of writing around, or ends a line in its own way.)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
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
# What a CI takes for a command in what a step prints: of GitHub at the beginning of a line, and in
# its older form anywhere, as of Azure and TeamCity; the sections of GitLab's and Travis' logs.
_COMMAND = re.compile(
    r"(?P<line>(?:^|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])(?:\s|\x1b\[[0-9;]*m)*:)(?=:)"
    r"|(?P<mark>#)(?=#(?:\[|vso\[|teamcity\[))"
    r"|(?P<section>section_(?:start|end)|travis_(?:fold|time))(?=:)",
    re.IGNORECASE,
)
_MOST_LINES = 30
"""A text of more is clipped: a screen has fifty, and the failure's own table must fit too."""


def clean(text: str) -> str:
    """The text without escape sequences and control characters, as messages may hold any."""
    if text.isprintable():  # nearly always
        return text
    text = _ESCAPE_SEQUENCE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _CONTROL.sub("", text).expandtabs(4)


def defused(text: str) -> str:
    """The text with a space in what a CI would take for a command: `: :error`, `# #vso[`.

    Names, messages and whatever a function prints may hold anything. Without it
    `test_no_line_is_a_command` fails.
    """
    if "::" not in text and not _may_command(text):  # looked for in C
        return text
    return _COMMAND.sub(lambda found: f"{found[0]} ", text)


def _may_command(text: str) -> bool:
    return "##" in text or "section_" in text or "travis_" in text


def spelt(text: str, escape: str, *, lines: bool = False) -> str:
    """The same for a format in which a character can be spelt, by `escape` and its number.

    Whoever reads the format gets the text as it was. `lines`: a line may begin with any text.
    """
    if not _may_command(text) and not (lines and "::" in text):
        return text
    return _COMMAND.sub(lambda found: found[0][:-1] + escape.format(ord(found[0][-1])), text)


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
    """A text stream that never fails for want of a character: it writes the nearest it has.

    Nor does it write a line that a CI takes for a command, however the line came about: by a text
    that was folded, or in pieces. What is to be one is written by `command`.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = ""
        """What stands on the line so far, as far as it may be the beginning of a command."""
        # StringIO has None: it takes everything.
        self.encoding: str = getattr(stream, "encoding", None) or "utf-8"

    def write(self, text: str) -> int:
        """Write the text, with replacements where the encoding needs them."""
        whole = defused(self._begun + text)
        # (A `:` alone may become a command by what comes behind it.)
        kept = len(self._begun)
        text = whole[kept:] if whole.startswith(self._begun) else f" {text}"
        self._begun = _unfinished(whole)
        return self._write(text)

    def command(self, text: str) -> int:
        """Write a line that is a command on purpose."""
        self._begun = ""
        return self._write(text)

    def _write(self, text: str) -> int:
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


def _unfinished(text: str) -> str:
    """The end of what was written, where a command may have begun in it."""
    line = re.split(r"[\n\r]", text[-_LONGEST_BEGINNING:])[-1]
    # (Behind other text there are the commands that may stand anywhere; the x is for that text.)
    return f"x{line[-_LONGEST_MARK:]}" if line.strip(" \t:") else line


_LONGEST_BEGINNING, _LONGEST_MARK = 400, 16
"""Characters that may stand before a command on its line, and of its mark itself."""
