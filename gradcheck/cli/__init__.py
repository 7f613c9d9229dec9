"""The command line: one thin file per command, and what several of them share.

May import every other package, and does so inside functions where that would cost start-up time.
What is shared comes first, then the commands, each in the module of its name, then app:
ARCHITECTURE.md has the order.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130
"""`ExitCode.INTERRUPTED`, for when not even that could be imported."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    # Imported in here: Ctrl-C while this loads is no reason for a traceback either.
    try:
        from gradcheck.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    return run(argv)
