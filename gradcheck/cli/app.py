"""The command `gradcheck`: finds the subcommand, and turns whatever happens into an exit code."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
import threading
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any, cast

import click

from gradcheck.cli.say import say
from gradcheck.errors import ExitCode, GradcheckError, nearest, too_many_files
from gradcheck.report.safe_text import SafeStream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

COMMANDS = {
    "init": "Look at your package, and write specs for what has a gradient.",
    "new": "Write a spec for one function, layer or loss.",
    "run": "Check the gradients of the specs.",
    "report": "Show a JSON report in another format, such as a page.",
    "merge": "Join the JSON reports of shards.",
    "compare": "Show what changed between two JSON reports.",
    "validate": "Find what is wrong in specs, without running them.",
    "power": "Plant wrong gradients in the specs' cases, and see which are caught.",
    "coverage": "See which of TensorFlow's gradient functions the specs cover.",
    "hunt": "Look for wrong gradients in functions, modules and packages.",
    "shrink": "Make a failing case as small as it can be.",
    "explain": "Show where the gradient of an op or an expression comes from.",
    "ops": "List the declared ops, or show one of them.",
    "guide": "Learn gradients: go through a lesson, or copy them to a folder.",
    "schema": "Print the JSON Schema of specs, or of reports.",
    "completion": "Print what a shell reads to complete commands with Tab.",
}
"""By name, with the line that `gradcheck --help` shows; each is `command` in the module of that
name, which is imported only when it is called."""

CLOSED_PIPE = 128 + signal.SIGPIPE
"""What a shell shows for a command whose reader has gone."""


class _LazyGroup(click.Group):
    """A group that imports a command when it is asked for: `--help` stays instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which a user meets them."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"gradcheck.cli.{cmd_name}").command
        assert isinstance(command, click.Command)  # noqa: S101  (for the type checker)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; an unknown one gets a hint."""
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        if near := nearest(name, COMMANDS):
            hint = f"did you mean {near!r}?"
        elif "::" in name or os.path.exists(name):  # noqa: PTH110  (pathlib would cost start-up time)
            hint = f"did you mean 'gradcheck run {name}'?"
        else:
            hint = f"there are {', '.join(COMMANDS)}."
        raise click.UsageError(f"no command {name!r}: {hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _say_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    del option
    if asked and not context.resilient_parsing:
        import gradcheck

        say(f"gradcheck {gradcheck.__version__}")
        context.exit()


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 all as expected, 1 a case failed, 2 bad spec or usage, "
    "3 internal error, 5 nothing selected, 130 interrupted, 143 after SIGTERM, 129 after SIGHUP.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_say_version,
    help="Show the version and exit.",
)
def app() -> None:
    """Prove that TensorFlow gradients are right, or see which element is wrong and why.

    \b
    Examples:
      gradcheck init                       write specs for your package, and run them
      gradcheck run specs/                 check every spec in a folder
      gradcheck run specs/ -k matmul -x    only some, and stop at the first failure
      gradcheck validate specs/            find mistakes in specs within a moment
      gradcheck explain matmul             where its gradient comes from
      gradcheck ops matmul                 what its declaration says
    """  # noqa: D301  (click reads the \b)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; nothing but a bug of ours shows a traceback."""
    for stream in (sys.stdout, sys.stderr):
        # Reports hold ×, ∂ and ±; on a terminal that cannot show them a question mark will do.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    with _signals_noted() as came:
        return _code_of(list(sys.argv[1:] if argv is None else argv), came)


def _code_of(arguments: list[str], came: list[int]) -> int:
    """Run the command; whatever it raises becomes an exit code and a message."""
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show(cast("IO[str]", SafeStream(sys.stderr)))
        return error.exit_code
    except GradcheckError as error:
        _flush_or_forget()
        say(f"error: {error}", err=True)
        return int(error.exit_code)
    except KeyboardInterrupt:
        return _interrupted(came)
    except BrokenPipeError:
        _forget_stdout()
        return CLOSED_PIPE
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            say(f"error: {too_many_files()}", err=True)
            return int(ExitCode.INTERNAL)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            return _interrupted(came) if came else _internal(error)
        _flush_or_forget()
        say(f"error: the output could not be written: {error.strerror}", err=True)
        return int(ExitCode.INTERNAL)
    except Exception as error:
        # Extension modules that are stopped while they load raise something of their own.
        return _interrupted(came) if came else _internal(error)
    return _code_of_signal(came) if code == ExitCode.INTERRUPTED else code


@contextlib.contextmanager
def _signals_noted() -> Iterator[list[int]]:
    """Within this, a list that is empty until a signal asks the command to end.

    Ctrl-C, SIGTERM and SIGHUP are raised as Ctrl-C always is: reports are written with what is
    there. Who ignores one (in the background of a shell, after nohup), or does something else, goes
    on to do so. Without it `test_a_signal_ends_the_run_with_the_report_of_what_is_there` fails.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        again = bool(came) and number != signal.SIGINT
        came.append(number)
        if not again:  # (whoever ends a service sends some of them, one after the other)
            signal.default_int_handler(number, frame)

    heard: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        usual = (signal.default_int_handler, signal.SIG_DFL)
        asked = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        heard = {n: h for n in asked if (h := signal.getsignal(n)) in usual}
    # (Of SIGINT the system's own way is left to those who want it.)
    if heard.get(signal.SIGINT) is signal.SIG_DFL:
        del heard[signal.SIGINT]
    for number in heard:
        signal.signal(number, note)
    try:
        yield came
    finally:
        for number, handler in heard.items():
            # Asked to end, the command is about to: a second time must not change its exit code.
            ends = bool(came) and number != signal.SIGINT
            signal.signal(number, signal.SIG_IGN if ends else handler)


def _code_of_signal(came: list[int]) -> int:
    """As a shell has it: 128 and the number of the signal that came first."""
    return int(ExitCode(128 + came[0])) if came else int(ExitCode.INTERRUPTED)


def _interrupted(came: list[int]) -> int:
    say("interrupted", err=True)
    return _code_of_signal(came)


def _internal(error: Exception) -> int:
    """A bug of ours, as the user sees it."""
    if os.environ.get("GRADCHECK_DEBUG"):
        raise error
    text = f"internal error: {type(error).__name__}: {error}"
    say(f"{text}\nGRADCHECK_DEBUG=1 shows the traceback", err=True)
    return int(ExitCode.INTERNAL)


def _invoke(arguments: list[str]) -> int:
    # Not `app.main`: that has its own ideas about Ctrl-C and closed pipes.
    if asked := os.environ.get("_GRADCHECK_COMPLETE"):
        from gradcheck.cli.completion import answer

        return answer(app, asked)
    try:
        with app.make_context("gradcheck", arguments) as context:
            code = app.invoke(context)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    return int(code or ExitCode.OK)


def _flush_or_forget() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _forget_stdout()


def _forget_stdout() -> None:
    """Let what is still to be flushed when Python ends go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
