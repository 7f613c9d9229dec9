"""Arguments and options that several commands have, each said once."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from gradcheck.errors import UsageError
from gradcheck.report import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from click.shell_completion import CompletionItem

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class WholeNumber(click.IntRange):
    """A whole number; what is none is told so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; ends the command where it is none."""
        try:
            int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        number: int = super().convert(value, param, ctx)
        return number


def _files(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """For a shell: what may come here is a file."""
    from click.shell_completion import CompletionItem

    del context, parameter
    return [CompletionItem(incomplete, type="file")]


paths = click.argument("paths", metavar="[PATH]...", nargs=-1, shell_complete=_files)
"""Spec files, folders of them, cases; `default_paths` where there is none."""

select = click.option(
    "-k",
    "expression",
    metavar="EXPR",
    default="",
    help="Take the cases whose id or tags match: parts of names with and, or, not and parentheses.",
)

tags = click.option(
    "--tags",
    metavar="TAG",
    multiple=True,
    help="Take the cases that have this very tag; may be repeated, and any of them will do.",
)

allow = click.option(
    "--allow",
    metavar="PACKAGE",
    multiple=True,
    help="Let specs run functions and layers of this Python package; may be repeated. "
    "`allow` under [tool.gradcheck] in pyproject.toml does the same.",
)

max_cases = click.option(
    "--max-cases",
    metavar="N",
    type=WholeNumber(min=1),
    help="How many cases the specs may expand to. Default: 200000, or `max_cases` under "
    "[tool.gradcheck] in pyproject.toml.",
)

jobs = click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=WholeNumber(min=1),
    help="How many worker processes. Default: one per processor.",
)

modes = click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice(["eager", "graph", "xla", "all"]),
    help="Run every case in this mode, whatever its spec says; may be repeated.",
)

checks = click.option(
    "--check",
    "checks",
    multiple=True,
    type=click.Choice(["reverse", "forward", "second", "jacobian", "all"]),
    help="Check this derivative of every case, whatever its spec says; may be repeated.",
)

outputs = click.option(
    "--output",
    "outputs",
    metavar="FILE",
    multiple=True,
    help="Write a report to a file; may be repeated. The files belong to the last "
    "formats given, in their order; the format left over goes to the screen.",
)

baselines = click.option(
    "--baseline",
    "baselines",
    metavar="FILE",
    multiple=True,
    help="A JSON report of an earlier run: html, markdown and github reports say what changed "
    "since. May be repeated, the oldest first: all of them are the history on an html page.",
)

junitxml = click.option(
    "--junitxml", metavar="FILE", help="Short for --format junit --output FILE."
)


def formats(default: str, choices: Sequence[str] = tuple(FORMATS)) -> Decorator:
    """`--format`, with what is meant where it is not given."""
    return click.option(
        "--format",
        "formats",
        multiple=True,
        type=click.Choice(list(choices)),
        help=f"How to report; may be repeated. Default: {default}.",
    )


def for_people() -> bool:
    """Whether what is printed is for eyes: on a terminal, or where colours are asked for.

    Without it `test_forced_colours_are_there_in_a_pipe` fails.
    """
    if os.environ.get("FORCE_COLOR") and not os.environ.get("NO_COLOR"):
        return True
    return sys.stdout.isatty()


def default_paths(command: str = "run") -> tuple[str, ...]:
    """What is meant when no path is given, here and in the project's settings."""
    if os.path.isdir("specs"):  # noqa: PTH112  (the name is shown as it is)
        return ("specs",)
    raise UsageError(
        "there is nothing to check: no PATH is given, there is no folder specs/ here, and no "
        "`specs` under [tool.gradcheck] in pyproject.toml\n"
        "  gradcheck init                      looks at your package and writes specs for it\n"
        "  gradcheck new mypackage:function    writes one spec\n"
        f"  gradcheck {command + ' my/specs':<26}takes a file or a folder of them"
    )


def nothing_selected(
    expression: str, available: int, shard: str | None = None, tags: Collection[str] = ()
) -> str:
    """Why there is nothing to do."""
    if not available:
        return "nothing to run: there are no cases"
    if shard is not None:
        return f"nothing selected: shard {shard} is empty"
    asked = [f"-k {expression!r}"] if expression or not tags else []
    asked += [f"--tags {' --tags '.join(tags)}"] if tags else []
    return f"nothing selected: {' with '.join(asked)} matches none of the {available} cases"
