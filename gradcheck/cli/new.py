"""`gradcheck new`: one spec for one function, with shapes that were tried."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gradcheck.cli import options
from gradcheck.cli.new_files import write_new
from gradcheck.cli.say import say
from gradcheck.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from gradcheck.start.named_target import Named

LONGEST_SEARCH = 120.0
"""Seconds for which shapes are looked for, for one function."""


@click.command(name="new")
@click.argument("function")
@click.option("--output", metavar="FILE", help="Write it to a new file, and not to the screen.")
@options.allow
def command(function: str, output: str | None, allow: tuple[str, ...]) -> int:
    """Write a spec for one function, layer or loss.

    FUNCTION is package.module:name for your own, a name of TensorFlow or Keras, or an op that
    `gradcheck ops` lists. Shapes are found by calling it in a worker process: of your own code,
    that imports the module. A file that is there is never overwritten.

    \b
    Examples:
      gradcheck new mypackage.layers:swish
      gradcheck new keras.layers.Dense --output specs/dense.yaml
      gradcheck new tf.linalg.matmul
      gradcheck new matmul

    The exit code is 0 when the spec runs, 1 when no shape was found that works (it is written all
    the same, with the reason), 2 for wrong usage.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.run import in_a_command, warm_up

    if output is not None:
        _must_be_new(Path(output))
    click.get_current_context().with_resource(in_a_command())
    warm_up()

    from gradcheck.spec.settings import read_settings
    from gradcheck.start.named_target import find_named, is_user_code
    from gradcheck.start.spec_files import single_spec
    from gradcheck.start.trial import try_all

    settings = read_settings(Path.cwd(), allow=allow)
    root = str(settings.root)
    if is_user_code(function):
        module = function.partition(":")[0]
        say(f"note: {module} is imported in a worker process, which runs its code", err=True)
    named = find_named(function, allow=settings.allow, root=root)
    (tried,) = try_all(
        [(named.found, named.key)],
        allow=named.allow,
        root=root,
        until=time.monotonic() + LONGEST_SEARCH,
    )
    text = single_spec(tried)
    if output is None:
        say(text.rstrip("\n"))
    else:
        if not write_new(Path(output), text):
            _must_be_new(Path(output))
        say(f"wrote {output}", err=True)
    if not tried.works:
        say(f"it does not run yet: {tried.reason}", err=True)
        return ExitCode.FAILED
    say(_next(named, output, settings.allow), err=True)
    return ExitCode.OK


def _next(named: Named, output: str | None, allowed: tuple[str, ...]) -> str:
    """What to type next."""
    more = [package for package in named.allow if package not in allowed]
    options_ = "".join(f" --allow {package}" for package in more)
    if output is None:
        return (
            f"next: put it into a file, as in specs/mine.yaml, and gradcheck run specs/{options_}"
        )
    return f"next: gradcheck run {output}{options_}"


def _must_be_new(path: Path) -> None:
    if path.exists():
        raise UsageError(f"{path} is there already: it is not overwritten; name another --output")
