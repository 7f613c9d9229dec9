"""What a dead worker leaves behind, made readable: its exit code and the end of its output."""

from __future__ import annotations

import re
import signal
from pathlib import Path

SHOWN_LINES = 8
"""How many lines of output are worth showing: the reason of a failed check of TensorFlow's, which
takes one or two, and what was printed on the way there."""

SHOWN_FIRST = 3
"""How many lines are shown of the beginning of an output that is too long to be kept."""

SHOWN_WIDTH = 300
"""How many characters of a line are worth showing: TensorFlow's own messages fit into as many."""

SHOWN_FRAMES = 4
"""How many lines of the Python stack are worth showing: the user's own functions, innermost first;
those of TensorFlow and of this program are left out before they are counted."""

_MEANINGS = {
    signal.SIGKILL: "killed, perhaps out of memory",
    signal.SIGABRT: "a failed internal check of a library, as a rule",
    signal.SIGSEGV: "an access to memory that is not there",
    signal.SIGFPE: "an integer division by zero, as a rule",
    signal.SIGILL: "an instruction that this processor does not have",
    signal.SIGBUS: "an access to memory that is not there",
}

_FAULTS = {
    *(signal.SIGABRT, signal.SIGSEGV, signal.SIGFPE, signal.SIGILL, signal.SIGBUS, signal.SIGTRAP),
    signal.SIGSYS,
}

# Python's own account of where it is begins so; what TensorFlow has to say comes before it.
_STACK = re.compile(r"(Fatal Python error:|Stack \(most recent call first\):)")

# Lines that say nothing to whoever wrote the case; cuInit is TensorFlow looking for a GPU.
_NOISE = re.compile(r"\s*(@\s+0x|\*\*\* |Extension modules:|Current thread )|.*\bcuInit\b")

# Frames of machinery, between the case and the crash.
_OURS = str(Path(__file__).parents[2])
_MACHINERY = re.compile(
    rf"{re.escape(_OURS)}|[/\\](tensorflow|keras|multiprocessing)[/\\]|<(frozen|string)"
)


def is_own_fault(code: int | None) -> bool:
    """Whether an exit code tells of something that the process did by itself.

    It leaves on its own, or runs into something; other signals come from other processes too.
    """
    return code is None or code >= 0 or -code in _FAULTS


def death_message(code: int | None) -> str:
    """What an exit code says; negative ones are signals."""
    if code is None:
        return "the worker process closed its connection and went on"
    if code >= 0:
        return f"the worker process ended itself with exit code {code}"
    try:
        name = signal.Signals(-code)
    except ValueError:
        return f"the worker process died of signal {-code}"
    meaning = _MEANINGS.get(name)
    return f"the worker process died of {name.name}" + (f": {meaning}" if meaning else "")


def first_words(output: str) -> list[str]:
    """The first lines of an output; the last of them may be torn and is left out."""
    lines = [
        line.rstrip()[:SHOWN_WIDTH] for line in output.splitlines()[:-1] or output.splitlines()
    ]
    return [line for line in lines if line.strip() and not _NOISE.match(line)][:SHOWN_FIRST]


def last_words(output: str) -> list[str]:
    """The lines worth showing: the last ones printed, then where in Python it happened."""
    printed, *stack = _STACK.split(output, maxsplit=1)
    lines = [line.rstrip()[:SHOWN_WIDTH] for line in printed.splitlines()]
    words = [line for line in lines if line.strip() and not _NOISE.match(line)][-SHOWN_LINES:]
    if stack:
        frames = [line.strip() for line in stack[-1].splitlines() if line.startswith("  File ")]
        words += [frame for frame in frames if not _MACHINERY.search(frame)][:SHOWN_FRAMES]
    return words
