"""The command line: one thin file per command."""

from gradcheck.cli.app import main

__all__ = ["main"]
