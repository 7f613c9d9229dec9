"""What the commands print themselves, beside the reports: nothing else here writes to the screen.

Paths, names and messages may come from anybody: no escape codes pass, and no line that a CI would
take for a command.
"""

from __future__ import annotations

import click

from gradcheck.report.safe_text import clean, defused, one_line, spelt


def say(text: str, *, err: bool = False) -> None:
    """Print a text, on standard error where it is no answer."""
    click.echo(defused(clean(text)), err=err)


def note(text: str) -> None:
    """Say something that the user should know but that stops nothing."""
    say(f"note: {text}", err=True)


def say_styled(text: str) -> None:
    """Print a text of ours that is set in bold here and there."""
    click.echo(defused(text))


def say_report(text: str) -> None:
    """Print what was made safe where it was written; on a terminal some of it may be bold."""
    click.echo(text, nl=False)


def say_progress(text: str) -> None:
    """Put a text in place of the last one, on a terminal's standard error; an empty one clears."""
    click.echo(f"\r\x1b[2K{one_line(text)}", nl=False, err=True)


def say_json(text: str) -> None:
    """Print a JSON document, which is the same document for whoever reads it."""
    click.echo(spelt(text, "\\u{:04x}"))
