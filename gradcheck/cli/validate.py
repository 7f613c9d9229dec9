"""`gradcheck validate`: what is wrong in specs, without TensorFlow."""

from __future__ import annotations

from pathlib import Path

import click

from gradcheck.cli import options
from gradcheck.errors import ExitCode


@click.command(name="validate")
@options.paths
@options.allow
def command(paths: tuple[str, ...], allow: tuple[str, ...]) -> int:
    """Find what is wrong in specs, without running them.

    A PATH is a spec file or a folder of them. Without one it is specs/.

    \b
    Examples:
      gradcheck validate specs/
      gradcheck validate specs/linalg.yaml

    The exit code is 0 when the specs are right and 2 when they are not.
    """  # noqa: D301  (click reads the \b)
    from gradcheck.spec import load
    from gradcheck.spec.settings import read_settings

    settings = read_settings(Path.cwd())
    loaded = load(paths or options.default_paths(), allow=(*settings.allow, *allow))
    for problem in loaded.problems:
        click.echo(f"{problem}\n")
    files = {case.path for case in loaded.cases}
    files |= {problem.location.path for problem in loaded.problems}
    counts = [
        _count(len(files), "file"),
        _count(len(loaded.cases), "case"),
        _count(len(loaded.problems), "problem"),
    ]
    click.echo(", ".join(counts))
    return ExitCode.USAGE if loaded.problems else ExitCode.OK


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
