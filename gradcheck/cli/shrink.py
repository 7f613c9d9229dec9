"""`gradcheck shrink`: a failing case as small as it can be."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from gradcheck.cli import options
from gradcheck.cli.new_files import write_new
from gradcheck.cli.say import say, say_progress
from gradcheck.errors import ExitCode, SpecError, UsageError


@click.command(name="shrink")
@click.argument("case")
@click.option("--output", metavar="FILE", help="Write it to a new file, and not to the screen.")
@options.allow
def command(case: str, output: str | None, allow: tuple[str, ...]) -> int:
    """Make a failing case as small as it can be.

    CASE is the id of one, as reports have it, or a spec with a single case. Tried are: eagerly and
    by the tape, double precision, fewer arguments, fewer axes and elements, fewer inputs that are
    differentiated, rounder numbers. The verdict and its cause stay the same.

    \b
    Examples:
      gradcheck shrink "specs/linalg.yaml::det[complex128]"
      gradcheck shrink failing.yaml --output small.yaml

    The exit code is 0 when there is a smaller spec or none smaller, 2 when the case does not fail.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.run import in_a_command, warm_up

    if output is not None and Path(output).exists():
        raise UsageError(f"{output} is there already: it is not overwritten; name another --output")
    click.get_current_context().with_resource(in_a_command())
    warm_up()

    from gradcheck.hunter.single_case import shrink_case
    from gradcheck.spec import load
    from gradcheck.spec.settings import read_settings
    from gradcheck.start.spec_text import case_lines

    settings = read_settings(Path.cwd(), allow=allow)
    loaded = load([case], allow=settings.allow)
    if loaded.problems:
        raise SpecError(loaded.problems)
    if len(loaded.cases) != 1:
        names = "\n".join(f"  {each.id}" for each in loaded.cases[:10])
        raise UsageError(f"{case} has {len(loaded.cases)} cases: name one of them\n{names}")
    live = sys.stderr.isatty()

    def progress(text: str) -> None:
        if live:
            say_progress(text)
        else:
            say(text, err=True)

    (one,) = loaded.cases
    draft, result = shrink_case(
        one, allow=settings.allow, root=str(settings.root), progress=progress
    )
    if live:
        say_progress("")
    told = result.diagnosis.text if result.diagnosis else " ".join(result.message.split())[:200]
    lines = [f"# Shrunk from {one.id}: {result.verdict}{f', {told}' if told else ''}"]
    # (An expectation has a reason.)
    reason = one.reason or told or result.meaning
    small = {**draft, "expect": result.verdict.value, "reason": reason}
    text = "\n".join([*lines, *case_lines(small)]) + "\n"
    if output is None:
        say(text.rstrip("\n"))
    elif write_new(Path(output), text):
        say(f"wrote {output}", err=True)
    return ExitCode.OK
