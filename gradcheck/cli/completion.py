"""`gradcheck completion`: what a shell is to read, so that Tab completes commands and options."""

from __future__ import annotations

import click
import click.shell_completion

from gradcheck.cli.say import say
from gradcheck.errors import ExitCode

VARIABLE = "_GRADCHECK_COMPLETE"
"""Set by the shell when it asks what may come next."""


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print what SHELL reads to complete commands, options and files with Tab.

    \b
    Examples:
      eval "$(gradcheck completion bash)"      # in ~/.bashrc
      eval "$(gradcheck completion zsh)"       # in ~/.zshrc
      gradcheck completion fish > ~/.config/fish/completions/gradcheck.fish
    """  # noqa: D301  (click reads the \b)
    say(_shell(click.get_current_context().find_root().command, shell).source())
    return ExitCode.OK


def answer(group: click.Command, instruction: str) -> int:
    """What a shell asks for: `bash_complete`, with the words so far in other variables."""
    shell, _, what = instruction.partition("_")
    if shell not in ("bash", "zsh", "fish") or what not in ("complete", "source"):
        return ExitCode.USAGE
    completer = _shell(group, shell)
    say(completer.complete() if what == "complete" else completer.source())
    return ExitCode.OK


def _shell(group: click.Command, shell: str) -> click.shell_completion.ShellComplete:
    kind = click.shell_completion.get_completion_class(shell)
    assert kind is not None  # noqa: S101  (for the type checker: the shells are click's own)
    return kind(group, {}, "gradcheck", VARIABLE)
